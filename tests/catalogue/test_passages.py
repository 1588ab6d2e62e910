"""Cutting notes into passages: spec 3's strategy, and that nothing of a note is out of search's reach."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.catalogue.passages import (
    _SENTENCE_ENDINGS,
    _SENTENCE_ENDS,
    Passage,
    cut,
    indexed_text,
    written_title,
)
from infold.text import content_hash, token_count, without_runs
from infold.vault.note import Note, parse

LINE_END = re.compile(r"\r\n|\r|\n")


def lines_of(text: str) -> list[str]:
    return LINE_END.split(text)


def check_rules(note: Note, passages: list[Passage], max_tokens: int) -> None:
    """What holds for every note: the limit, exact ranges, order, and no body line left out but data."""
    lines = lines_of(note.text)
    covered: set[int] = set()
    for passage in passages:
        assert token_count(passage.text) <= max_tokens
        assert passage.text in note.text
        assert passage.text.strip()
        assert passage.text_hash == content_hash(passage.text)
        own = lines_of(passage.text)
        there = lines[passage.start_line - 1 : passage.end_line]
        assert len(own) == len(there)
        assert own[0] in there[0]
        assert own[-1] in there[-1]
        assert own[1:-1] == there[1:-1]
        covered.update(range(passage.start_line, passage.end_line + 1))
    front_end = note.front_matter.end if note.front_matter else 0
    body_from = len(lines_of(note.text[:front_end])) if front_end else 1
    body = {
        number
        for number, line in enumerate(lines, 1)
        if without_runs(line).strip("\ufeff \t\x0b\x0c") and number > body_from
    }
    assert body <= covered
    assert [p.start_line for p in passages] == sorted(p.start_line for p in passages)


word = st.text("abcdefghij ABC.!?é検索。", min_size=1, max_size=40)
paragraph = st.lists(word, min_size=1, max_size=12).map(" ".join)
block = st.one_of(
    paragraph,
    st.builds(lambda n, t: f"{'#' * n} {t.strip() or 'x'}", st.integers(1, 4), word),
    st.lists(word, min_size=1, max_size=8).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(word, min_size=1, max_size=8).map(lambda items: "```\n" + "\n".join(items) + "\n```"),
    st.lists(word, min_size=1, max_size=5).map(lambda rows: "| a |\n|---|\n" + "\n".join(f"| {r} |" for r in rows)),
    st.text("xyz", min_size=200, max_size=400),
)
front = st.sampled_from(["", "---\ntitle: T\n---\n", "---\ntags: [a]\n---\n\n"])
end = st.sampled_from(["\n", "\r\n"])


@given(front, st.lists(block, max_size=12), end, st.integers(16, 120), st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_every_line_is_in_a_passage_and_none_is_too_long(
    front: str, blocks: list[str], end: str, max_tokens: int, overlap: int
):
    """Whatever a note holds, its passages keep the limit, name their lines exactly, and leave no body line out."""
    text = (front + "\n\n".join(blocks)).replace("\n", end)
    note = parse("note.md", text)
    check_rules(note, cut(note, max_tokens, overlap), max_tokens)


def test_rules_hold_on_real_notes(shared_data: Path):
    """The same on every note of the public vaults, as spec 3 sets the limits and much tighter."""
    for file in sorted((shared_data / "vaults").rglob("*.md"))[::7]:
        note = parse(file.name, file.read_bytes().decode())
        check_rules(note, cut(note), 400)
        check_rules(note, cut(note, 60, 15), 60)


def test_sections_are_never_mixed():
    """A first or second level heading begins a passage; a third level one does not."""
    note = parse("n.md", "Before.\n\n# One\n\nFirst.\n\n### Deep\n\nMore.\n\n## Two\n\nSecond.\n")
    assert [(p.start_line, p.end_line, p.trail) for p in cut(note)] == [
        (1, 1, ()),
        (3, 9, ("One",)),
        (11, 13, ("One", "Two")),
    ]


def test_headings_without_text_go_with_what_follows():
    """A title directly above a section is no passage of its own."""
    note = parse("n.md", "# Title\n\n## Section\n\nText.\n")
    (passage,) = cut(note)
    assert (passage.start_line, passage.end_line, passage.trail) == (1, 5, ("Title", "Section"))


def test_front_matter_is_no_passage():
    """A note of front matter alone has no passage, and none holds its lines."""
    assert cut(parse("n.md", "---\ntitle: A\n---\n")) == []
    (passage,) = cut(parse("n.md", "---\ntitle: A\n---\nBody.\n"))
    assert (passage.text, passage.start_line) == ("Body.", 4)


def test_code_stays_whole_where_it_fits():
    """A block of code that fits in a passage is never cut, whatever stands around it."""
    code = "```python\n" + "\n".join(f"line_{n} = {n}" for n in range(20)) + "\n```"
    prose = " ".join(f"Sentence number {n} of the paragraph." for n in range(30))
    note = parse("n.md", f"# T\n\n{prose}\n\n{code}\n\n{prose}\n")
    assert any(code in passage.text for passage in cut(note, 120, 20))


def test_consecutive_passages_overlap_at_a_sentence():
    """A passage takes up the last sentences of the one before it, within the overlap."""
    prose = " ".join(f"This is sentence number {n:03d}." for n in range(200))
    passages = cut(parse("n.md", prose), 100, 20)
    for before, after in itertools.pairwise(passages):
        shared = max(n for n in range(1, 81) if before.text.endswith(after.text[:n]))
        assert 40 <= shared <= 80
        assert after.text.startswith("This is")


@given(st.text(alphabet="ab.!?…。！？\"'”’)]*_ \n\u3000", max_size=60))
def test_sentences_end_alike_however_they_are_looked_for(text: str):
    """The quick form of the pattern finds the ends that the plain one finds, from any place on."""
    for start in range(len(text)):
        if not text[start].isspace():
            plain = [match.end() for match in _SENTENCE_ENDS.finditer(text, start) if match.end() > start]
            quick = [match.end() for match in _SENTENCE_ENDINGS.finditer(text, max(0, start - 1))]
            assert [end for end in quick if end > start] == plain


def test_a_line_without_a_break_is_cut_by_characters():
    """One monstrous line is cut anywhere, whole in sum."""
    line = "".join(chr(0x4E00 + n % 2600) for n in range(10_000))
    passages = cut(parse("n.md", line), 100, 20)
    assert all(len(p.text) <= 400 for p in passages)
    assert passages[0].text == line[:320] or passages[0].text == line[:400]
    assert passages[-1].text == line[-len(passages[-1].text) :]


def test_a_heading_stays_with_the_text_below_it():
    """No passage ends with a heading whose text begins the next one."""
    part = "Words of a paragraph that is long enough to matter here. " * 3
    note = parse("n.md", "# T\n\n" + "\n\n".join(f"### Head {n}\n\n{part}" for n in range(20)))
    for passage in cut(note, 100, 0):
        assert not passage.text.splitlines()[-1].startswith("#")


@pytest.mark.parametrize(
    "title, expected",
    [
        ("Note", "Note > Section\ntext"),
        ("Top", "Top > Section\ntext"),
        ("", "Top > Section\ntext"),
    ],
)
def test_indexed_text_names_the_title_once(title: str, expected: str):
    """Title, then headings, then text; a first heading that is the title is not said twice."""
    trail = ("Top", "Section") if title != "Note" else ("Section",)
    assert indexed_text(Passage("n.md", 1, 1, trail, "text", ""), title) == expected


def test_a_title_from_the_file_name_is_not_written():
    """Only a title that the text gives belongs to the content: a renamed note keeps its vectors."""
    assert written_title(parse("Name.md", "Text.")) == ""
    assert written_title(parse("Name.md", "# Head\n\nText.")) == "Head"
    assert written_title(parse("Name.md", "---\ntitle: Front\n---\nText.")) == "Front"


def test_many_headings_are_cut_in_little_time():
    """Fifty thousand headings are no attack: the work grows with the note, not with its square."""
    note = parse("n.md", "\n\n".join(f"## H{n}\n\ntext {n}" for n in range(5_000)))
    assert len(cut(note, max_passages=10_000)) == 5_000


def test_a_table_of_contents_is_cut_where_passages_are_full():
    """Headings below each other without text fill their passages: a heading waits for its text only where it has one."""
    text = "".join(f"### Chapter {n} of a long book\n\n" for n in range(1_000))
    passages = cut(parse("n.md", text))
    assert len(passages) <= 1.5 * len(text) / (320 * 4)
    lines = {line for passage in passages for line in range(passage.start_line, passage.end_line + 1)}
    assert lines.issuperset(range(1, 2_000, 2))


def test_a_single_windows_line_end_is_no_blank_line():
    """A note with CRLF is cut between its paragraphs, as any other."""
    paragraphs = ["\r\n".join(f"Line {n} of paragraph {p}." for n in range(6)) for p in range(12)]
    note = parse("a.md", "# T\r\n\r\n" + "\r\n\r\n".join(paragraphs) + "\r\n")
    starts = [passage.start_line for passage in cut(note, 100, 0)]
    assert len(starts) > 3
    assert all(line == 1 or (line - 3) % 7 == 0 for line in starts)
