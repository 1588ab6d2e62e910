"""The time that a question may mean, in any language of `vault.date_words`: on 3 May, last Tuesday, 上周.

What is named without a year is the last such day or month that has begun. For whoever prefers what lies in that time: a
month may be a name, and a day may be what a note is about rather than when it was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache
from typing import Final

from infold.vault.date_words import DATE_SIGNS, DATE_WORDS
from infold.vault.periods import Period, bounded, month_of

_Form = tuple[re.Pattern[str], Callable[[Mapping[str, str | None], date], Period]]

_BOUNDS: Final = ("since", "after", "before", "until")
_UNITS: Final = ("weeks", "months", "years")
_SMALL: Final = {"two": 2, "three": 3}
_FULL_YEAR: Final = r"(?:19|20)\d\d"
_NUMBER: Final = r"(?P<number>\d{1,3}|an?|one|two|three|un[ae]?|eine[rmn]?|uma?)"


def meant_period(question: str, today: date) -> tuple[Period, str] | None:
    """The time that a question may mean, and what else it says, in lower case; None where it names no time.

    Of several times it is the one with the most words.
    """
    text = unicodedata.normalize("NFC", question).casefold()
    found = list(_meant(text, today))
    if not found:
        return None
    start, end, period = max(found, key=lambda each: each[1] - each[0])
    return period, f"{text[:start]} {text[end:]}"


def names_time(text: str) -> bool:
    """Whether a text tells when: a year, or a month with the number of its day or a word before it that says so."""
    return _told().search(text) is not None


@cache
def _told() -> re.Pattern[str]:
    rows = DATE_WORDS.values()
    month = "(?:" + "|".join(row.months.replace(" ", "|") for row in rows) + ")"
    before = "|".join(f"{row.within}|{row.since}|{row.after}|{row.before}|{row.until}" for row in rows)
    day = r"\d{1,2}(?:st|nd|rd|th|er|\.|º)?"
    return re.compile(
        rf"(?<!\w){_FULL_YEAR}(?!\w)|\b(?:{day} (?:de |of )?|(?:{before}) ){month}\b|\b{month} \d{{1,2}}\b|\d月",
        re.IGNORECASE,
    )


def _meant(text: str, today: date) -> Iterator[tuple[int, int, Period]]:
    """Each time that a text names, with where."""
    for pattern, read in _forms(text):
        for match in pattern.finditer(text):
            try:
                yield match.start(), match.end(), read(match.groupdict(), today)
            except (ValueError, OverflowError):
                continue  # a day that does not exist


def _forms(text: str) -> Iterator[_Form]:
    """The forms that may stand in a text: patterns of a language are made once a word begins as one of its own."""
    begun = {word[:3] for word in re.findall(r"\w+", text)}
    for language in DATE_WORDS:
        if not beginnings(language).isdisjoint(begun):
            yield from _spoken(language)
    if any(map(str.isdecimal, text)):
        yield from _NUMBERED
    if not text.isascii():
        yield from _signs()


@cache
def beginnings(language: str) -> frozenset[str]:
    """The first three letters of every word that names a time in a language."""
    words = DATE_WORDS[language]
    named = " ".join((words.months, words.weekdays, words.days, *words.units))
    either = re.sub(r"\(\?:[^()]*\)\??|(?<=\w)\w\?", "", named)  # endings that may follow
    days = (words.today.split()[-1], words.yesterday, words.day_before.split()[-1])
    said = re.split(r"[ |]", either) + [part for day in days for part in re.findall(r"\w+", day)]
    return frozenset(word[:3] for word in said)


@cache
def _spoken(language: str) -> tuple[_Form, ...]:
    """The forms of a language with spaces between words."""
    words = DATE_WORDS[language]
    bound = "|".join(f"(?P<{name}>{getattr(words, name)})" for name in _BOUNDS)
    month, weekday = _one_of("month", words.months), _one_of("weekday", words.weekdays)
    day = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
    year = rf"(?:,? (?:de |of )?(?P<year>{_FULL_YEAR}))"
    unit = "(?:" + "|".join(f"(?P<{name}>{said})" for name, said in zip(_UNITS, words.units, strict=True)) + ")"
    counted = f"(?:(?P<days>{words.days})|{unit})"
    forms = (
        (f"(?:(?:{bound}) )?{day} (?:de |of )?{month}{year}?", _dated),
        (rf"(?:(?:{bound}) )?{month} {day}(?!\d){year}?", _dated),
        (f"(?:(?:{bound}) )?{month}{year}", _dated),
        (f"(?:{bound}|{words.within}) {month}", _dated),
        (f"(?:{words.on}) {weekday}", _weekday),
        (words.last.format(unit=unit), _units_back(1)),
        (words.this.format(unit=unit), _units_back(0)),
        (words.ago.format(number=_NUMBER, unit=counted), _ago),
        (words.day_before, _days_back(2)),
        (words.yesterday, _days_back(1)),
        (words.today, _days_back(0)),
    )
    return tuple((re.compile(rf"(?<!\w)(?:{form})(?!\w)"), read) for form, read in forms)


@cache
def _signs() -> tuple[_Form, ...]:
    """The forms of Chinese and Japanese."""
    signs = DATE_SIGNS
    bound = "|".join(f"(?P<{name}>{getattr(signs, name)})" for name in _BOUNDS[:3])
    last, this = (
        "|".join(f"(?P<{name}>{said})" for name, said in zip(_UNITS, each, strict=True))
        for each in (signs.last, signs.this)
    )
    weekday = _one_of("weekday", signs.weekdays)
    forms = (
        (
            rf"(?:(?P<year>{_FULL_YEAR})年)?{_one_of('month', _MONTHS)}月(?:(?P<day>\d{{1,2}})[日号號])?(?:{bound})?",
            _dated,
        ),
        (f"(?:[周週]|星期|礼拜){weekday}", _weekday),
        (f"{weekday}曜", _weekday),
        (last, _units_back(1)),
        (this, _units_back(0)),
        (signs.day_before, _days_back(2)),
        (signs.yesterday, _days_back(1)),
        (signs.today, _days_back(0)),
    )
    return tuple((re.compile(form), read) for form, read in forms)


def _one_of(name: str, alternatives: str) -> str:
    """A pattern for one of them, of which each is a group of its own: its number is the group's."""
    return "(?:" + "|".join(f"(?P<{name}_{n}>{said})" for n, said in enumerate(alternatives.split(), 1)) + ")"


