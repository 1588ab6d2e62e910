"""Figures against cases counted by hand."""

from __future__ import annotations

import pytest

from infold.evaluation.figures import damaged, f1, figures, leads, lost, pair_counts
from infold.evaluation.intervals import Resampling
from infold.librarian.spend import Usage
from tests.evaluation.conftest import arm, result, verdict

RIGHT = {"bm25": "a.md", "dense": "b.md", "grep": None}


def by_hand():
    """Eight cuts of one run, two copies and two reworded copies of another: the truth is in the endings."""
    cuts = [
        verdict(1, "home", viewed=("i.md", "a.md"), checked_out=("a.md",), guesses=RIGHT),
        verdict(2, "home", viewed=("a.md",), checked_out=("a.md",)),
        verdict(3, "other section", viewed=("a.md",), checked_out=("a.md",), guesses=RIGHT),
        verdict(4, "elsewhere", viewed=("a.md", "b.md"), checked_out=("b.md",), file="b.md"),
        verdict(5, "elsewhere", viewed=("b.md",), checked_out=("b.md",), guesses=RIGHT),
        verdict(6, "left", reason="no"),
        verdict(7, "false duplicate", file="b.md"),
        verdict(8, "repeat", file="b.md", is_lost=True),
    ]
    copies = [
        verdict(1, "duplicate", kind="copy"),
        verdict(2, "elsewhere", kind="copy"),
        verdict(3, "duplicate", kind="reworded"),
        verdict(4, "left", kind="reworded"),
    ]
    return arm(
        result(*cuts, damaged=("a.md",), usage=Usage(calls=2, prompt_tokens=5, completion_tokens=1, usd=0.5)),
        result(*copies, seed=1, usage=Usage(calls=1, prompt_tokens=1, completion_tokens=1, usd=0.25)),
    )


@pytest.mark.parametrize(
    "name, value, count",
    [
        ("home", 3 / 8, 8),
        ("section", 2 / 3, 3),
        ("viewed", 4 / 8, 8),
        ("opened", 3 / 8, 8),
        ("copies", 1 / 2, 2),
        ("reworded", 1 / 2, 2),
        ("elsewhere", 2 / 8, 8),
        ("left", 1 / 8, 8),
        ("false_duplicates", 1 / 8, 8),
        ("repeats", 1 / 8, 8),
        ("bm25", 3 / 8, 8),
        ("dense", 0, 8),
        ("grep", 0, 8),
    ],
)
def test_each_share_is_what_a_person_counts(name, value, count):
    """Numerator and denominator of every share, on a case small enough to count."""
    found = figures(by_hand(), Resampling([8, 4], 100))[name]
    assert (found.value, found.count) == (pytest.approx(value), count)
    low, high = found.interval
    assert 0 <= low <= found.value <= high <= 1


def test_loss_damage_and_cost_are_sums():
    """Over all runs of the arm."""
    assert (lost(by_hand()), damaged(by_hand())) == (1, 1)
    assert by_hand().usage == Usage(calls=3, prompt_tokens=6, completion_tokens=2, usd=0.75)


def test_a_lead_is_the_difference_on_the_same_paragraphs():
    """Home less each baseline, of the same eight."""
    found = {lead.name: lead.value for lead in leads(by_hand(), Resampling([8, 4], 100))}
    assert found == {"bm25": pytest.approx(0), "dense": pytest.approx(3 / 8), "grep": pytest.approx(3 / 8)}


def test_grouping_is_pairwise():
    """Four paragraphs, two of one section, three of one note; chunks of two and two: counted by hand."""
    case = result(
        verdict(1, chunk=1, trail=("A", "x")),
        verdict(2, chunk=1, trail=("A", "x")),
        verdict(3, chunk=2, trail=("A", "y")),
        verdict(4, chunk=2, path="b.md"),
        verdict(5, chunk=2, kind="reworded"),
        verdict(6, "left", chunk=None, path="c.md"),
    )
    assert pair_counts(case, "section") == {"grouped": 2, "true": 1, "both": 1}
    assert pair_counts(case, "note") == {"grouped": 2, "true": 3, "both": 1}
    assert f1(pair_counts(case, "section")) == pytest.approx(2 / 3)
    assert f1(pair_counts(case, "note")) == pytest.approx(2 / 5)


def test_nothing_to_take_a_share_of_is_no_figure():
    """An arm without copies has no share of copies, instead of zero or an error; without pairs it has no F1."""
    found = figures(arm(result(verdict(1))), Resampling([1], 100))
    assert (found["copies"].value, found["copies"].interval) == (None, (None, None))
    assert found["grouping_note"].value is None
