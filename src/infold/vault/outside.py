"""Text from outside within a person's own notes: each of its paragraphs names its address, and is read by that.

A paragraph that was brought in ends with `(from outside, ADDRESS, DAY)`. What is from outside is the whole paragraph:
up to the blank lines around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BEGIN: Final = "(from outside, "
_MARK: Final = re.compile(r"\(from outside, (?P<url>[^\s()]+), \d{4}-\d\d-\d\d\)")
_BLANK: Final = re.compile(r"(?:\r\n|\r(?!\n)|\n)[ \t]*(?:\r\n|\r(?!\n)|\n)[ \t\r\n]*")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
LEFT_OUT: Final = "[a paragraph from outside is left out]"


@dataclass(frozen=True, slots=True)
class OutsideText:
    """A paragraph from outside, from `start` to `end` in characters, and the address it is from."""

    start: int
    end: int
    url: str


def outside_mark(url: str, day: str) -> str:
    """What a paragraph from outside ends with. Signs that would end the mark are written as in addresses."""
    safe = "".join(f"%{ord(sign):02X}" if sign in "() \t\r\n" else sign for sign in url)
    return f"{_BEGIN}{safe}, {day})"


def outside_marks(text: str) -> list[str]:
    """The marks in a text, as written."""
    return [mark[0] for mark in _MARK.finditer(text)] if _BEGIN in text else []


def outside_texts(text: str) -> list[OutsideText]:
    """The paragraphs of `text` that are from outside, in order; of several addresses in one the first counts."""
    found: list[OutsideText] = []
    if _BEGIN not in text:
        return found
    for start, end in _paragraphs(text):
        mark = _MARK.search(text, start, end)
        if mark is not None:
            found.append(OutsideText(start, end, mark["url"]))
    return found


def without_outside(text: str) -> str:
    """`text` with each paragraph from outside left out, which is said in its place; lines keep their numbers."""
    parts: list[str] = []
    at = 0
    for each in outside_texts(text):
        ends = "".join(_LINE_END.findall(text, each.start, each.end))
        parts += [text[at : each.start], LEFT_OUT, ends]
        at = each.end
    return "".join([*parts, text[at:]])


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for blank in _BLANK.finditer(text):
        yield at, blank.start()
        at = blank.end()
    yield at, len(text)