_MONTHS: Final = " ".join(rf"(?<!\d)0?{n}" for n in range(1, 13))


def _number(name: str, named: Mapping[str, str | None]) -> int:
    """Which of the alternatives stands there, from 1."""
    return next(int(key.removeprefix(name)) for key, said in named.items() if key.startswith(name) and said)


def _dated(named: Mapping[str, str | None], today: date) -> Period:
    """A month, with a day and a year where they are named, and what bounds it."""
    word = next((name for name in _BOUNDS if named.get(name)), "in")
    return bounded(word, _last(named.get("year"), _number("month_", named), named.get("day"), today))


def _last(year: str | None, month: int, day: str | None, today: date) -> Period:
    first = int(day or 1)
    in_year = int(year) if year else today.year - ((month, first) > (today.month, today.day))
    return _one_day(date(in_year, month, first)) if day else month_of(in_year, month)


def _numbered(named: Mapping[str, str | None], today: date) -> Period:
    return _last(named["year"], int(named["month"] or 0), named.get("day"), today)


_NUMBERED: Final[tuple[_Form, ...]] = (
    (re.compile(rf"(?<![\w-])(?P<year>{_FULL_YEAR})-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?![\w-])"), _numbered),
    (re.compile(rf"(?<![\w.])(?P<day>\d{{1,2}})\. ?(?P<month>\d{{1,2}})\. ?(?P<year>{_FULL_YEAR})(?!\w)"), _numbered),
)


def _weekday(named: Mapping[str, str | None], today: date) -> Period:
    """The last such day before today."""
    return _one_day(today - timedelta(days=(today.weekday() - _number("weekday_", named)) % 7 + 1))


def _days_back(back: int) -> Callable[[Mapping[str, str | None], date], Period]:
    return lambda _, today: _one_day(today - timedelta(days=back))


def _units_back(back: int) -> Callable[[Mapping[str, str | None], date], Period]:
    return lambda named, today: _whole(named, today, back)


def _ago(named: Mapping[str, str | None], today: date) -> Period:
    number = named["number"] or ""
    back = int(number) if number.isdecimal() else _SMALL.get(number, 1)
    return _one_day(today - timedelta(days=back)) if named["days"] else _whole(named, today, back)


def _whole(named: Mapping[str, str | None], today: date, back: int) -> Period:
    """The week, month or year so many before this one."""
    if named["weeks"]:
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return Period(monday, monday + timedelta(days=6))
    if named["months"]:
        number = today.year * 12 + today.month - 1 - back
        return month_of(number // 12, number % 12 + 1)
    return Period(date(today.year - back, 1, 1), date(today.year - back, 12, 31))


def _one_day(day: date) -> Period:
    return Period(day, day)
