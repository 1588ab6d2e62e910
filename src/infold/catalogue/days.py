"""The day a note is of, and what says so: its name, its front matter, or, for want of both, the time of its file."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from infold.vault.daily_notes import daily_notes
from infold.vault.names import stem

if TYPE_CHECKING:  # workers do without the settings
    from infold.settings import NotebookParams

DATE_KEYS: Final = ("date", "created")  # of front matter, the first that holds a day
_DAY_NS: Final = 24 * 60 * 60 * 1_000_000_000
_DAY_ONE: Final = date(1970, 1, 1).toordinal()
_DAY: Final = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")


class DayFrom(StrEnum):
    """What a note's day is taken from. FILE is of this machine: when the file was first seen, or was written."""

    NAME = "name"
    FRONT_MATTER = "front_matter"
    FILE = "file"


def day_in_name(root: Path, params: NotebookParams) -> Callable[[str], str | None]:
    """The rule that tells the ISO day in a note's path: as the vault names its daily notes, else any ISO date in it."""
    daily = daily_notes(root, params)

    def day(path: str) -> str | None:
        named = daily.day(path)
        return named.isoformat() if named is not None else first_day(stem(path))

    return day


def day_in_front_matter(values: dict[str, Any]) -> str | None:
    """The ISO day that front matter gives a note; None where it gives none that exists."""
    for key in DATE_KEYS:
        found = _DAY.match(str(values.get(key, "")).strip())
        if found and (day := first_day(found[0])):
            return day
    return None


def day_of_file(moment_ns: int) -> int:
    """The day of a file's time in UTC, counted from the first of 1970."""
    return moment_ns // _DAY_NS


def written_day(number: int) -> str:
    """The ISO day of such a number."""
    return date.fromordinal(_DAY_ONE + number).isoformat()


def first_day(text: str) -> str | None:
    """The first ISO date in a text that is a day; None where there is none."""
    for found in _DAY.finditer(text):
        try:
            return date.fromisoformat(found[0]).isoformat()
        except ValueError:
            continue  # a day that does not exist
    return None
