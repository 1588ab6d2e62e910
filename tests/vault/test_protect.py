"""What an edit may not break."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.errors import ProtectedSpanBroken
from infold.vault.edits import plan_changes
from infold.vault.protect import check_protected, protected_spans

NOTE = """---
tags: [a, b]
title: Tea
---
# Tea

- item one

  ```py
  steep(4)
  ```

- item `%%` two

| cup | minutes |
|-----|---------|
| red | 4       |

Setext
------

<!-- hidden

here -->

$$
x^2
$$

%% note to self %%

Code follows:

    indented code

The end.
"""


def check(find: str, replace: str, note: str = NOTE) -> None:
    check_protected(note, plan_changes(note, [(find, replace)]))


@pytest.mark.parametrize(
    "find, replace",
    [
        ("The end.", "The end.\n\nMore."),
        ("# Tea", "# Tea\n\nNew paragraph."),
        ("| red | 4       |", "| red | 4       |\n| oolong | 5 |"),
        ("| red | 4       |", "| red | 4       |\n\nNew paragraph."),
        ("| red | 4", "| red | 5, or 4"),
        ("steep(4)", "steep(4)\n  pour()"),
        ("steep(4)\n  ```", "steep(4)\n  ```\n\n  A note below the code."),
        ("here -->", "here -->\n\nNew paragraph."),
        ("%% note to self %%", "New.\n\n%% note to self %%"),
        ("tags: [a, b]", "tags: [a, b, c]"),
        ("title: Tea", "title: Tea\nstatus: done"),
        ("The end.", "```\nnew code\n```\n\nThe end."),
        ("The end.", "The end.\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        ("The end.", "The end. %% aside %%"),
        ("# Tea", "# Green tea"),
        ("indented code", "indented code\n    more of it"),
    ],
)
def test_what_leaves_every_span_whole_is_allowed(find, replace):
    """New text beside a span, a new row in a table, a new key, a new line of code: fine."""
    check(find, replace)


@pytest.mark.parametrize(
    "find, replace, what",
    [
        ("|-----|---------|", "|-----|---------|\n\nNew paragraph.", "table at line 15"),
        ("| red | 4       |", "| red | 4       |\nNew paragraph.", "table at line 15"),
        ("| red | 4       |", "- item\n| red | 4       |", "table at line 15"),
        ("steep(4)", "steep(4)\n  ```\n\n  New paragraph.\n\n  ```", "code block at line 9"),
        ("- item one", "- item one\n\n```\nnever closed", "code block"),
        ("The end.", "The end.\n\n```\nnever closed", "never closes, a code block"),
        ("<!-- hidden", "New. hidden", "HTML comment at line 22"),
        ("hidden", "hidden\nand more", "HTML comment at line 22"),
        ("# Tea", "# Tea\n\n%% opened", "code block at line 9"),
        ("%% note to self %%", "%% note %% to self", "comment at line 30"),
        ("note to self", "note to myself", "comment at line 30"),
        ("x^2", "x^2\n$$\n\nNew.\n\n$$\ny", "math block at line 26"),
        ("The end.", "The end.\n===", "heading"),
        ("# Tea", "New. # Tea", "heading at line 5"),
        ("Setext", "New text\nSetext", "heading at line 19"),
        ("title: Tea", "", "keys title"),
        ("tags: [a, b]", "tags: [a, b", "front matter"),
        ("---\ntags", "New.\n\n---\ntags", "front matter"),
        ("The end.", "The end.\n\n<!-- opened", "HTML comment"),
        ("Code follows:", "- Code follows:", "code block"),
    ],
)
def test_what_breaks_a_span_is_refused_by_kind_and_line(find, replace, what):
    """Split, joined, opened without close, moved off the top: refused, the span named."""
    with pytest.raises(ProtectedSpanBroken, match=what):
        check(find, replace)


def test_a_note_that_was_broken_before_can_still_be_edited():
    """An open fence at the end of a note is not the edit's fault."""
    check("# A", "# A\n\nNew.", "# A\n\n```\nnever closed\n")


def test_new_front_matter_is_refused():
    """Text at the top of a note must not turn into front matter."""
    with pytest.raises(ProtectedSpanBroken, match="front matter"):
        check("Tea", "---\na: 1\n---\nTea", "Tea\n")


def test_spans_are_found_whatever_the_script_and_line_ends():
    """Offsets are characters: BOM, CRLF and letters of several bytes before a span do not shift it."""
    note = "\ufeff# 語é\r\n\r\n```\r\nx\r\n```\r\n\r\n| ä | ö |\r\n|---|---|\r\n| 1 | 2 |\r\n"
    spans = [(span.kind, note[span.start : span.end]) for span in protected_spans(note)]
    assert spans == [
        ("heading", "# 語é"),
        ("code block", "```\r\nx\r\n```"),
        ("table", "| ä | ö |\r\n|---|---|\r\n| 1 | 2 |"),
    ]


@given(st.text("abc `%|-$<>!#\n", max_size=40), st.sampled_from(["# Tea", "The end.", "Code follows:", "- item one"]))
def test_whatever_is_added_no_span_is_ever_lost(added, anchor):
    """Any text beside any anchor: refused, or every span that was there is there, byte for byte."""
    before = [NOTE[span.start : span.end] for span in protected_spans(NOTE)]
    changes = plan_changes(NOTE, [(anchor, f"{anchor}\n\n{added}")])
    try:
        check_protected(NOTE, changes)
    except ProtectedSpanBroken:
        return
    at = sum(len(s.text) for s in changes[0].splices)
    after = NOTE[: changes[0].match.end] + "".join(s.text for s in changes[0].splices) + NOTE[changes[0].match.end :]
    assert len(after) == len(NOTE) + at
    now = [after[span.start : span.end] for span in protected_spans(after)]
    missing = [span for span in before if span not in now and not span.startswith("# Tea")]
    assert missing == []


@pytest.mark.parametrize("mark", ["%%", "<!--", "$$", "```\n", "`", "|a|\n|-|\n", "<!-- -->", "%% %% ", "# "])
def test_hostile_notes_are_read_in_linear_time(mark):
    """A megabyte of one mark takes seconds at most."""
    note = mark * (500_000 // len(mark)) + "\n\nanchor\n"
    started = time.process_time()
    protected_spans(note)
    assert time.process_time() - started < 20
