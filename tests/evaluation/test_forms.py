"""Short jottings, items and lists that are cut out, and whether the structure of a note came through."""

from __future__ import annotations

import random

from infold.evaluation.cases import Case, LeftOutParagraph, Sizes, make_case
from infold.evaluation.forms import draw_forms, forms_of, without
from infold.evaluation.judging import CaseOutcome, broken_structure
from infold.inbox.paragraphs import number_paragraphs
from infold.inbox.run import Run, RunStatus
from infold.vault.note import parse

LONG = (
    "The oven keeps its heat for hours after the fire went out, which is why the bread of the afternoon is baked "
    "without any flame at all, on stones that were heated since the early morning."
)
TEXT = f"""# Oven

{LONG}

A short remark on stones and fire.

What it takes to heat it:

- wood that dried for two years
- patience of half a day
- a chimney that draws well
- [[link]]

{LONG.replace("bread", "cake")}

{LONG.replace("bread", "tart").replace("stones", "bricks")}

* stones of granite, never of sandstone
* a door made of iron plates
* a broom that was soaked before
"""


def test_what_can_be_cut_besides_prose():
    """A short paragraph, each item of a bulleted list with words of its own, a lead-in with its whole list."""
    found = [(form.kind, TEXT[form.start : form.end].split()[0:3]) for form in forms_of(parse("a.md", TEXT))]
    assert ("short", ["A", "short", "remark"]) in found
    assert ("list", ["What", "it", "takes"]) in found
    assert ("item", ["*", "a", "door"]) in found
    assert not any("[[link]]" in words for _, words in found)
    for form in forms_of(parse("a.md", TEXT)):
        assert len(number_paragraphs(TEXT[form.start : form.end])) == 1


def test_a_cut_leaves_the_rest_as_it_reads():
    """The blocks around a cut stay the blocks they were: no paragraph runs into another."""
    before = parse("a.md", TEXT)
    for form in forms_of(before):
        rest = parse("a.md", without(TEXT, form.start, form.end))
        staying = [before.block_text(b) for b in before.blocks if not (form.start <= b.start and b.end <= form.end)]
        assert [rest.block_text(block) for block in rest.blocks] == staying


def test_a_case_knows_the_place_of_each_cut():
    """As the number of blocks above it in what is left, for prose, items and lists alike; copies have none."""
    notes = {f"{n}.md": parse(f"{n}.md", TEXT.replace("oven", f"oven {n}")) for n in range(30)}
    case = make_case("v", notes, 0, Sizes.of(8))
    assert {item.kind for item in case.inbox} >= {"cut", "short", "item", "list"}
    assert len(number_paragraphs(case.inbox_text)) == len(case.inbox)
    for item in case.inbox:
        assert (item.gap is None) == (item.kind in ("copy", "reworded"))
        if item.gap is not None:
            left = parse(item.path, case.notes[item.path])
            above = left.blocks[item.gap - 1]
            assert left.block_text(above) in notes[item.path].text.split(item.text)[0]


def test_forms_are_drawn_from_different_notes_and_lists_come_last():
    """Equal for equal seeds; what follows a list in an inbox would become part of it."""
    notes = {f"{n}.md": parse(f"{n}.md", TEXT) for n in range(9)}
    one, other = (draw_forms(notes, random.Random(3), 2) for _ in range(2))
    assert one == other
    assert [form.kind for form in one] == ["short", "short", "item", "item", "list", "list"]
    assert len({form.path for form in one}) == 6


def test_a_parted_list_is_seen_whoever_parted_it():
    """From the notes before and after alone; the same change read kindly is none."""
    run = Run(id="", status=RunStatus.APPLIED, vault="v", inbox="inbox.md", created_at="", librarian="x")
    case = Case(
        "v", 0, {"a.md": "Start.\n\nLead:\n\n- a\n- b\n\nEnd.\n"}, frozenset(), (LeftOutParagraph("a.md", "x", ()),)
    )
    bad = CaseOutcome(run, {"a.md": "Start.\n\nLead:\n\n- a\n\nNew.\n\n- b\n\nEnd.\n"}, "")
    good = CaseOutcome(run, {"a.md": "Start.\n\nLead:\n\n- c\n\nLead:\n\n- a\n- b\n\nEnd.\n"}, "")
    assert broken_structure(case, bad) == ("a.md:6 parts a list",)
    assert broken_structure(case, good) == ()
