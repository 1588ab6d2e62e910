"""A question that names a time: what is of that time is preferred, and nothing left out."""

from __future__ import annotations

from datetime import date

import pytest

from infold.search.index.contract import Filter
from infold.search.query.asked_time import asked_time
from infold.search.query.query_parser import MOST_WORDS, TIME_BEGINNINGS, may_name_time
from infold.vault.date_words import DATE_WORDS
from infold.vault.named_times import beginnings

TODAY = date(2026, 5, 13)


@pytest.fixture
def searcher(place):
    """Ana speaks of a roof on two days and in a note without one; on another day of something else."""
    for day in ("2026-05-03", "2026-04-10"):
        place.write(f"daily/{day}.md", "Ana says the roof of the shed leaks again.\n")
    place.write("daily/2026-05-12.md", "Soup, and a long walk.\n")
    place.write("roof.md", "# Roof\n\nThe roof of the shed, what Ana says of the roof, and what the roof costs.\n")
    place.sync()
    with place.searcher() as opened:
        yield opened


@pytest.mark.parametrize(
    "question, first",
    [
        ("what did Ana say about the roof on 3 May?", "daily/2026-05-03.md"),
        ("what did Ana say about the roof in April?", "daily/2026-04-10.md"),
        ("the roof before 3 May", "daily/2026-04-10.md"),
        ("what happened yesterday?", "daily/2026-05-12.md"),
    ],
)
def test_what_is_of_the_time_comes_first(searcher, question, first):
    """The note of the day or month comes first, even one with no word of the question; the others follow."""
    found = [hit.path for hit in searcher.hybrid(question, 10, asked_on=TODAY)]
    assert found[0] == first
    if "roof" in question:
        assert {"roof.md", "daily/2026-05-03.md", "daily/2026-04-10.md"} <= set(found)


def test_filters_hold_beside_the_time(searcher):
    """What a filter leaves out does not come back by its date."""
    found = searcher.hybrid("the roof on 3 May", 10, Filter(until="2026-04-30"), TODAY)
    assert [hit.path for hit in found] == ["daily/2026-04-10.md"]


def test_without_a_time_the_day_is_nothing(searcher):
    """The same question asked on two days has one answer."""
    asked = [searcher.hybrid("what does Ana say about the roof", 10, asked_on=day) for day in (TODAY, date(2020, 1, 1))]
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    "question, is_all",
    [("what did I do yesterday?", True), ("what happened on 3 May", True), ("the roof on 3 May", False)],
)
def test_a_time_may_be_all_that_is_asked(question, is_all):
    """Words that only ask are no subject."""
    found = asked_time(question, TODAY)
    assert found is not None
    assert found.is_all is is_all


def test_a_long_text_is_no_question():
    """Times of a text that somebody wrote are its own."""
    assert may_name_time("what happened yesterday")
    assert not may_name_time("what happened yesterday " + "and so on " * MOST_WORDS)


def test_every_language_is_looked_at():
    """What is looked at first knows the beginnings of all words that name a time, so that none is passed over."""
    assert frozenset().union(*map(beginnings, DATE_WORDS)) == TIME_BEGINNINGS
    assert not may_name_time("the roof of the shed")
    assert all(map(may_name_time, ("上周", "3 May", "letzten Jänner", "火曜", "(yesterday)")))
