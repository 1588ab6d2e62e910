"""Making one ranking of two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.search.fusion import by_rank, by_relative_score
from infold.search.index import Hit


def hits(*scored: tuple[str, float]) -> list[Hit]:
    return [Hit(path, 1, 2, (), score) for path, score in scored]


def test_ranks_count_from_one_with_k_sixty():
    """Reciprocal rank fusion as the paper has it, each leg scaled by its weight."""
    fused = by_rank([(hits(("a", 9), ("b", 8)), 1.0), (hits(("b", 0.9), ("c", 0.1)), 0.5)], 5)
    assert [(hit.path, hit.score) for hit in fused] == [
        ("b", pytest.approx(1 / 62 + 0.5 / 61)),
        ("a", pytest.approx(1 / 61)),
        ("c", pytest.approx(0.5 / 62)),
    ]


def test_a_leg_without_weight_changes_nothing():
    """Weight 0 is the other leg alone, and an empty leg leaves the other."""
    words, meaning = hits(("a", 9), ("b", 8)), hits(("c", 0.9), ("b", 0.1))
    assert [hit.path for hit in by_rank([(words, 1), (meaning, 0)], 5)] == ["a", "b"]
    assert by_relative_score([(words, 1), (meaning, 0)], 5) == ["a", "b"]
    assert by_relative_score([([], 1), (meaning, 0.5)], 5) == ["c", "b"]
    assert by_rank([([], 1), ([], 1)], 5) == []
    assert by_relative_score([([], 1), ([], 1)], 5) == []


def test_notes_count_by_their_best_passage_relative_to_the_best():
    """Scores of different scales meet as shares of the best of their leg."""
    words = hits(("a", 10), ("a", 9), ("b", 8), ("c", 1))
    meaning = hits(("b", 0.8), ("c", 0.8), ("a", 0.1))
    assert by_relative_score([(words, 1), (meaning, 0.3)], 3) == ["b", "a", "c"]


scored = st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(-1, 50)), max_size=12).map(lambda s: hits(*s))


@given(scored, scored, st.floats(0, 2), st.integers(0, 8))
def test_no_more_than_asked_for_and_none_twice(words: list[Hit], meaning: list[Hit], weight: float, limit: int):
    """Whatever the legs give, results are distinct, within the limit, and fall in score."""
    fused = by_rank([(words, 1), (meaning, weight)], limit)
    assert len(fused) <= limit
    assert len({hit.path for hit in fused}) == len(fused)
    assert [hit.score for hit in fused] == sorted((hit.score for hit in fused), reverse=True)
    notes = by_relative_score([(words, 1), (meaning, weight)], limit)
    assert len(notes) == len(set(notes)) <= limit
