"""What counts as said already: containment, with numbers and negations that agree."""

from __future__ import annotations

import pytest

from infold.librarian.offline.duplicates import find_cover
from infold.librarian.offline.inserting import quote
from infold.vault.note import parse

NOTE = """# Sourdough

The starter is fed every morning with 50 grams of flour and 50 grams of water. It is never kept in the fridge.

Bake the loaf at 230 degrees for 40 minutes, then let it cool on a rack, away from the draught, for two hours.

- Steam in the first ten minutes gives a glossy crust
- A closed pot keeps the steam in
"""


FED = "The starter is fed every morning with 50 grams of flour and 50 grams of water."
COLD = "It is never kept in the fridge."
BAKE = "Bake the loaf at 230 degrees for 40 minutes, then let it cool on a rack, away from the draught, for two hours."


def covered(text: str) -> str | None:
    """The covering text of the note, or None."""
    note = parse("bread.md", NOTE)
    cover = find_cover(text, note)
    return note.text[cover.start : cover.end] if cover else None


@pytest.mark.parametrize(
    "text",
    [
        BAKE,
        BAKE.lower().replace(" ", "  ").rstrip("."),
        f"{COLD} {FED}",
        BAKE.replace(" away from the draught,", ""),
        "Steam in the first ten minutes gives a glossy crust",
    ],
)
def test_what_the_note_says_already_is_covered(text):
    """Verbatim, in other white space, with sentences moved, with a clause dropped, as one item of a list."""
    assert covered(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        f"{FED.replace('50', '60', 1)} {COLD}",
        f"{FED} {COLD.replace('never ', '')}",
        BAKE.replace("230", "x").replace("40", "230").replace("x", "40"),
        BAKE.replace("two", "three"),
        "An open pot keeps the steam in",
        BAKE.replace("Bake", "Freeze"),
        BAKE.replace("rack", "[rack](https://example.org/rack)"),
    ],
)
def test_a_contradiction_is_no_duplicate(text):
    """Another number, numbers swapped, a negation taken away, an opposite word, a new link: each says something else."""
    assert covered(text) is None


def test_the_smallest_covering_text_is_quoted():
    """Of a note of several blocks the one that covers the paragraph is named, not the whole note."""
    found = covered("A closed pot keeps the steam in")
    assert found is not None
    assert found.strip() == "- A closed pot keeps the steam in"


def test_a_quote_that_stands_twice_is_extended():
    """Text that repeats in its note is quoted with what stands around it, so that it matches once."""
    note = parse("a.md", "# A\n\nSee below.\n\n## One\n\nSame words here.\n\n## Two\n\nSame words here.\n")
    cover = find_cover("Same words here.", note)
    assert cover is not None
    found = quote(note, cover.start, cover.end)
    assert found is not None
    assert note.text.count(found) == 1
    assert "Same words here." in found
