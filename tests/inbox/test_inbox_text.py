"""The inbox without its paragraphs: everything else byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.inbox.inbox_text import locate_paragraphs, remove_paragraphs


def without(text: str, *paragraphs: str) -> str:
    return remove_paragraphs(text, [span for span in locate_paragraphs(text, paragraphs) if span])


@pytest.mark.parametrize(
    "text, gone, wanted",
    [
        ("a\n\nP\n\nb\n", "P", "a\n\nb\n"),
        ("P\n\nb\n", "P", "b\n"),
        ("a\n\nP\n", "P", "a\n"),
        ("a\n\nP", "P", "a"),
        ("P\n", "P", ""),
        ("P", "P", ""),
        ("# H\n\nP\n\nb\n", "P", "# H\n\nb\n"),
        ("# H\nP\n\nb\n", "P", "# H\n\nb\n"),
        ("# H\n\nP\n\n# I\n", "P", "# H\n\n# I\n"),
        ("---\nx: 1\n---\n\nP\n", "P", "---\nx: 1\n---\n"),
        ("\ufeffP\r\n\r\nb\r\n", "P", "\ufeffb\r\n"),
        ("a\r\n\r\nP\r\n\r\nb", "P", "a\r\n\r\nb"),
        ("- one\n- P\n- two\n", "- P", "- one\n- two\n"),
        ("- P\n- two\n", "- P", "- two\n"),
        ("a\n\n- one\n- P\n\nb\n", "- P", "a\n\n- one\n\nb\n"),
        ("a\n\n\n\nP\n\nb\n", "P", "a\n\n\n\nb\n"),
        ("a\n\nP\nQ\n\nR\n\nb\n", "P\nQ\n\nR", "a\n\nb\n"),
        ("a  \n\n  P\n\nb\n", "P", "a  \n\nb\n"),
    ],
)
def test_a_block_goes_with_the_blank_lines_that_parted_it(text, gone, wanted):
    """Headings, front matter, BOM, line ends and the last line end (or none) stay."""
    assert without(text, gone) == wanted


def test_a_paragraph_is_found_as_whole_lines_only():
    """Text within another sentence, or that begins a longer line, is not the paragraph."""
    text = "see P here\n\nP and more\n\nP\n"
    assert locate_paragraphs(text, ["P"]) == [(24, 25)]


def test_equal_paragraphs_are_told_apart_by_order():
    """The second of two equal paragraphs is the second one, also after others moved."""
    assert locate_paragraphs("P\n\nx\n\nP\n", ["P", "x", "P"]) == [(0, 1), (3, 4), (6, 7)]
    assert locate_paragraphs("x\n\nP\n", ["P", "x", "P"]) == [(3, 4), (0, 1), None]


def test_changed_line_ends_do_not_hide_a_paragraph():
    """An editor that turned LF into CRLF changed no text."""
    assert without("a\r\n\r\nP\r\nQ\r\n\r\nb\r\n", "P\nQ") == "a\r\n\r\nb\r\n"


LINE_END = st.sampled_from(["\n", "\r\n"])


@given(
    st.lists(st.tuples(st.text("abc ", min_size=1, max_size=8).filter(str.strip), st.booleans()), max_size=8),
    LINE_END,
    st.booleans(),
    st.booleans(),
)
def test_what_is_kept_is_what_was_not_taken(blocks, line_end, has_title, ends_open):
    """Any selection taken out: the others stand there in order, parted by one blank line, and nothing else."""
    texts = [f"{n} {text.strip()}" for n, (text, _) in enumerate(blocks)]
    title = ["# Inbox"] if has_title else []
    tail = "" if ends_open else line_end
    text = (line_end * 2).join([*title, *texts]) + tail if title or texts else ""
    gone = [text_ for text_, (_, is_gone) in zip(texts, blocks, strict=True) if is_gone]
    kept = [*title, *(text_ for text_, (_, is_gone) in zip(texts, blocks, strict=True) if not is_gone)]
    assert without(text, *gone) == ((line_end * 2).join(kept) + tail if kept else "")
