"""Differences as a reader wants them."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from infold.durable.unified import unified
from infold.vault.differences import hunks, line_splices, same_insertions, words
from infold.vault.splices import spliced

TEXT = st.lists(st.sampled_from(["a", "b", " ", "c.", "\n", "\r\n"]), max_size=20).map("".join)


@given(TEXT, TEXT)
def test_segments_hold_both_texts(before, after):
    """What is the same or removed is the text before, what is the same or added the text after."""
    segments = words(before, after)
    assert "".join(s.text for s in segments if s.kind != "added") == before
    assert "".join(s.text for s in segments if s.kind != "removed") == after


@given(TEXT, TEXT)
def test_hunks_hold_every_changed_line_and_number_the_lines_after(before, after):
    """Each numbered row is that line of the text after; equal texts have no hunks."""
    after_lines = after.replace("\r\n", "\n").split("\n")
    rows = [row for hunk in hunks(before, after) for row in hunk.rows]
    for row in rows:
        if row.number is not None:
            assert "".join(s.text for s in row.segments if s.kind != "removed") == after_lines[row.number - 1]
    if before == after:
        assert rows == []


def test_a_changed_word_is_marked_within_its_line():
    """A line with one word more is one row, the word marked, not one line out and one in."""
    (hunk,) = hunks("a\nWheat cools for an hour.\nb\n", "a\nWheat cools for half an hour.\nb\n")
    changed = [row for row in hunk.rows if row.kind == "changed"]
    assert [[(s.kind, s.text) for s in row.segments if s.kind != "same"] for row in changed] == [[("added", "half ")]]


def test_far_changes_are_two_hunks():
    """Unchanged text between is left out."""
    before = "".join(f"{n}\n" for n in range(40))
    assert len(hunks(before, before.replace("3\n", "x\n", 1).replace("30\n", "y\n"))) == 2


def test_a_unified_diff_says_where_the_last_line_end_is_missing():
    """A diff that `patch` reads."""
    assert unified("a\nb", "a\nb\nc", "n.md").endswith(
        " a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"
    )
    assert unified("a\n", "a\n", "n.md") == ""


def test_a_long_note_is_compared_in_seconds():
    """A hundred thousand lines, blank ones between, changed in two places."""
    lines = [f"line {n}\n" if n % 2 else "\n" for n in range(100_000)]
    after = [*lines[:200], "one\n", *lines[200:70_000], "two\n", *lines[70_000:]]
    started = time.process_time()
    assert len(hunks("".join(lines), "".join(after))) == 2
    assert time.process_time() - started < 20


def test_an_insertion_is_known_wherever_equal_lines_let_it_be_read():
    """Of two equal lines either may be the new one: both readings give the same text."""
    before, after = "a\nb\nc\n", "a\nb\na\nb\nc\n"
    (splice,) = line_splices(before, after)
    readings = same_insertions(before, splice)
    assert {(one.start, one.text) for one in readings} == {(0, "a\nb\n"), (2, "b\na\n"), (4, "a\nb\n")}
    assert {spliced(before, [one]) for one in readings} == {after}


@given(st.text(alphabet="ab\n", max_size=30), st.text(alphabet="ab\n", max_size=30))
def test_whole_lines_lead_from_one_text_to_the_other(before, after):
    """The splices of a difference make the one text into the other."""
    assert spliced(before, line_splices(before, after)) == after
