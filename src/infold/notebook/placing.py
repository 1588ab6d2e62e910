"""Text put at a place of a note, and nothing outside that place read differently for it.

Pure text in, pure text out. Which place that is belongs to `notebook.sections`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from infold.errors import EditRefused, ProtectedSpanBroken, UsageError
from infold.vault.front_matter import read_front_matter
from infold.vault.lines import BOM, LINE_END
from infold.vault.match import line_of
from infold.vault.note import BlockKind, Note, parse
from infold.vault.protect import protected_spans

UNPRINTABLE: Final = re.compile(r"[\x00\ud800-\udfff]")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\Z)")
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")
_SPACE: Final = " \t\r\n"


def cleaned(content: str) -> str:
    """Text to be written: line feeds only, no blank lines at its ends. Raises UsageError where nothing is left."""
    text = LINE_END.sub("\n", content.removeprefix(BOM))
    text = text[blank_lines_end(text) :].rstrip(" \t\n")
    if not text.strip():
        raise UsageError("There is no text to write.", hint="Give the text as an argument, with --file, or on stdin.")
    if UNPRINTABLE.search(text):
        raise UsageError("The text holds a NUL or half a character, which no note may.")
    return text


def insert(note: Note, start: int, end: int, content: str) -> str:
    """The note's text with `content` below what is said from `start` to `end`; the white space after that stays.

    A note without a last line end stays without, unless it had no text at all.
    """
    text = note.text
    at = start + len(text[start:end].rstrip(_SPACE))
    front = note.front_matter
    if at > start or any(heading.end == at for heading in note.headings):
        return placed(note, at, at, _gap(note, at, content) + content)
    above = "\n\n" if front is not None and 0 < front.end == at else ""
    return placed(note, at, at, above + content + ("" if text[at:] else "\n"))


def placed(note: Note, start: int, end: int, content: str) -> str:
    """The note's text with `content` from `start` to `end`.

    A blank line is put below `content` where what follows needs one. Raises ProtectedSpanBroken where what stands
    outside would be read differently.
    """
    text = note.text
    check_closed(content.lstrip("\n"))
    for span in protected_spans(text):
        if span.is_open and span.start < start:
            raise ProtectedSpanBroken(
                f"the {span.kind} at line {line_of(text, span.start)} of the page is never closed, so that the text "
                "would stand in it",
                hint="Close it first.",
            )
    for below in ("", "\n"):
        new = text[:start] + with_line_ends(content + below, text) + text[end:]
        if _is_same_outside(note, parse("", new), start, end):
            return new
        if end == len(text):
            break
    raise ProtectedSpanBroken(
        "the text would change what stands around it: a heading, a comment or the front matter",
        hint="Leave %% marks, HTML tags and lines of --- or === out of it, or put blank lines around them.",
    )


def heading_gap(note: Note | None) -> str:
    """The line ends between a heading and its text, as most sections of the note have it."""
    blocks = note.blocks if note is not None else ()
    gaps = [
        below.line - block.end_line
        for block, below in pairwise(blocks)
        if block.kind is BlockKind.HEADING and below.kind is not BlockKind.HEADING
    ]
    return "\n\n" if sum(gap > 1 for gap in gaps) * 2 > len(gaps) else "\n"


def body_start(note: Note) -> int:
    """Where the text below front matter, or byte order mark, begins."""
    if note.front_matter is not None and note.front_matter.end:
        return note.front_matter.end
    return 1 if note.text.startswith(BOM) else 0


def blank_lines_end(text: str) -> int:
    """Where the first line that is not blank begins; its indent is its own."""
    found = _BLANK_LINES.match(text)
    return found.end() if found else 0


def with_line_ends(content: str, text: str) -> str:
    """`content` with the line ends that most lines of `text` have."""
    pairs = text.count("\r\n")
    ends = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return content.replace("\n", max(ends, key=lambda kind: ends[kind]))


def front_matter_of(content: str) -> str:
    """The front matter that `content` begins with, or ''."""
    front = read_front_matter(content)
    return content[: front.end] if front is not None and front.end > front.start else ""


def refuse_front_matter(content: str) -> None:
    """Raises EditRefused for text with front matter, which a page has only at its top."""
    if front_matter_of(content):
        raise doubled_front_matter()


def doubled_front_matter() -> EditRefused:
    """What text with front matter of its own is told."""
    return EditRefused(
        "The text begins with front matter of its own, and a page has only one, at its top.",
        hint="Leave the lines between --- and --- out: those of the page stay as they are.",
    )


def check_closed(content: str) -> None:
    """Raises ProtectedSpanBroken for text that opens a code block or comment and leaves it open."""
    for span in protected_spans(f"\n{content}"):
        if span.is_open:
            raise ProtectedSpanBroken(
                f"the text opens a {span.kind} at its line {line_of(content, span.start - 1)} and never closes it",
                hint="Close it.",
            )


def _gap(note: Note, at: int, content: str) -> str:
    """The line ends between what stands before `at` and `content`: one below a heading and between items of a list."""
    if content.startswith("#"):
        return "\n\n"
    if any(heading.end == at for heading in note.headings):
        return heading_gap(note)
    last = max((block for block in note.blocks if block.start < at), key=lambda block: block.start, default=None)
    is_item = last is not None and last.kind is BlockKind.LIST_ITEM and _ITEM.match(content)
    is_row = last is not None and last.kind is BlockKind.TABLE and content.lstrip().startswith("|")
    return "\n" if is_item or is_row else "\n\n"


def _is_same_outside(before: Note, after: Note, start: int, end: int) -> bool:
    """Whether everything but `start` to `end` is read as it was: front matter, headings, comments, what follows."""
    shift = len(after.text) - len(before.text)
    return _above(before, start) == _above(after, start) and _below(before, end, 0) == _below(after, end + shift, shift)


def _above(note: Note, end: int) -> list[object]:
    return [
        note.front_matter.end if note.front_matter else None,
        [(heading.start, heading.end, heading.level) for heading in note.headings if heading.end <= end],
        [span for span in note.comments if span[1] <= end],
    ]


def _below(note: Note, start: int, moved: int) -> list[object]:
    return [
        [(heading.start - moved, heading.level) for heading in note.headings if heading.start >= start],
        [(first - moved, last - moved) for first, last in note.comments if last > start],
        [(block.start - moved, block.end - moved, block.kind) for block in note.blocks if block.start >= start],
    ]
