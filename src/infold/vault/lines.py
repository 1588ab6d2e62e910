"""A note's text as lines: numbers, beginnings, ends, and the line around a place."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

LINE_END: Final = re.compile(r"\r\n?|\n")
BLANK: Final = " \t\r\n"  # what makes a line blank in Markdown
MAX_CONTEXT: Final = 300


class Lines:
    """Line numbers (from 1) of offsets, and the line an offset stands on. A lone carriage return ends a line too."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in LINE_END.finditer(text))]

    def number(self, offset: int) -> int:
        """The number of the line at `offset`."""
        return bisect_right(self._starts, offset)

    def start(self, offset: int) -> int:
        """Where the line at `offset` begins."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def end(self, offset: int) -> int:
        """The end of the line at `offset`, its line end excluded."""
        number = bisect_right(self._starts, offset)
        if number == len(self._starts):
            return len(self._text)
        end = self._starts[number] - 1
        return end - 1 if end and self._text[end] == "\n" and self._text[end - 1] == "\r" else end

    def context(self, start: int, end: int) -> str:
        """The line of `start`, stripped; of a long line the part around the link."""
        first, last = self.start(start), self.end(start)
        if last - first > MAX_CONTEXT:
            spare = max(0, MAX_CONTEXT - (end - start)) // 2
            first = max(first, min(start - spare, last - MAX_CONTEXT))
        return self._text[first : min(last, first + MAX_CONTEXT)].strip()
