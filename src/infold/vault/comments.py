"""`%% comments %%` of a note: where they are, and the text with them masked.

Markdown parsers do not know this form. A masked comment keeps its delimiters and its length in bytes, so that byte
offsets found in the masked text hold in the original.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

MARK: Final = "%%"
MASKED: Final = re.compile("%%\x01*%%")

_BLANK_LINE: Final = re.compile(r"(?:\r\n|\r(?!\n)|\n)[ \t]*[\r\n]")
_LINE_START: Final = re.compile(r"(?:^|[\r\n])[ \t>]*\Z")


def comment_spans(text: str, code: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of comments in `text`, delimiters included. `code` is the spans, in order, where `%%` means nothing.

    A comment that opens at the start of a line may span blocks; one within a line ends before the next blank line.
    One that is never closed is text: hiding the rest of a note for a stray `%%` would lose it.
    """
    starts = [start for start, _ in code]
    spans: list[tuple[int, int]] = []
    position = 0
    while (opening := text.find(MARK, position)) >= 0:
        within = bisect_right(starts, opening) - 1
        if within >= 0 and opening < code[within][1]:
            position = code[within][1]
            continue
        closing = text.find(MARK, opening + 2)
        if closing < 0:
            break
        opens_line = _LINE_START.search(text, max(0, opening - 16), opening) is not None
        if not opens_line and _BLANK_LINE.search(text, opening, closing):
            position = opening + 2
            continue
        spans.append((opening, closing + 2))
        position = closing + 2
    return spans


def mask(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """`text` with the inside of each span, line ends too, replaced by as many control signs as it has bytes."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        inside = text[start + 2 : end - 2]
        pieces += [text[position : start + 2], "\x01" * len(inside.encode()), MARK]
        position = end
    pieces.append(text[position:])
    return "".join(pieces)
