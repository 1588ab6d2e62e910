"""Differences on the screen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from infold.cli.diffs import abridged, coloured, short
from infold.durable.unified import unified

TEXTS = st.lists(st.sampled_from(["a", "b", "", "- c", "ü"]), max_size=6).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join(lines) + "\n"])
)


@given(TEXTS, TEXTS)
def test_a_diff_loses_nothing(before, after):
    """Colours change no character."""
    diff = unified(before, after, "n.md")
    assert coloured(diff).plain == diff


def test_a_short_diff_shows_what_comes_in_and_the_line_beside_it():
    """Blank lines and far context are left out."""
    find = "## Noises\n\nIt clicks."
    text = _plain(short(find, find + "\n\nThe pump hums in [brackets]."))
    assert text.splitlines() == ["  It clicks.", "+ The pump hums in [brackets]."]


def test_a_changed_line_is_shown_once_with_its_words():
    """What goes and what comes stand in one line; a long rest of it is left out."""
    find = "The pump hums at night. " + "It always did. " * 20
    text = _plain(short(find, find.replace("night", "noon")))
    assert text.startswith("~ The pump hums at nightnoon.")
    assert "…" in text
    assert len(text) < 200


def test_a_long_insertion_is_cut_with_a_count():
    """The whole of it is in the report and in `infold diff`."""
    text = _plain(short("a", "a\n" + "\n".join(f"line {n}" for n in range(20))))
    assert "more lines" in text
    assert len(text.splitlines()) < 12


def test_abridging_cuts_at_a_word():
    """And says so."""
    assert abridged("one  two\nthree", 20) == "one two three"
    assert abridged("one two three", 9) == "one two …"


def _plain(renderable) -> str:
    console = Console(width=80, no_color=True)
    with console.capture() as captured:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
