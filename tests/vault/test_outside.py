"""Text from outside within a note: what is, where it is from, and that it can be left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from infold.catalogue.passages import cut
from infold.knowledge.source_notes import inbox_text
from infold.knowledge.sources.records import SourceRecord, SourceVersion
from infold.librarian.answers import Chunk, EditRequest, OpenNote, Paragraph
from infold.librarian.edit_answers import Edits
from infold.settings import EditingParams
from infold.vault.note import parse
from infold.vault.outside import LEFT_OUT, outside_mark, outside_marks, outside_texts, without_outside

MARK = outside_mark("https://site.example/a_(b)", "2026-01-02")
NOTE = f"# Own\r\n\r\nMine.\r\n\r\nTheirs,\r\ntwo lines. {MARK}\r\n\r\nMine too.\r\n"


def test_a_paragraph_says_where_it_is_from():
    """All of it is from outside, up to the blank lines; an address keeps no sign that would end the mark."""
    (found,) = outside_texts(NOTE)
    assert NOTE[found.start : found.end] == f"Theirs,\r\ntwo lines. {MARK}"
    assert found.url == "https://site.example/a_%28b%29"
    left = without_outside(NOTE)
    assert left.count("\n") == NOTE.count("\n")
    assert LEFT_OUT in left
    assert "Theirs" not in left
    assert left.index("Mine too") > left.index(LEFT_OUT) > left.index("Mine.")


def test_no_passage_holds_text_from_outside_and_ones_own():
    """The lines of a note are cut where the one begins and the other ends; none is lost."""
    passages = cut(parse("own.md", NOTE))
    assert [len(outside_marks(passage.text)) for passage in passages] == [0, 1, 0]
    assert "".join("".join(passage.text.split()) for passage in passages) == "".join(NOTE.split())


@given(st.lists(st.sampled_from(["own", "theirs " + MARK, "", "# H", "- a\n- b " + MARK, " "]), max_size=8))
def test_what_is_left_out_is_gone_and_the_rest_stays(parts):
    """Of any note: no mark is left, no line is lost, and a note without any is as it was."""
    text = "\n\n".join(parts)
    left = without_outside(text)
    assert not outside_marks(left)
    assert left.count("\n") == text.count("\n")
    assert left.count("own") == text.count("own")
    assert outside_marks(text) or left == text


def test_every_part_of_a_source_is_marked_for_the_inbox():
    """Paragraphs, lists, tables and code; a heading goes before its text, because alone it would lose its label."""
    record = SourceRecord(
        url="https://site.example/p",
        final_url="https://site.example/p",
        title="P",
        kind="html",
        checked="2026-01-02T00:00:00+00:00",
        versions=(SourceVersion("0" * 64, "2026-01-02T00:00:00+00:00"),),
    )
    text = "# Title\n\n## Part\n\nOne.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n\ny = 2\n```\n\n# Last\n"
    parts = inbox_text(text, record).split("\n\n")
    assert parts[0].startswith("Title Part: One. (from outside, ")
    assert len(outside_texts("\n\n".join(parts))) == len(parts) == 4
    assert parts[1].endswith(" |")
    assert "x = 1\ny = 2" in parts[2]


def test_edits_that_drop_the_label_are_refused():
    """Whoever decides: a paragraph from outside goes on saying so in the note it is folded into."""
    paragraph = Paragraph(1, f"The zeppelin needs helium every winter. {MARK}")
    note = OpenNote("z.md", "# Z\n\nMy model.\n")
    request = EditRequest(Chunk(1, (paragraph,)), (note,), EditingParams())
    said = {"file": "z.md", "find": "My model."}

    def edits(text: str) -> Edits:
        given = {"edits": [{**said, "replace": f"My model.\n\n{text}", "paragraphs": [1]}]}
        return Edits.model_validate(given, context={"request": request})

    assert edits(paragraph.text).edits
    without = f"The zeppelin needs helium every winter, from outside, {MARK[15:-13]} 2026 01 02."
    with pytest.raises(ValidationError, match="must go on ending with"):
        edits(without)
