"""Where a find text stands: exactly once, white space aside."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.errors import FindTextAmbiguous, FindTextMissing
from infold.vault.match import Match, find_once, line_of

SPACES = st.text(" \t\n\r", min_size=1, max_size=4)
WORDS = st.lists(st.text("abcé語—*[]#", min_size=1, max_size=5), min_size=1, max_size=8)


@st.composite
def notes_with_a_unique_text(draw):
    """A note, a text that stands in it once, where, and the same text with other white space."""
    words = draw(WORDS)
    before, after = draw(WORDS), draw(WORDS)
    inside = [draw(SPACES) for _ in words[1:]]
    other = [draw(SPACES) for _ in words[1:]]
    written = words[0] + "".join(space + word for space, word in zip(inside, words[1:], strict=True))
    wanted = words[0] + "".join(space + word for space, word in zip(other, words[1:], strict=True))
    lead = "«" + draw(SPACES).join(before) + draw(SPACES)
    note = lead + "§" + written + "§" + draw(SPACES) + " ".join(after)
    return note, len(lead), len(lead) + len(written) + 2, "§" + wanted + "§"


@given(notes_with_a_unique_text(), st.text(" \t\r\n", max_size=3), st.text(" \t\r\n", max_size=3))
def test_white_space_never_hides_a_unique_text(case, lead, tail):
    """However its white space is written, a text that stands there once is found, at its exact original place."""
    note, start, end, wanted = case
    assert find_once(note, lead + wanted + tail) == Match(start, end)


@given(st.text("ab \n", max_size=30), st.text("ab \n", max_size=6))
def test_as_many_places_as_a_naive_search_finds(note, wanted):
    """Found, missing or ambiguous: as an exhaustive search over every place says, overlapping places counted."""
    words = wanted.split()
    pattern = re.compile(r"(?=" + r"\s+".join(map(re.escape, words)) + ")")
    places = [m.start() for m in pattern.finditer(note)] if words else []
    if len(places) == 1:
        found = find_once(note, wanted)
        assert found.start == places[0]
        assert note[found.start : found.end].split() == words
    else:
        with pytest.raises(FindTextAmbiguous if places else FindTextMissing):
            find_once(note, wanted)


@pytest.mark.parametrize("wanted", ["", " ", "\r\n\t"])
def test_an_empty_find_is_refused(wanted):
    """A find without text would stand everywhere."""
    with pytest.raises(FindTextMissing, match="empty"):
        find_once("a b", wanted)


def test_an_ambiguous_find_names_every_line_and_what_to_do():
    """The message gives the lines, the hint says to add surrounding text."""
    with pytest.raises(FindTextAmbiguous, match="3 times, at lines 1, 3, 4") as caught:
        find_once("- Link B\n\n- Link  B\n-\tLink B, too", "- Link B")
    assert "surrounding text" in caught.value.hint


def test_a_missing_find_names_the_nearest_lines():
    """A slip of the pen is answered with the line and text that was meant."""
    note = "# France\n\nThe capital of France is Paris.\nIts rivers are long.\n\nThe capital of Spain is Madrid.\n"
    with pytest.raises(FindTextMissing, match=r"nearest: line 3: “The capital of France is Paris.”, line 6"):
        find_once(note, "The capitol of France is Pariss.")


def test_the_nearest_part_of_a_long_line_is_shown():
    """Notes often keep a paragraph on one line: the sentence is shown, not the line."""
    note = ("Lorem ipsum dolor sit amet. " * 30) + "Rye cools for a whole day. " + ("Consectetur elit. " * 30)
    with pytest.raises(FindTextMissing, match=r"line 1: “Rye cools for a whole day.”"):
        find_once(note, "Rye cools for a whole week.")


def test_several_lines_are_compared_with_several_lines():
    """The nearest place of a three-line text is a window of three lines."""
    note = "".join(f"Line {n} of the note.\n" for n in range(50)) + "- one\n- two\n- three\n" + "more\n" * 20
    with pytest.raises(FindTextMissing, match="line 51: “- one - two - three”"):
        find_once(note, "- one\n- two\n- thre e")


@pytest.mark.parametrize(
    "text, offset, line", [("a\nb", 2, 2), ("a\r\nb", 3, 2), ("a\rb", 2, 2), ("a\r\n\rb", 4, 3), ("ab", 1, 1)]
)
def test_lines_count_whatever_ends_them(text, offset, line):
    """CRLF, LF and CR each end one line."""
    assert line_of(text, offset) == line


@pytest.mark.parametrize("wanted", ["w7 w9 nothing like this", "a " * 1_000_000, "w13", "zzz\n" * 200])
def test_four_megabytes_are_searched_in_linear_time(wanted):
    """The largest note allowed, missing and hostile finds included, takes about a second, not minutes."""
    note = ("a " * 500_000) + "\n".join(f"w{n % 20} words on line {n}" for n in range(140_000))
    started = time.process_time()
    with pytest.raises((FindTextMissing, FindTextAmbiguous)):
        find_once(note, wanted)
    assert time.process_time() - started < 20
