"""The time that a question names. Loaded where `query_parser.may_name_time`: reading it takes milliseconds to load."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from infold.search.query.query_parser import bare_words
from infold.vault.named_times import meant_period
from infold.vault.periods import Period

_HAPPENED: Final = frozenset("happen happened going note notes write wrote written new".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class AskedTime:
    """The time that a question names; `is_all` where it asks for nothing else ("what happened yesterday?")."""

    period: Period
    is_all: bool


def asked_time(text: str, asked_on: date | None) -> AskedTime | None:
    """The time that a question names, counted from the day `asked_on`, by default today; None where it names none."""
    found = meant_period(text, asked_on or date.today())  # noqa: DTZ011 - the person's own day
    if found is None:
        return None
    period, rest = found
    return AskedTime(period, is_all=_HAPPENED.issuperset(bare_words(rest)))
