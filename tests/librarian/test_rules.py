"""The rules of a chunk's edits: everything wrong is said at once, in words a model can act on."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from infold.librarian.answers import Chunk, EditRequest, OpenNote, Paragraph
from infold.librarian.edit_answers import Edits
from infold.settings import EditingParams

BREAD = OpenNote("food/bread.md", "# Bread\n\nRye is done at ninety-eight degrees.\n\n- Link B\n- Link C\n")
TYRES = OpenNote("tyres.md", "# Tyres\n\n| kind | months |\n|---|---|\n| old | 3 |\n")
COOLING = Paragraph(4, "Rye cools for a whole day before the first slice.")
DONE = Paragraph(7, "Rye bread is done at ninety-eight degrees inside.")
AFTER_RYE = {
    "file": "food/bread.md",
    "find": "ninety-eight degrees.",
    "replace": f"ninety-eight degrees.\n\n{COOLING.text}",
    "paragraphs": [4],
}
MARKER = {"file": "food/bread.md", "find": "Rye is done at ninety-eight", "is_duplicate": True, "paragraphs": [7]}


def answer(*edits, left=(), paragraphs=(COOLING, DONE), **params) -> Edits:
    request = EditRequest(Chunk(1, tuple(paragraphs)), (BREAD, TYRES), EditingParams(**params))
    return Edits.model_validate({"edits": edits, "left": left}, context={"request": request})


def problem(*edits, **options) -> str:
    with pytest.raises(ValidationError) as caught:
        answer(*edits, **options)
    return str(caught.value)


def test_an_edit_and_a_duplicate_marker_pass():
    """A paragraph added, another covered by a quote: fine."""
    assert len(answer(AFTER_RYE, MARKER).edits) == 2


@pytest.mark.parametrize(
    "named", ["bread.md", "bread", "food/bread", "[[food/bread.md]]", "./food/bread.md", "Bread.md"]
)
def test_a_short_path_is_completed_in_silence(named):
    """A bare file name that only one checked-out note has, or a missing .md, is no reason to ask again."""
    assert answer({**AFTER_RYE, "file": named}, MARKER).edits[0].file == "food/bread.md"


def test_everything_wrong_is_said_at_once():
    """One message holds every problem, with edit number and file."""
    said = problem(
        {"file": "other.md", "find": "x", "replace": "y"},
        {"file": "bread", "find": "- Link", "replace": "- Link"},
        {"file": "tyres.md", "find": "| old | 4 |", "replace": "x", "paragraphs": [9]},
        {"file": "tyres.md", "find": "# Tyres"},
        left=[{"paragraph": 7, "reason": ""}, {"paragraph": 5, "reason": "why"}],
    )
    for part in (
        "edit 1 (other.md): is not CHECKED OUT; checked out: food/bread.md, tyres.md",
        "edit 2 (food/bread.md): the find text “- Link” stands in the note 2 times, at lines 5, 6",
        "edit 3 (tyres.md): the find text “| old | 4 |” stands nowhere in the note; nearest: line 5",
        "edit 3 (tyres.md): there is no paragraph 9; this chunk has paragraphs 4, 7",
        "edit 4 (tyres.md): has no `replace`",
        "left: there is no paragraph 5",
        "left: paragraph 7 has no reason",
    ):
        assert part in said


def test_each_paragraph_must_end_somewhere():
    """A paragraph in no edit, no marker and not left is named."""
    assert "in no edit: paragraph 7" in problem(AFTER_RYE)
    assert answer(AFTER_RYE, left=[{"paragraph": 7, "reason": "fits none"}]).left[0].paragraph == 7


def test_a_paragraph_ends_in_one_way_only():
    """In an edit and left out: one of the two is wrong."""
    assert "paragraph 4 is both" in problem(AFTER_RYE, MARKER, left=[{"paragraph": 4, "reason": "no"}])


def test_an_edit_that_names_no_paragraphs_takes_care_of_all():
    """The plain form of spec 1 has no paragraph numbers."""
    edit = {**AFTER_RYE, "replace": f"{AFTER_RYE['replace']}\n\n{DONE.text}"}
    edit.pop("paragraphs")
    assert len(answer(edit).edits) == 1


def test_the_words_of_a_paragraph_must_really_be_added():
    """An edit that drops most of what it claims to place is refused, with the missing words."""
    thin = {**AFTER_RYE, "replace": "ninety-eight degrees. Rye cools."}
    said = problem(thin, MARKER)
    assert "paragraph 4: only 2 of its 10 words stand in what edit 1 adds" in said
    assert "whole, day" in said


def test_words_that_stood_there_before_are_not_added():
    """Quoting the anchor again does not count as placing the paragraph."""
    same = {**MARKER, "is_duplicate": False, "replace": "Rye is done at ninety-eight!"}
    left = [{"paragraph": 4, "reason": "no"}]
    assert "paragraph 7: only 0 of its 8 words" in problem(same, left=left)


def test_a_paragraph_may_be_spread_over_two_notes():
    """What two edits add together counts."""
    first = {**AFTER_RYE, "replace": "ninety-eight degrees.\n\nRye cools for a"}
    second = {"file": "tyres.md", "find": "# Tyres", "replace": "# Tyres\n\nwhole day before", "paragraphs": [4]}
    answer(first, second, MARKER)


def test_a_duplicate_marker_must_quote_text_that_covers():
    """A quote that shares no words is no cover."""
    assert "does not cover it" in problem(AFTER_RYE, {**MARKER, "find": "- Link B"})


def test_an_edit_that_changes_nothing_is_refused():
    """Replace equal to find, and not called a duplicate: said so."""
    assert "changes nothing" in problem({**AFTER_RYE, "replace": " ninety-eight\ndegrees. "}, MARKER)


def test_taking_words_away_is_refused_unless_another_edit_has_them():
    """The guard counts over all edits of the chunk and names the words."""
    gone = {
        "file": "food/bread.md",
        "find": "Rye is done at ninety-eight degrees.",
        "replace": COOLING.text,
        "paragraphs": [4],
    }
    marker = {"file": "tyres.md", "find": "# Tyres", "replace": f"# Tyres\n\n{DONE.text}", "paragraphs": [7]}
    assert "takes 5 words away" in problem(gone, left=[{"paragraph": 7, "reason": "no"}])
    answer(gone, marker)


def test_overlapping_edits_are_refused():
    """Two edits of one stretch: the second is named."""
    second = {**AFTER_RYE, "find": "degrees.", "replace": f"degrees. {DONE.text}", "paragraphs": [7]}
    assert "edit 2 (food/bread.md): overlaps edit 1 at line 3" in problem(AFTER_RYE, second)


def test_a_broken_table_names_the_edit_that_breaks_it():
    """Protected spans are checked per note; the edit at fault is named."""
    bad = {"file": "tyres.md", "find": "|---|---|", "replace": f"|---|---|\n\n{DONE.text}\n", "paragraphs": [7]}
    assert "edit 2 (tyres.md): the edit breaks the table at line 3" in problem(AFTER_RYE, bad)


def test_a_replace_beside_a_duplicate_marker_is_ignored():
    """A marker changes nothing, whatever else it carries."""
    assert answer(AFTER_RYE, {**MARKER, "replace": "x"}).edits[1].replace is None


def test_a_sentence_may_be_condensed_to_an_item():
    """The specification's example: the list takes "Link C" of the sentence; below the least share it is asked again."""
    known = OpenNote("links.md", "# Links\n\n- Link A\n- Link B\n")
    said = Paragraph(1, "Link C is another link.")
    proposed = {"edits": [{"file": "links.md", "find": "- Link B", "replace": "- Link B\n- Link C"}]}

    def judged(**params: float) -> Edits:
        request = EditRequest(Chunk(1, (said,)), (known,), EditingParams.model_validate(params))
        return Edits.model_validate(proposed, context={"request": request})

    assert len(judged().edits) == 1
    with pytest.raises(ValidationError, match="paragraph 1"):
        judged(min_kept_share=0.9)
