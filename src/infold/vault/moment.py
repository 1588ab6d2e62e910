"""Dates as Obsidian writes them: the format tokens of moment.js, from a moment to text and back to the day.

Pure functions. Names of months and weekdays are English: which language Obsidian runs in is not in the vault. Tokens
that are not listed here stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Final

_MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_WEEKDAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
_TOKEN: Final = re.compile(
    r"\[([^\[\]]*)\]|(YYYY|YY|GGGG|gggg|MMMM|MMM|MM|Mo|M|DDDD|DDD|Do|DD|D|dddd|ddd|dd|d|E|WW|W|ww|w|Q"
    r"|HH|H|hh|h|mm|m|ss|s|A|a|X)|(.)",
    re.DOTALL,
)
_WORDS: Final = r"[A-Za-z]+"
_PATTERNS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("YYYY", "GGGG", "gggg"), r"\d{4}"),
    **dict.fromkeys(("YY", "MM", "DD", "WW", "ww", "HH", "hh", "mm", "ss"), r"\d{2}"),
    **dict.fromkeys(("M", "D", "W", "w", "H", "h", "m", "s"), r"\d{1,2}"),
    **dict.fromkeys(("MMMM", "MMM", "dddd", "ddd", "dd", "A", "a"), _WORDS),
    **dict.fromkeys(("Mo", "Do"), r"\d{1,2}(?:st|nd|rd|th)"),
    **dict.fromkeys(("d", "E", "Q"), r"\d"),
    "DDDD": r"\d{3}",
    "DDD": r"\d{1,3}",
    "X": r"\d+",
}
_WRITTEN: Final[Mapping[str, Callable[[datetime], str]]] = {
    "YYYY": lambda at: f"{at.year:04}",
    "YY": lambda at: f"{at.year % 100:02}",
    "GGGG": lambda at: f"{at.isocalendar().year:04}",
    "gggg": lambda at: f"{(_saturday(at)).year:04}",
    "MMMM": lambda at: _MONTHS[at.month - 1],
    "MMM": lambda at: _MONTHS[at.month - 1][:3],
    "MM": lambda at: f"{at.month:02}",
    "Mo": lambda at: _ordinal(at.month),
    "M": lambda at: str(at.month),
    "DDDD": lambda at: f"{at.timetuple().tm_yday:03}",
    "DDD": lambda at: str(at.timetuple().tm_yday),
    "Do": lambda at: _ordinal(at.day),
    "DD": lambda at: f"{at.day:02}",
    "D": lambda at: str(at.day),
    "dddd": lambda at: _WEEKDAYS[at.weekday()],
    "ddd": lambda at: _WEEKDAYS[at.weekday()][:3],
    "dd": lambda at: _WEEKDAYS[at.weekday()][:2],
    "d": lambda at: str(at.isoweekday() % 7),
    "E": lambda at: str(at.isoweekday()),
    "WW": lambda at: f"{at.isocalendar().week:02}",
    "W": lambda at: str(at.isocalendar().week),
    "ww": lambda at: f"{_week(at):02}",
    "w": lambda at: str(_week(at)),
    "Q": lambda at: str((at.month + 2) // 3),
    "HH": lambda at: f"{at.hour:02}",
    "H": lambda at: str(at.hour),
    "hh": lambda at: f"{at.hour % 12 or 12:02}",
    "h": lambda at: str(at.hour % 12 or 12),
    "mm": lambda at: f"{at.minute:02}",
    "m": lambda at: str(at.minute),
    "ss": lambda at: f"{at.second:02}",
    "s": lambda at: str(at.second),
    "A": lambda at: "AM" if at.hour < 12 else "PM",
    "a": lambda at: "am" if at.hour < 12 else "pm",
    "X": lambda at: str(int(at.timestamp())),
}
_OF_A_TIME: Final = frozenset(("HH", "H", "hh", "h", "mm", "m", "ss", "s", "A", "a", "X"))


def written(at: datetime, pattern: str) -> str:
    """`at` in the format `pattern`, such as `YYYY/MM/YYYY-MM-DD` or `dddd, Do MMMM`. Text in [brackets] stays."""
    return "".join(
        _WRITTEN[found[2]](at) if found[2] else found[1] if found[3] is None else found[3]
        for found in _TOKEN.finditer(pattern)
    )


def day_in(text: str, pattern: str) -> date | None:
    """The day that `text` names in the format `pattern`; None where it names none, or where one is impossible."""
    tokens, form = _reader(pattern)
    found = form.fullmatch(text)
    if found is None:
        return None
    parts = dict(zip(tokens, found.groups(), strict=True))
    if any(parts[token] != value for token, value in zip(tokens, found.groups(), strict=True)):
        return None  # the same token twice, with different values
    try:
        day = _day(parts)
    except ValueError:
        return None
    if day is None:
        return None
    at = datetime.combine(day, time())
    told = all(_WRITTEN[token](at) == value for token, value in parts.items() if token not in _OF_A_TIME)
    return day if told else None


@lru_cache(maxsize=16)
def _reader(pattern: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """The tokens of a format in order, and what a text in that format looks like."""
    tokens: list[str] = []
    form = ""
    for found in _TOKEN.finditer(pattern):
        if found[2]:
            tokens.append(found[2])
            form += f"({_PATTERNS[found[2]]})"
        else:
            form += re.escape(found[1] if found[3] is None else found[3])
    return tuple(tokens), re.compile(form, re.DOTALL)


def _day(parts: Mapping[str, str]) -> date | None:
    if "GGGG" in parts and ("WW" in parts or "W" in parts):
        weekday = parts.get("E") or str(_weekday_number(parts) or 1)
        return date.fromisocalendar(int(parts["GGGG"]), int(parts.get("WW") or parts["W"]), int(weekday))
    year = int(parts["YYYY"]) if "YYYY" in parts else 2000 + int(parts["YY"]) if "YY" in parts else None
    if year is None:
        return None
    if ordinal := parts.get("DDDD") or parts.get("DDD"):
        return date(year, 1, 1) + timedelta(days=int(ordinal) - 1)
    month, day = _month_number(parts), _number(parts, "DD", "D", "Do")
    return date(year, month, day) if month and day else None


def _number(parts: Mapping[str, str], *tokens: str) -> int | None:
    found = next((parts[token] for token in tokens if token in parts), None)
    return int(found.rstrip("stndrh")) if found else None


def _month_number(parts: Mapping[str, str]) -> int | None:
    for token, length in (("MMMM", None), ("MMM", 3)):
        names = [name[:length] for name in _MONTHS]
        if parts.get(token) in names:
            return names.index(parts[token]) + 1
    return _number(parts, "MM", "M", "Mo")


def _weekday_number(parts: Mapping[str, str]) -> int | None:
    for token, length in (("dddd", None), ("ddd", 3), ("dd", 2)):
        names = [name[:length] for name in _WEEKDAYS]
        if parts.get(token) in names:
            return names.index(parts[token]) + 1
    return None


def _ordinal(number: int) -> str:
    end = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{end}"


def _saturday(at: datetime) -> datetime:
    """The last day of the week that `at` is in, weeks beginning on Sunday: the year it is in is the week's."""
    return at + timedelta(days=6 - at.isoweekday() % 7)


def _week(at: datetime) -> int:
    """The week of the year where weeks begin on Sunday and the first is the one with 1 January."""
    return (_saturday(at).timetuple().tm_yday - 1) // 7 + 1
