"""The five fields of a cron schedule, checked where they are written: what is wrong is said before anything starts."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: Final = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)


def check_cron(said: str | None) -> str | None:
    """`said`, where it is five cron fields; None and '' are no schedule (None).

    A field is `*`, a number, a name of a month or a day, a range, or several with commas, each with or without `/step`.
    Raises ValueError that names the field.
    """
    fields = (said or "").split()
    if not fields:
        return None
    if len(fields) != len(_FIELDS):
        raise ValueError(f"{said!r} is no schedule: it takes five fields, such as '0 6 * * *' for every day at six")
    for text, (name, low, high, names) in zip(fields, _FIELDS, strict=True):
        for item in text.split(","):
            if not _is_item(item, low, high, names):
                raise ValueError(f"{item!r} is no {name} of a schedule: it goes from {low} to {high}")
    return " ".join(fields)


def _is_item(item: str, low: int, high: int, names: tuple[str, ...]) -> bool:
    span, slash, step = item.partition("/")
    if slash and not (step.isdecimal() and step.isascii() and 1 <= int(step) <= high):
        return False
    if span == "*":
        return True
    first, dash, last = span.partition("-")
    start, end = _number(first, low, high, names), _number(last, low, high, names) if dash else None
    return start is not None and (not dash or (end is not None and start <= end))


def _number(text: str, low: int, high: int, names: tuple[str, ...]) -> int | None:
    if text.lower() in names:
        return names.index(text.lower()) + (low if len(names) == high else 0)
    return int(text) if text.isascii() and text.isdecimal() and low <= int(text) <= high else None


Cron = Annotated[str | None, AfterValidator(check_cron)]
