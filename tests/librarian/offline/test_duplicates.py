"""What counts as said already: containment, with numbers and negations that agree."""

from __future__ import annotations

import pytest

from infold.librarian.offline import duplicates
from infold.librarian.offline.duplicates import find_cover
from infold.librarian.offline.inserting import quote
from infold.librarian.offline.names import Names, names_of, packed_names, unpacked_names
from infold.vault.links import LinkResolver
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


def test_a_link_with_another_text_to_the_same_note_is_no_news():
    """A copy may link to a note of the vault by another of its names; a link to another note says something else."""
    note = parse("a.md", "# A\n\nThe trays go on [[Crates|stacked crates]] of wood, away from the wall.\n")
    names = Names(
        names_of([("Crates.md", "Crates", ("stacked crates",)), ("Racks.md", "Racks", ())], ()),
        lambda: LinkResolver(PATHS, {}),
    )
    renamed = "The trays go on [[Crates]] of wood, away from the wall."
    assert find_cover(renamed, note, names) is not None
    assert find_cover(renamed.replace("Crates", "Racks"), note, names) is None


PATHS = ["Crates.md", "Racks.md", "Heat.md", "Two-day rule.md"]
CALLED = names_of(
    [
        ("Crates.md", "Wooden Crates", ("open crates", "closed crates", "stack of wooden crates", "crates 2")),
        ("Heat.md", "Proofing temperature", ("too hot", "far too cold")),
        ("Racks.md", "Racks", ("drying racks", "shelf")),
        ("Shelves.md", "Shelves", ("shelf",)),
    ],
    [("Heat.md", "never too cold")],
)
WRITTEN = """# Shed

Wooden crates stay by the door all winter, because the floor there is dry.

The dough by the oven is too hot after lunch, so it moves to the hall.

In spring the open crates go to the garden with the young plants.

Put the drying racks beside 2 lamps and turn them every evening.
"""


@pytest.mark.parametrize(
    "text",
    [
        "A stack of wooden crates stay by the door all winter, because the floor there is dry.".removeprefix("A "),
        "The dough by the oven is proofing temperature after lunch, so it moves to the hall.",
        "Put the racks beside 2 lamps and turn them every evening.",
    ],
)
def test_a_note_may_be_called_by_another_name(text):
    """The title for another name and the other way round: the same is said."""
    assert find_cover(text, parse("Shed.md", WRITTEN)) is None or "racks" in text
    assert find_cover(text, parse("Shed.md", WRITTEN), Names(CALLED)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "In spring the closed crates go to the garden with the young plants.",
        "The dough by the oven is far too cold after lunch, so it moves to the hall.",
        "The dough by the oven is never too cold after lunch, so it moves to the hall.",
        "Crates 2 stay by the door all winter, because the floor there is dry.",
        "Wooden crates stay by the door no winter, because the floor there is dry.",
        "A stack of wooden crates stay by the wall all winter, because the floor there is dry.".removeprefix("A "),
        "Put the racks beside 3 lamps and turn them every evening.",
        "The full crates of wood stay by the door.",
        "Put the shelf beside 2 lamps and turn them every evening.",
        "Put the wooden crates beside 2 lamps and turn them every evening.",
    ],
)
def test_another_name_never_hides_a_contradiction(text):
    """Opposites that links to one note show, a negation or a number in or beside a name, names of two notes."""
    assert find_cover(text, parse("Shed.md", WRITTEN), Names(CALLED)) is None


def test_a_common_word_is_no_name():
    """A word of many notes does not stand for a note that has it as its title."""
    called = names_of([("Water.md", "Water", ("mineral supply",))], ())
    note = parse("a.md", "# A\n\nPlants want water in the early morning and at night.\n")
    text = "Plants want mineral supply in the early morning and at night."
    assert find_cover(text, note, Names(called)) is not None
    assert find_cover(text, note, Names(called, is_common=lambda word: word == "water")) is None


def test_names_that_were_packed_are_the_same():
    """What is kept between runs says what was worked out; the same bytes for the same names."""
    assert unpacked_names(packed_names(CALLED)) == CALLED
    assert packed_names(unpacked_names(packed_names(CALLED))) == packed_names(CALLED)
    assert CALLED.keys() == {"Crates.md", "Heat.md", "Racks.md"}


@pytest.mark.parametrize("size", [1_000, 8_000])
@pytest.mark.parametrize(
    "text, note",
    [
        ("- a\n" * 8_000 + "- b\n", "b\n\n" + "- a\n" * 8_000),
        ("- a\n" * 8_000, "- a\n" * 7_999),
        ("Ana mended it. " * 4_000, "Ana mended that. " * 4_000),
        ("".join(f"- pump {n}\n" for n in range(8_000)), "".join(f"- pump {n}\n\n" for n in range(8_000, 0, -1))),
    ],
    ids=["a list that lacks one", "one item less", "equal sentences", "another order"],
)
def test_the_steps_of_looking_for_a_long_text_grow_as_it_does(text, note, size, monkeypatch):
    """Counted, not timed: forms compared and sentences looked at stay below some a block, whatever the text."""
    steps = {"seen": 0}

    class Counted(list):
        def __getitem__(self, at):
            steps["seen"] += 1
            return super().__getitem__(at)

    real = duplicates._followed
    monkeypatch.setattr(duplicates, "_followed", lambda wanted, forms, at: real(wanted, Counted(forms), at))
    is_said = duplicates._is_said
    monkeypatch.setattr(duplicates, "_is_said", lambda *said: steps.update(seen=steps["seen"] + 1) or is_said(*said))
    duplicates.find_cover(text[: size * 6], parse("n.md", note[: size * 6]))
    assert steps["seen"] <= 20 * size
