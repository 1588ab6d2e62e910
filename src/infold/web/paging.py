"""Long lists, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

ROWS_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class ListPage:
    """A part of a list, and where it stands in the whole: `first` and `last` count from 1, 0 of an empty one."""

    rows: Sequence[Any]
    number: int
    pages: int
    first: int
    last: int
    total: int


def page_of(rows: Sequence[Any], number: int, size: int = ROWS_SHOWN) -> ListPage:
    """Page `number` of the rows, counted from 1; past either end, the page at that end."""
    pages = max(1, -(-len(rows) // size))
    number = min(max(1, number), pages)
    start = (number - 1) * size
    shown = rows[start : start + size]
    return ListPage(shown, number, pages, min(start + 1, len(rows)), start + len(shown), len(rows))
