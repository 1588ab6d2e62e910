"""Hits in any tree traced up by parents: covered by a summary, raised by several children."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from infold.search.query.trace_up import RAISE_SHARE, trace_up

# root > (s: a summary > (a, b, c, d), p > (x, y, z))
PARENTS = {"s": "root", "p": "root", **dict.fromkeys("abcd", "s"), **dict.fromkeys("xyz", "p")}


def chain(node: str) -> list[str]:
    return [node, *(chain(PARENTS[node]) if node in PARENTS else [])]


def children(node: str) -> int:
    return sum(parent == node for parent in PARENTS.values())


def traced(scores: dict[str, float], *, raising: bool = True) -> list[tuple[str, float, list[str], bool]]:
    chains = {hit: chain(hit) for hit in scores}
    found = trace_up(scores, chains, lambda node: node == "s", children if raising else None)
    return [(one.id, round(one.score, 4), one.covered, one.is_raised) for one in found]


def test_a_summary_that_matches_covers_what_matches_below_it():
    """It has the best score of them, and names them; what stands elsewhere is a result of its own."""
    assert traced({"a": 0.9, "s": 0.4, "x": 0.5}) == [("s", 0.9, ["a"], False), ("x", 0.5, [], False)]


def test_several_children_raise_their_parent():
    """Three of them: the parent scores as the best of them and a tenth more for each other."""
    score = round(0.5 * (1 + 2 * RAISE_SHARE), 4)
    assert traced({"x": 0.5, "y": 0.4, "z": 0.3}) == [("p", score, ["x", "y", "z"], True)]
    assert len(traced({"x": 0.5, "y": 0.4, "z": 0.3}, raising=False)) == 3


def test_too_few_children_raise_nothing_and_a_root_is_never_raised():
    """Two hits stay two results; children of the root stay what they are."""
    assert [one[0] for one in traced({"x": 0.5, "y": 0.4})] == ["x", "y"]
    assert [one[0] for one in trace_root()] == ["k0", "k1", "k2", "k3"]


def trace_root() -> list[tuple[str]]:
    scores = {f"k{n}": 0.9 - n / 10 for n in range(4)}
    chains = {hit: [hit, "root"] for hit in scores}
    return [(one.id,) for one in trace_up(scores, chains, lambda _: False, lambda _: 4)]


@given(st.dictionaries(st.sampled_from(sorted(PARENTS)), st.floats(0.01, 1.0), min_size=1))
def test_every_hit_is_a_result_or_covered_by_one(scores: dict[str, float]):
    """None is lost and none is there twice, results are best first, and no score leaves 0 to 1."""
    found = traced(scores)
    named = [name for one in found for name in (one[0], *one[2])]
    assert set(named) >= set(scores)
    assert len(named) == len(set(named))
    assert [one[1] for one in found] == sorted((one[1] for one in found), reverse=True)
    assert all(0 < one[1] <= 1 for one in found)
