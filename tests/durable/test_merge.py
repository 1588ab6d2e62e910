"""Three-way merge of lines: both changes where they do not meet, the person's text where they do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.durable.merge import holds_change, merge

BASE = b"# Tea\n\nOolong rests.\n\nNew paragraph.\n\nThe end.\n"
WITHOUT = b"# Tea\n\nOolong rests.\n\nThe end.\n"


@pytest.mark.parametrize(
    "theirs, wanted",
    [
        (BASE, WITHOUT),
        (BASE.replace(b"# Tea", b"# Green tea"), WITHOUT.replace(b"# Tea", b"# Green tea")),
        (BASE.replace(b"The end", b"The very end"), WITHOUT.replace(b"The end", b"The very end")),
        (BASE + b"\nMore.\n", WITHOUT + b"\nMore.\n"),
        (BASE.replace(b"\n", b"\r\n"), WITHOUT.replace(b"\n", b"\r\n")),
        (
            BASE.replace(b"Oolong rests.", b"Oolong rests long."),
            WITHOUT.replace(b"Oolong rests.", b"Oolong rests long."),
        ),
    ],
)
def test_an_added_paragraph_is_taken_out_from_under_later_changes(theirs, wanted):
    """Above, below, right beside it, or all line ends changed: the paragraph goes, the later change stays."""
    merged = merge(BASE, WITHOUT, theirs)
    assert (merged.data, merged.conflicts) == (wanted, ())


def test_a_paragraph_that_was_rewritten_stays_and_is_listed():
    """The person's words stand; the text that could not be taken out is named."""
    theirs = BASE.replace(b"New paragraph.", b"New and better paragraph.")
    merged = merge(BASE, WITHOUT, theirs)
    assert merged.data == theirs
    assert b"New paragraph." in b"".join(merged.conflicts)


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\n"]), max_size=8).map(b"".join)


@given(LINES, LINES)
def test_where_nothing_else_changed_our_side_is_the_result(base, ours):
    """Without a change on the other side, the merge is ours, exactly; and the other way round."""
    assert merge(base, ours, base).data == ours
    assert merge(base, base, ours).data == ours


@given(LINES, LINES, LINES)
def test_lines_of_the_person_are_never_lost(base, ours, theirs):
    """Every line that the person added, and that our side did not take out, still stands in the merge."""
    merged = merge(base, ours, theirs).data.splitlines()
    for line in (b"a", b"b", b"c"):
        added = theirs.splitlines().count(line) - base.splitlines().count(line)
        assert not (added > 0 and ours.splitlines().count(line) >= base.splitlines().count(line) and line not in merged)


def test_a_change_is_recognised_in_what_was_made_from_it():
    """Later edits beside it do not hide that it was made; a text made from the form before does not hold it."""
    assert holds_change(WITHOUT, BASE, BASE.replace(b"# Tea", b"# Green tea"))
    assert not holds_change(WITHOUT, BASE, WITHOUT.replace(b"# Tea", b"# Green tea"))
