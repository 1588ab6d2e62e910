"""Verdicts on runs made by hand: where a paragraph ended, what was lost, what was damaged."""

from __future__ import annotations

import pytest

from infold.evaluation.cases import Case, LeftOutParagraph
from infold.evaluation.judging import CaseOutcome, damaged_notes, judge
from infold.inbox.run import ChunkRecord, EditRecord, ParagraphRecord, Run, RunStatus
from infold.settings import EditingParams

BEFORE = "# A\r\n\r\nFirst stays.\r\n\r\n## Deep\r\n\r\nLast stays.\r\n"
TEXT = "The pump hums at night,\r\nand nobody knows why."
HOME = LeftOutParagraph("a.md", TEXT, ("A", "Deep"))


def run_of(*records: ParagraphRecord, edits: tuple[EditRecord, ...] = ()) -> Run:
    chunk = ChunkRecord(
        id=1, paragraphs=tuple(r.n for r in records), viewed=("a.md",), checked_out=("a.md",), edits=edits
    )
    return Run(
        id="r", status=RunStatus.APPLIED, vault="v", inbox="inbox.md", created_at="", librarian="l",
        paragraphs=records, chunks=(chunk,),
    )  # fmt: skip


def record(outcome: str = "integrated", **more) -> ParagraphRecord:
    return ParagraphRecord(**{"n": 1, "text": TEXT, "outcome": outcome, "chunk": 1, "file": "a.md", **more})


def edit(find: str = "Last stays.", replace: str = "") -> EditRecord:
    return EditRecord(file="a.md", kind="edit", find=find, replace=replace, paragraphs=(1,), applied=True)


def judged(
    after: str, one: ParagraphRecord | None, item: LeftOutParagraph = HOME, inbox: str = "", notes=None, edits=()
):
    case = Case("v", 0, notes or {"a.md": BEFORE, "b.md": "# B\n"}, frozenset({"a.md"}), (item,))
    outcome = CaseOutcome(run_of(*([one] if one else []), edits=edits), {**case.notes, "a.md": after}, inbox)
    return judge(case, outcome, EditingParams(), [{}])[0], damaged_notes(case, outcome, EditingParams())


def test_back_under_its_own_heading_is_home():
    """Found through other line ends than the inbox had."""
    found, damage = judged(BEFORE + "\r\nThe pump hums at night,\nand nobody knows why.\r\n", record(), edits=(edit(),))
    assert (found.ending, found.landed, found.is_home, found.is_right) == ("home", ("A", "Deep"), True, True)
    assert (found.is_lost, damage) == (False, ())


def test_back_in_its_note_under_another_heading_is_half_home():
    """Home, but not under its own heading."""
    after = BEFORE.replace("First stays.", f"First stays.\r\n\r\n{TEXT}")
    found, _ = judged(after, record())
    assert (found.ending, found.landed, found.is_home, found.is_right) == ("other section", ("A",), True, False)


def test_a_paragraph_that_was_merged_in_other_words_is_found_and_not_lost():
    """A model may merge: the block that took up most of its words tells the section; enough of them must stand."""
    after = BEFORE.replace("Last stays.", "Last stays. At night the pump hums, and nobody knows.")
    found, damage = judged(after, record(), edits=(edit(replace="…"),))
    assert (found.ending, found.is_lost, damage) == ("home", False, ())
    found, _ = judged(BEFORE.replace("Last stays.", "Last stays. A pump."), record(), edits=(edit(replace="…"),))
    assert found.is_lost


@pytest.mark.parametrize(
    "one, inbox, ending, is_lost",
    [
        (record("left", file=None, reason="no"), TEXT, "left", False),
        (record("left", file=None, reason="no"), "", "left", True),
        (record(file="b.md"), "", "elsewhere", True),
        (record("duplicate", quote="First stays."), "", "false duplicate", False),
        (record("duplicate", quote="never said"), "", "false duplicate", True),
        (None, "", "missing", True),
    ],
)
def test_every_other_ending(one, inbox, ending, is_lost):
    """Left, elsewhere, taken for a duplicate, not named at all; lost where the text is in none of the three places."""
    found, _ = judged(BEFORE, one, inbox=inbox)
    assert (found.ending, found.is_lost) == (ending, is_lost)


@pytest.mark.parametrize(
    "after, is_lost",
    [
        ("- one\n- new\n- two\n- three\n", False),
        ("- one\n\n- two\n  - new\n- three\n", False),
        ("- one\n- three\n", True),
        ("- two\n- one\n- three\n", True),
        ("- one\n- twofold\n- three\n", True),
    ],
)
def test_a_quoted_list_that_others_joined_stands_still(after, is_lost):
    """Its lines are there in their order; one that is gone, or changed places, or says otherwise, is lost."""
    found, _ = judged(after, record("duplicate", quote="- one\n- two\n- three"))
    assert found.is_lost is is_lost


def test_what_another_note_says_word_for_word_is_a_repeat():
    """Marked as the duplicate of a note that does hold it: not false."""
    notes = {"a.md": BEFORE, "b.md": f"# B\n\n{TEXT}\n"}
    found, _ = judged(BEFORE, record("duplicate", file="b.md", quote=TEXT), notes=notes)
    assert (found.ending, found.is_lost) == ("repeat", False)


def test_a_recognised_copy_is_right():
    """For a copy, duplicate is the right end; anywhere else is a miss."""
    copy = LeftOutParagraph("a.md", TEXT, ("A", "Deep"), "copy")
    assert judged(BEFORE, record("duplicate", quote="First stays."), copy)[0].is_right
    assert not judged(BEFORE, record("left", file=None, reason="no"), copy, inbox=TEXT)[0].is_right


@pytest.mark.parametrize(
    "after, is_damaged",
    [
        (BEFORE, False),
        (BEFORE + "More.\r\n", False),
        (BEFORE.replace("First stays.\r\n\r\n", ""), True),
        (BEFORE.replace("\r\n", "\n"), True),
        (BEFORE.replace("First stays.", "First  stays."), True),
        (BEFORE.replace("Last stays.", "Last stays, and more."), False),
        ("## Deep\r\n\r\nLast stays.\r\n# A\r\n\r\nFirst stays.\r\n\r\n", True),
    ],
    ids=["same", "more", "line gone", "line ends", "spaces", "the line edited", "order"],
)
def test_damage_is_what_no_edit_spoke_of(after, is_damaged):
    """Lines gone, changed or moved, line ends included, unless an edit quoted that line; words are never gone."""
    assert bool(judged(after, record(), edits=(edit(),))[1]) == is_damaged


def test_words_that_an_edit_took_away_are_damage():
    """Even in the line that the edit quoted, where more go than an edit may take."""
    after = BEFORE.replace("First stays.", "")
    assert judged(after, record(), edits=(edit("First stays."),))[1] == ()
    long = BEFORE.replace("First stays.", "Five words stand here now.")
    case = Case("v", 0, {"a.md": long}, frozenset(), ())
    outcome = CaseOutcome(run_of(edits=(edit("Five words stand here now."),)), {"a.md": after}, "")
    assert damaged_notes(case, outcome, EditingParams()) == ("a.md",)
