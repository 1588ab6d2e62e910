"""Making one ranking of two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.search.fusion import Ranking, by_relative_score, fuse, near, telling
from infold.search.index import Hit


def hits(*scored: tuple[str, float]) -> list[Hit]:
    return [Hit(path, 1, 2, (), score) for path, score in scored]


def fused(*legs: tuple[list[Hit], float], k: int = 60) -> list[tuple[str, float]]:
    rankings = [Ranking(str(n), found, weight) for n, (found, weight) in enumerate(legs)]
    return [(ranked.hit.path, ranked.hit.score) for ranked in fuse(rankings, k)]


def test_ranks_count_from_one_with_k_sixty():
    """Reciprocal rank fusion as the paper has it, each leg scaled by its weight, first in all legs being 1."""
    words, meaning = hits(("a", 9), ("b", 8)), hits(("b", 0.9), ("c", 0.1))
    most = 1.5 / 61
    assert fused((words, 1.0), (meaning, 0.5)) == [
        ("b", pytest.approx((1 / 62 + 0.5 / 61) / most)),
        ("a", pytest.approx(1 / 61 / most)),
        ("c", pytest.approx(0.5 / 62 / most)),
    ]


def test_first_in_all_that_found_anything_is_one():
    """The best possible place has score 1, with two legs, with one, and where one of two finds nothing."""
    words, meaning = hits(("a", 9), ("b", 8)), hits(("a", 0.9))
    for legs in [
        ((words, 1.0), (meaning, 0.3)),
        ((words, 1.0),),
        ((words, 1.0), ([], 0.3)),
        (([], 1.0), (meaning, 0.3)),
    ]:
        assert fused(*legs)[0] == ("a", pytest.approx(1.0))


def test_a_larger_constant_flattens_the_ranks():
    """`search.fusion_k` is the k of the formula: ranks differ the less the larger it is."""
    words = hits(("a", 9), ("b", 8))
    (_, sharp), (_, flat) = fused((words, 1), k=1)[1], fused((words, 1), k=1000)[1]
    assert sharp == pytest.approx(2 / 3)
    assert flat == pytest.approx(1001 / 1002)


def test_each_result_says_why():
    """Rank and score in every leg that found it, its weight, and what each added: together the score."""
    words, meaning = hits(("a", 9), ("b", 8)), hits(("b", 0.9))
    best = fuse([Ranking("keyword", words, 1.0), Ranking("dense", meaning, 0.5)])[0]
    assert [(part.name, part.rank, part.score, part.weight) for part in best.evidence] == [
        ("keyword", 2, 8, 1.0),
        ("dense", 1, 0.9, 0.5),
    ]
    assert sum(part.share for part in best.evidence) == pytest.approx(best.hit.score)


def test_a_leg_without_weight_changes_nothing():
    """Weight 0 is the other leg alone, and an empty leg leaves the other."""
    words, meaning = hits(("a", 9), ("b", 8)), hits(("c", 0.9), ("b", 0.1))
    assert [path for path, _ in fused((words, 1), (meaning, 0))] == ["a", "b"]
    assert by_relative_score([(words, 1), (meaning, 0)], 5) == ["a", "b"]
    assert by_relative_score([([], 1), (meaning, 0.5)], 5) == ["c", "b"]
    assert fused(([], 1), ([], 1)) == []
    assert by_relative_score([([], 1), ([], 1)], 5) == []


def test_weak_hits_are_no_answers():
    """A keyword hit counts beside the best one, a hit by meaning above what unrelated texts come to."""
    words = hits(("a", 10), ("b", 1.1), ("c", 0.9))
    assert [hit.path for hit in telling(words, 0.1)] == ["a", "b"]
    assert telling([]) == []
    assert [hit.path for hit in near(hits(("a", 0.5), ("b", 0.4), ("c", 0.3)), 0.4)] == ["a", "b"]


def test_notes_count_by_their_best_passage_relative_to_the_best():
    """Scores of different scales meet as shares of the best of their leg."""
    words = hits(("a", 10), ("a", 9), ("b", 8), ("c", 1))
    meaning = hits(("b", 0.8), ("c", 0.8), ("a", 0.1))
    assert by_relative_score([(words, 1), (meaning, 0.3)], 3) == ["b", "a", "c"]


scored = st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(-1, 50)), max_size=12).map(lambda s: hits(*s))


@given(scored, scored, st.floats(0, 2), st.integers(0, 8), st.integers(1, 200))
def test_no_more_than_asked_for_and_none_twice(words: list[Hit], meaning: list[Hit], weight: float, limit: int, k: int):
    """Whatever the legs give, results are distinct, fall in score, and no score leaves 0 to 1."""
    ranked = fuse([Ranking("keyword", words, 1), Ranking("dense", meaning, weight)], k)
    assert len({item.hit.path for item in ranked}) == len(ranked)
    scores = [item.hit.score for item in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    notes = by_relative_score([(words, 1), (meaning, weight)], limit)
    assert len(notes) == len(set(notes)) <= limit
