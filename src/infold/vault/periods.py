"""Times that an English question names (last year, in 2024, since May 2025), and the question without them.

For a plan that leaves out what lies elsewhere; what a question may mean, in any language, `vault.named_times` reads.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

_MONTHS: Final = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_YEAR: Final = r"(?:19|20)\d\d"
_POINT: Final = (
    rf"(?P<year>{_YEAR})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?|(?P<name>{'|'.join(_MONTHS)}) (?P<of>{_YEAR})"
)
_NAMED: Final = re.compile(
    rf"\b(?P<word>in|during|from|of|since|after|before|until|till|on)\s+(?:{_POINT})(?!\w)", re.IGNORECASE
)
_COUNTED: Final = re.compile(
    r"\b(?:in |over |during )?the (?:last|past) (\d{1,4}) (day|week|month|year)s?\b", re.IGNORECASE
)
_RELATIVE: Final = re.compile(r"\b(?:(last|this) (year|month|week)|(yesterday|today))\b", re.IGNORECASE)
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class Period:
    """From a day to a day, both included; None is open."""

    since: date | None = None
    until: date | None = None

    @property
    def days(self) -> tuple[str | None, str | None]:
        """The first and the last as ISO days."""
        since, until = self.since, self.until
        return (since.isoformat() if since else None, until.isoformat() if until else None)


def read_period(question: str, today: date) -> tuple[Period, str]:
    """The time that a question names, and the question without it. A date that does not exist is no time."""
    for words, period in _FORMS:
        found = words.search(question)
        if found is None:
            continue
        try:
            meant = period(found, today)
        except (ValueError, OverflowError):
            continue
        return meant, " ".join(f"{question[: found.start()]} {question[found.end() :]}".split())
    return Period(), question


def _counted(found: re.Match[str], today: date) -> Period:
    return Period(today - timedelta(days=int(found[1]) * _DAYS[found[2].casefold()]), today)


def _relative(found: re.Match[str], today: date) -> Period:
    if found[3]:
        day = today - timedelta(days=found[3].casefold() == "yesterday")
        return Period(day, day)
    is_last, unit = found[1].casefold() == "last", found[2].casefold()
    if unit == "year":
        year = today.year - is_last
        return Period(date(year, 1, 1), date(year, 12, 31))
    if unit == "month":
        in_month = today.replace(day=1) - timedelta(days=1) if is_last else today
        return month_of(in_month.year, in_month.month)
    monday = today - timedelta(days=today.weekday() + 7 * is_last)
    return Period(monday, monday + timedelta(days=6))


def _named(found: re.Match[str], today: date) -> Period:  # noqa: ARG001 - the signature of all forms
    if found["name"]:
        meant = month_of(int(found["of"]), _MONTHS.index(found["name"].casefold()) + 1)
    elif found["day"]:
        day = date(int(found["year"]), int(found["month"]), int(found["day"]))
        meant = Period(day, day)
    elif found["month"]:
        meant = month_of(int(found["year"]), int(found["month"]))
    else:
        meant = Period(date(int(found["year"]), 1, 1), date(int(found["year"]), 12, 31))
    return bounded(found["word"].casefold(), meant)


def bounded(word: str, meant: Period) -> Period:
    """`meant`, after one of the words since, after, before, until and till; after another as it is."""
    first, last = meant.since, meant.until
    if word == "since":
        return Period(since=first)
    if word == "after":
        return Period(since=last + timedelta(days=1) if last else None)
    if word == "before":
        return Period(until=first - timedelta(days=1) if first else None)
    return Period(until=last) if word in ("until", "till") else meant


def month_of(year: int, month: int) -> Period:
    """From its first day to its last."""
    return Period(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Period]], ...]] = (
    (_COUNTED, _counted),
    (_RELATIVE, _relative),
    (_NAMED, _named),
)
