"""What belongs together in a note."""

from __future__ import annotations

import pytest

from infold.errors import StructureBroken
from infold.vault.edits import plan_changes
from infold.vault.note import parse
from infold.vault.structure import beginning, check_structure, may_open, opens_note, restyled, style_of, touches

NOTE = """---
tags: [x]
---
# Bread

Rye is done at ninety-eight degrees.

What it needs:

- flour
- water
    - warm
- salt

How it goes:
1. Mix.
2. Wait.
3. Bake.

So it is called from a shell:

```
bake --rye
```

Prose that says what a call looks like.

```
bake --wheat
```

> [!tip] Ovens
> Each is another.
> Know yours.

- [[index]]
"""


def check(*edits: tuple[str, str], text: str = NOTE) -> None:
    check_structure(text, plan_changes(text, list(edits)))


@pytest.mark.parametrize("figure", ["![[pipeline.png]]", "![The pipeline](img/p.png)\n![[other]]", "$$\nx^2\n$$"])
def test_a_figure_stays_below_the_text_that_announces_it(figure):
    """Images, embeds and formulas of their own are led to like a list is; prose that only begins with one is not."""
    text = f"# Site\n\nIt is shown below:\n\n{figure}\n\nMore.\n"
    with pytest.raises(StructureBroken, match="parts the figure"):
        check(("shown below:", "shown below:\n\nPlugins run first."), text=text)
    check(("More.", "More.\n\nPlugins run first."), text=text)
    check(("shown below:", "shown below:\n\nPlugins run first."), text=text.replace(figure, f"{figure} and so on"))


@pytest.mark.parametrize(
    "find, replace, what",
    [
        ("What it needs:", "What it needs:\n\nAnd patience.", "parts the list"),
        ("- flour\n- water", "- flour\n\nGluten matters.\n\n- water", "parts a list"),
        ("- flour\n- water", "- flour\n* yeast\n- water", "parts a list"),
        ("- water", "- water\n\nIt is wet.\n", "splits the item"),
        ("1. Mix.", "1. Mix.\n- by hand", "parts the steps"),
        ("1. Mix.", "1. Mix.\n1. Weigh.\n2. Sieve.", "parts the steps"),
        ("How it goes:", "How it goes:\n\nSlowly.", "parts the list"),
        ("from a shell:", "from a shell:\n\nOr from a script.", "parts the code"),
        ("call looks like.", "call looks like.\n\nOr does not.", "parts the code"),
        ("> Each is another.", "> Each is another.\n\nSo are flours.\n", "splits the callout"),
        ("# Bread", "# Bread\n\nWheat is another matter.", "above the note's first sentence"),
        ("---\n# Bread", "---\nWheat.\n\n# Bread", "above the note's first sentence"),
        ("> Know yours.", "> Know yours.\n\n- wheat\nlike this", None),
        ("- flour", "- flour\n- wheat", None),
        ("- salt", "- salt\n\nGluten matters.", None),
        ("3. Bake.", "3. Bake.\n4. Cool.", None),
        ("2. Wait.", "2. Wait.\n   Really.", None),
        ("> Know yours.", "> Know yours.\n> Trust none.", None),
        ("# Bread", "# Bread\n\nBread is what rye becomes.", None),
        ("ninety-eight degrees.", "ninety-eight degrees. Wheat at ninety-four.", None),
        ("- [[index]]", "- [[index]]\n\nMore of it.", None),
        ("What it needs:", "Gluten matters.\n\nWhat it needs:", None),
        ("So it is called", "It can be called.\n\nSo it is called", None),
    ],
)
def test_an_insertion_never_parts_what_belongs_together(find, replace, what):
    """Lead-ins, lists, steps, callouts and the note's beginning stay whole; what goes on in them may."""
    if what is None:
        check((find, replace))
        return
    with pytest.raises(StructureBroken, match=what) as refused:
        check((find, replace))
    assert refused.value.hint


def test_text_taken_into_a_new_item_is_refused():
    """A line right below a new item would become part of it."""
    with pytest.raises(StructureBroken, match="takes in the text"):
        check(("Two", "- new\nTwo"), text="One.\n\nTwo, a line on its own.\n")


def test_a_new_lead_in_may_stand_above_code_that_had_another():
    """Text that announces the code is a better lead-in than what stood there."""
    check(("call looks like.", "call looks like.\n\nFor wheat:"))


def test_a_list_of_another_style_is_another_list():
    """Between two lists text may stand."""
    check(("- b", "- b\n\nBetween.\n"), text="- a\n- b\n\n* c\n")


def test_crlf_is_no_matter():
    """Line ends are no part of structure."""
    with pytest.raises(StructureBroken):
        check(("Lead:", "Lead:\n\nNew."), text="Title\r\n\r\nLead:\r\n\r\n- a\r\n")


@pytest.mark.parametrize(
    "text, found",
    [
        ("First.\n", "First."),
        ("---\na: 1\n---\n# T\n\nFirst.\n\n## S\n\nSecond.\n", "First."),
        ("# T\n\n## S\n\nText.\n", None),
        ("# T\n\n- a\n\nText.\n", None),
        ("%% hidden %%\n\nFirst.\n", "First."),
        ("", None),
    ],
)
def test_where_a_note_begins(text, found):
    """Its first paragraph, where front matter and a title are all that stands above."""
    note = parse("a.md", text)
    block = beginning(note)
    assert (block and note.block_text(block)) == found


def test_what_opens_a_note_names_it_at_once():
    """A definition may stand first; a remark may not. Endings do not matter."""
    assert opens_note("Crumb", "Crumbs are what a bread leaves.")
    assert opens_note("Rye bread", "In general, a bread of rye keeps for weeks.")
    assert not opens_note("Crumb", "When it has cooled for a day one may think of the crumb.")


def test_a_note_that_has_its_beginning_keeps_it():
    """Where the first paragraph says what the note is about, another that names it too goes below."""
    new = "The dark mode also follows the system."
    has_one = parse(
        "Dark mode.md", "---\ntitle: Dark mode\n---\n\nThe site supports dark mode out of the box.\n\nMore.\n"
    )
    has_none = parse("Dark mode.md", "Out of the box, this is what readers ask for first.\n")
    assert not may_open(has_one, new)
    assert may_open(has_none, new)
    assert not may_open(has_none, "A remark on something else.")
    with pytest.raises(StructureBroken, match="first sentence"):
        check_structure(has_one.text, plan_changes(has_one.text, [("---\n\nThe site", f"---\n\n{new}\n\nThe site")]))


def test_items_take_the_form_of_the_list_they_join():
    """Marker and indent are the list's; what is nested stays nested, a task a task."""
    assert restyled("  * [ ] a\n    - b", "-", "") == "- [ ] a\n  - b"
    assert restyled("- a\n\n  b", "*", " ") == " * a\n\n   b"
    assert restyled("no item", "-", "") == "no item"
    assert (style_of("- a"), style_of("12) a"), style_of("a"), style_of("-a")) == ("-", "1)", "", "")
    blocks = parse("a.md", "a\n- b\n\n- c\n").blocks
    assert touches(blocks[0], blocks[1])
    assert not touches(blocks[1], blocks[2])
