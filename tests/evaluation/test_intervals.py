"""Bootstrap intervals: they hold the truth about as often as they say, and are the same each time."""

from __future__ import annotations

import random

import pytest

from infold.evaluation.figures import pair_sets
from infold.evaluation.intervals import Resampling
from tests.evaluation.conftest import result, verdict


@pytest.mark.parametrize("spread", [0.0, 0.15], ids=["runs alike", "runs differ"])
def test_the_interval_of_a_share_holds_the_truth(spread):
    """Of 200 evaluations drawn from a known share, at least nine in ten intervals hold it; they are not just wide."""
    draw = random.Random(7)
    sizes = [24, 24, 24]
    held = 0
    widths = []
    resampling = Resampling(sizes, 400)
    for _ in range(200):
        rates = [min(1, max(0, draw.gauss(0.6, spread))) for _ in sizes]
        hits = [int(draw.random() < rate) for rate, size in zip(rates, sizes, strict=True) for _ in range(size)]
        low, high = resampling.share(hits, [1] * sum(sizes))
        held += low <= 0.6 <= high
        widths.append(high - low)
    assert held >= (0.93 if not spread else 0.82) * 200
    assert sum(widths) / len(widths) < (0.35 if not spread else 0.6)


def test_a_paired_difference_is_surer_than_two_figures():
    """Two arms that agree on nearly all paragraphs: the interval of the difference is far narrower than of either."""
    draw = random.Random(1)
    one = [int(draw.random() < 0.5) for _ in range(72)]
    other = [*one[:-3], *[1 - hit for hit in one[-3:]]]
    resampling = Resampling([24, 24, 24], 400)
    of = [1] * 72
    low, high = resampling.difference((other, of), (one, of))
    alone = resampling.share(one, of)
    assert high - low < (alone.high - alone.low) / 2
    assert resampling.difference((one, of), (one, of)) == (0, 0)


def test_intervals_are_the_same_each_time():
    """Equal verdicts give equal intervals, to the last digit."""
    hits, of = [1, 0, 1, 1, 0, 1], [1, 1, 1, 1, 0, 1]
    assert Resampling([3, 3], 500).share(hits, of) == Resampling([3, 3], 500).share(hits, of)


@pytest.mark.parametrize("hits, low, high", [(0, 0.0, 0.324), (8, 0.676, 1.0)])
def test_all_or_nothing_is_not_certainty(hits, low, high):
    """Eight of eight say less than eight hundred of eight hundred: Wilson's bound, which can be looked up."""
    interval = Resampling([8], 100).share([1] * hits + [0] * (8 - hits), [1] * 8)
    assert interval == (pytest.approx(low, abs=1e-3), pytest.approx(high, abs=1e-3))


def test_the_interval_of_f1_holds_f1():
    """Chunks that are right half of the time: the value lies within, and perfect chunks give 1 to 1."""
    half = result(*(verdict(n, chunk=n // 2 if n < 6 else n, path=f"{n // 2}.md") for n in range(12)))
    low, high = Resampling([12, 12], 400).f1([pair_sets(half, "note")] * 2)
    assert low < 2 / 3 < high
    right = result(*(verdict(n, chunk=n // 2, path=f"{n // 2}.md") for n in range(12)))
    assert Resampling([12], 400).f1([pair_sets(right, "note")]) == (1, 1)


def test_a_run_without_paragraphs_changes_nothing():
    """An empty run is no error."""
    assert Resampling([0, 4], 100).share([1, 1, 0, 0], [1] * 4).low is not None
