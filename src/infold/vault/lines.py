"""A note's text as lines: numbers, beginnings, ends, and the line around a place."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate, count
from operator import add
from typing import Final

BOM: Final = "\ufeff"  # what some editors put before the first line
LINE_END: Final = re.compile(r"\r\n?|\n")
BLANK: Final = " \t\r\n"  # what makes a line blank in Markdown
MAX_CONTEXT: Final = 300


class Lines:
    """Where each line begins (`starts`) and where it ends without its line end (`ends`).

    A lone carriage return ends a line too. Numbers count from 1.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins."""
        text = self._text
        # Each line is as long as it is with all but one sign of its line end.
        lines = (text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text).split("\n")
        found = [0, *map(add, accumulate(map(len, lines)), count(1))]
        found.pop()
        return found

    @cached_property
    def ends(self) -> list[int]:
        """Where each line ends, its line end left out."""
        text = self._text
        found = [start - 1 for start in self.starts[1:]]
        if "\r\n" in text:
            found = [end - text.startswith("\r\n", end - 1) if end else end for end in found]
        found.append(len(text))
        return found

    def number(self, offset: int) -> int:
        """The number of the line at `offset`."""
        return bisect_right(self.starts, offset)

    def context(self, start: int, end: int) -> str:
        """The line of `start`, stripped; of a long line the part around the link."""
        index = bisect_right(self.starts, start) - 1
        first, last = self.starts[index], self.ends[index]
        if last - first > MAX_CONTEXT:
            spare = max(0, MAX_CONTEXT - (end - start)) // 2
            first = max(first, min(start - spare, last - MAX_CONTEXT))
        return self._text[first : min(last, first + MAX_CONTEXT)].strip()
