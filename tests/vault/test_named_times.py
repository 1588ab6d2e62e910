"""Times that a question names."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.vault.date_words import DATE_WORDS
from infold.vault.named_times import meant_period

TODAY = date(2026, 5, 13)  # a Wednesday


@pytest.mark.parametrize(
    "question, since, until",
    [
        ("What did Ana say on 3 May?", "2026-05-03", "2026-05-03"),
        ("what did we decide on May 3rd, 2025", "2025-05-03", "2025-05-03"),
        ("the roof on 14 June", "2025-06-14", "2025-06-14"),
        ("what happened in March", "2026-03-01", "2026-03-31"),
        ("in May", "2026-05-01", "2026-05-31"),
        ("notes of December", "2025-12-01", "2025-12-31"),
        ("notes from March 2024", "2024-03-01", "2024-03-31"),
        ("2026-04-03", "2026-04-03", "2026-04-03"),
        ("the log of 2026-04", "2026-04-01", "2026-04-30"),
        ("before 3 May", None, "2026-05-02"),
        ("since March", "2026-03-01", None),
        ("after 3 May", "2026-05-04", None),
        ("until 3 May", None, "2026-05-03"),
        ("what did I do yesterday", "2026-05-12", "2026-05-12"),
        ("the day before yesterday", "2026-05-11", "2026-05-11"),
        ("on Tuesday", "2026-05-12", "2026-05-12"),
        ("last Wednesday", "2026-05-06", "2026-05-06"),
        ("last week", "2026-05-04", "2026-05-10"),
        ("2 weeks ago", "2026-04-27", "2026-05-03"),
        ("a month ago", "2026-04-01", "2026-04-30"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("was hat sie am 3. Mai gesagt", "2026-05-03", "2026-05-03"),
        ("der Stand vom 3.5.2026", "2026-05-03", "2026-05-03"),
        ("was war vor 3 Tagen", "2026-05-10", "2026-05-10"),
        ("was war letzte Woche", "2026-05-04", "2026-05-10"),
        ("qu'a dit Ana le 3 mai", "2026-05-03", "2026-05-03"),
        ("les notes d'il y a 2 semaines", "2026-04-27", "2026-05-03"),
        ("qué dijo el lunes", "2026-05-11", "2026-05-11"),
        ("notas del 3 de mayo de 2025", "2025-05-03", "2025-05-03"),
        ("o que disse na segunda-feira", "2026-05-11", "2026-05-11"),
        ("5月3日说了什么", "2026-05-03", "2026-05-03"),
        ("2025年5月的笔记", "2025-05-01", "2025-05-31"),
        ("上周说了什么", "2026-05-04", "2026-05-10"),
        ("火曜日の会議", "2026-05-12", "2026-05-12"),
        ("昨日のメモ", "2026-05-12", "2026-05-12"),
    ],
)
def test_times_in_words(question: str, since: str | None, until: str | None):
    """A day, month or week in each language that has a row; without a year the last one that has begun."""
    found = meant_period(question, TODAY)
    assert found is not None
    assert found[0].days == (since, until)


@pytest.mark.parametrize(
    "question",
    ["may I eat the plums", "the mayor of the market", "what is a vault", "31 February", "version 3.5", "an hour", ""],
)
def test_what_names_no_time(question: str):
    """Words that only begin as a month does, and days that do not exist, name none."""
    assert meant_period(question, TODAY) is None


NAMES = " ".join(f"{row.months} {row.weekdays}" for row in DATE_WORDS.values()).replace("|", " ").split()
OTHERS = ["in", "on", "before", "3", "31", "1999", "99999", "ago", "weeks", "月", "日", "12"]
WORDS = st.sampled_from([*NAMES, *OTHERS])


@given(st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=40), st.dates(date(1900, 1, 1), date(2200, 1, 1)))
def test_any_text_is_read(text: str, today: date):
    """Whatever is asked on whatever day, there is a time that begins before it ends, or none."""
    found = meant_period(text, today)
    if found is not None and found[0].since and found[0].until:
        assert found[0].since <= found[0].until
