"""What a sentence counts, measures and dates: each amount as a value that can be compared, whatever it is written like.

`5 min` and `300 seconds`, `1,200` and `1200`, `three` and `3`, `5 March 2024` and `2024-03-05` are the same here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

QuantityKind = Literal["number", "amount", "date"]
DateParts = tuple[int | None, int | None, int | None]

_UNITS: Final = {  # name of a unit to what it measures, and how many of the smallest there
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sekunde", "sekunden"), ("time", 1.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "minuten"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "stunde", "stunden"), ("time", 3600.0)),
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen"), ("time", 86_400.0)),
    **dict.fromkeys(("week", "weeks", "woche", "wochen"), ("time", 604_800.0)),
    **dict.fromkeys(("month", "months", "monat", "monate", "monaten"), ("time", 2_629_746.0)),
    **dict.fromkeys(("year", "years", "jahr", "jahre", "jahren"), ("time", 31_556_952.0)),
    **dict.fromkeys(("byte", "bytes"), ("bytes", 1.0)),
    **dict.fromkeys(("kb", "kib", "kilobyte", "kilobytes"), ("bytes", 1e3)),
    **dict.fromkeys(("mb", "mib", "megabyte", "megabytes"), ("bytes", 1e6)),
    **dict.fromkeys(("gb", "gib", "gigabyte", "gigabytes"), ("bytes", 1e9)),
    **dict.fromkeys(("tb", "tib", "terabyte", "terabytes"), ("bytes", 1e12)),
    **dict.fromkeys(("mm", "millimetre", "millimetres", "millimeter", "millimeters"), ("length", 0.001)),
    **dict.fromkeys(("cm", "centimetre", "centimetres", "centimeter", "centimeters"), ("length", 0.01)),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), ("length", 1.0)),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"), ("length", 1000.0)),
    **dict.fromkeys(("mile", "miles"), ("length", 1609.344)),
    **dict.fromkeys(("ft", "foot", "feet"), ("length", 0.3048)),
    **dict.fromkeys(("inch", "inches"), ("length", 0.0254)),
    **dict.fromkeys(("mg", "milligram", "milligrams"), ("mass", 0.001)),
    **dict.fromkeys(("g", "gram", "grams", "gramm"), ("mass", 1.0)),
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms", "kilogramm"), ("mass", 1000.0)),
    **dict.fromkeys(("lb", "lbs", "pound", "pounds"), ("mass", 453.59237)),
    **dict.fromkeys(("%", "percent", "prozent"), ("share", 0.01)),
    **dict.fromkeys(("€", "eur", "euro", "euros"), ("eur", 1.0)),
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), ("usd", 1.0)),
    **dict.fromkeys(("£", "gbp"), ("gbp", 1.0)),
    **dict.fromkeys(("°c", "celsius"), ("celsius", 1.0)),
    **dict.fromkeys(("px", "pixel", "pixels"), ("pixels", 1.0)),
}
_MANY: Final = {"thousand": 1e3, "k": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "tausend": 1e3}
_COUNTED: Final = (
    "zero",
    "",  # one, which is as often somebody
    "two zwei",
    "three drei",
    "four vier",
    "five fünf",
    "six sechs",
    "seven sieben",
    "eight acht",
    "nine neun",
    "ten zehn",
    "eleven elf",
    "twelve zwölf",
)
_WORDS: Final = {word: value for value, words in enumerate(_COUNTED) for word in words.split()} | {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "hundred": 100,
}
_NAMES_OF_MONTHS: Final = (
    "january jan januar",
    "february feb februar",
    "march mar märz",
    "april apr",
    "may mai",
    "june jun juni",
    "july jul juli",
    "august aug",
    "september sep sept",
    "october oct oktober",
    "november nov",
    "december dec dezember",
)
_MONTHS: Final = {name: number for number, names in enumerate(_NAMES_OF_MONTHS, start=1) for name in names.split()}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_NUMBER: Final = r"\d{1,3}(?:[,'\u202f\u00a0]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:,\d{1,2}(?!\d))?"
_PATTERN: Final = re.compile(
    rf"""
    (?P<iso>(?<!\d)\d{{4}}-\d{{2}}-\d{{2}}(?!\d))
    | (?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?P<month>{_MONTH})\b\.?(?:,?\s+(?P<year>\d{{4}}))?
    | (?P<month2>{_MONTH})\.?\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year2>\d{{4}}))?
    | (?P<month3>{_MONTH})\.?\s+(?P<year3>(?:1[5-9]|20)\d{{2}})\b
    | (?P<hour>(?<![\d:])[0-2]?\d:[0-5]\d(?![\d:]))
    | (?<![\w.,/#:-])(?P<before>[€$£])?\s?(?P<number>{_NUMBER})(?!\w*\d|\.\d|[-–]\d|(?:st|nd|rd|th|x)\b|番)
      (?:\s?(?P<many>thousand|millions?|billion|tausend|k\b))?(?:\s?(?P<unit>%|€|\$|£|°c|[a-zäöü]+))?
    | \b(?P<word>{"|".join(sorted(_WORDS, key=len, reverse=True))})\b(?:\s(?P<unit2>[a-z]+))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_AMOUNT: Final = re.compile(rf"\d|\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)  # any of them needs one of these
_HEDGED: Final = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|over|under|more than|less than|up to|at least|~"
    r"|etwa|rund|ca\.?|circa|fast|über)\s*\Z",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"(?:\b(?:step|chapter|version|figure|fig\.?|table|section|page|part|phase|level|issue|no\.?|number|week|day|lesson"
    r"|episode|volume|vol\.?|rule|season|grade|class|type|line|heading|h|appendix|article|note|example|option|kapitel"
    r"|seite|schritt|teil|abschnitt)|[#§v])\s*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount in a sentence, from `start` to `end`. `dimension` is what it measures; a date has `parts`."""

    kind: QuantityKind
    start: int
    end: int
    dimension: str
    value: float = 0.0
    parts: DateParts = (None, None, None)
    is_hedged: bool = False  # about, nearly, over: not meant to the last digit

    def is_same(self, other: Quantity) -> bool:
        """Whether both say the same: dates as far as both say, amounts but for what rounding does."""
        if self.kind == "date":
            return all(a is None or b is None or a == b for a, b in zip(self.parts, other.parts, strict=True))
        slack = 0.1 if self.is_hedged or other.is_hedged else 0.02 if self.dimension not in ("number", "year") else 0.0
        return abs(self.value - other.value) <= slack * max(abs(self.value), abs(other.value)) + 1e-9


def quantities(sentence: str) -> list[Quantity]:
    """The amounts of a sentence, in order. Numbers that name something (step 3, version 2) are none."""
    found: list[Quantity] = []
    if not _AMOUNT.search(sentence):
        return found
    for match in _PATTERN.finditer(sentence):
        quantity = _date(match) or _amount(match, sentence)
        if quantity is not None:
            found.append(quantity)
    return found


def _date(match: re.Match[str]) -> Quantity | None:
    if match["iso"]:
        year, month, day = (int(part) for part in match["iso"].split("-"))
        return Quantity("date", *match.span(), "date", parts=(year, month, day))
    name = match["month"] or match["month2"] or match["month3"]
    if not name:
        return None
    day_text = match["day"] or match["day2"]
    year_text = match["year"] or match["year2"] or match["year3"]
    parts = (int(year_text) if year_text else None, _MONTHS[name.lower()], int(day_text) if day_text else None)
    return Quantity("date", *match.span(), "date", parts=parts)


def _amount(match: re.Match[str], sentence: str) -> Quantity | None:
    start = match.start()
    before = sentence[max(0, start - 20) : start]
    if _NAMED.search(before):
        return None
    if match["hour"]:
        hours, minutes = match["hour"].split(":")
        return Quantity("number", *match.span(), "hour", int(hours) * 60.0 + int(minutes))
    if match["word"]:
        unit = (match["unit2"] or "").lower()
        end = match.end() if unit in _UNITS and len(unit) > 1 else match.end("word")
        dimension, factor = _UNITS[unit] if end == match.end() and unit in _UNITS else ("number", 1.0)
        return Quantity("number", start, end, dimension, _WORDS[match["word"].lower()] * factor)
    value = _value(match["number"]) * _MANY.get((match["many"] or "").lower(), 1.0)
    unit = match["before"] or (match["unit"] or "").lower()
    hedged = _HEDGED.search(before) is not None
    if unit in _UNITS:
        dimension, factor = _UNITS[unit]
        return Quantity("amount", *match.span(), dimension, value * factor, is_hedged=hedged)
    end = match.end("many") if match["many"] else match.end("number")
    if re.fullmatch(r"(?:1[5-9]|20)\d{2}", match["number"]) and not match["many"]:
        return Quantity("date", start, end, "date", parts=(int(match["number"]), None, None))
    return Quantity("number", start, end, "number", value, is_hedged=hedged)


def _value(written: str) -> float:
    plain = re.sub(r"['\u202f\u00a0]", "", written)
    whole = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain)
    return float(plain.replace(",", "" if whole else "."))
