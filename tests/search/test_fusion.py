"""Making one ranking of two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.search.index.contract import Hit, ScoredHits
from infold.search.query.fusion import KEYWORD, MEANING, Ranking, by_relative_score, by_strength, fuse, telling


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
    words = ScoredHits.of(hits(("a", 10), ("b", 1.1), ("c", 0.9)))
    assert [hit.path for hit in telling(words, 0.1).scored] == ["a", "b"]
    assert telling(ScoredHits.of([])) == ScoredHits.of([])
    near = ScoredHits.of(hits(("a", 0.5), ("b", 0.4), ("c", 0.3)))
    assert [(hit.path, hit.score) for hit in near.above(0.4).scored] == [("a", 0.5), ("b", 0.4)]
    assert near.above(0.3) == near
    assert not near.above(0.6).hits


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


def strongest(words: list[Hit], meaning: list[Hit], weight: float = 0.3, *, floor: float = 0.0) -> list[str]:
    rankings = [Ranking(KEYWORD, words, 1.0), Ranking(MEANING, meaning, weight, floor)]
    return [ranked.hit.path for ranked in by_strength(rankings)]


def test_a_clear_winner_by_words_keeps_its_lead():
    """What stands out by its words is not overturned by meaning that is close to a tie, as by ranks it would be."""
    words = hits(("a", 20), ("b", 9), ("c", 8))
    meaning = hits(("c", 0.53), ("b", 0.52), ("d", 0.51), ("a", 0.5))
    assert strongest(words, meaning, 1.0, floor=0.4)[0] == "a"
    assert fused((words, 1.0), (meaning, 1.0))[0][0] != "a"


def test_a_tie_by_words_is_settled_by_meaning():
    """Where words cannot tell, what is clearly nearer in meaning comes first, with a small weight already."""
    words = hits(("a", 10), ("b", 9.9), ("c", 9.8))
    meaning = hits(("b", 0.8), ("c", 0.45), ("a", 0.41))
    assert strongest(words, meaning, 0.3, floor=0.4)[0] == "b"


def test_meaning_that_hardly_tells_hardly_counts():
    """The cosine above the floor counts as it is: the same order a little above the floor decides nothing."""
    words = hits(("a", 10), ("b", 9), ("c", 1))
    near_floor = hits(("b", 0.42), ("a", 0.40))
    assert strongest(words, near_floor, 0.3, floor=0.4)[0] == "a"


def test_a_note_that_several_passages_speak_for_rises():
    """Of two passages alike the one whose note has other good passages comes first."""
    lone, backed = Hit("z", 1, 2, (), 10.0), Hit("a", 1, 2, (), 10.0)
    others = [Hit("z", 5, 9, (), 8.0), Hit("z", 12, 19, (), 8.0)]
    ranked = list(by_strength([Ranking(KEYWORD, [backed, lone, *others], 1.0)]))
    assert ranked[0].hit.path == "z"


def test_a_passage_found_by_its_note_alone_says_so():
    """Evidence has rank 0 where a ranking holds other passages of the note but not this one."""
    words = [Hit("a", 5, 9, (), 10.0)]
    meaning = [Hit("a", 1, 2, (), 0.8)]
    last = list(by_strength([Ranking(KEYWORD, words, 1.0), Ranking(MEANING, meaning, 0.3, 0.4)]))[-1]
    assert [(part.name, part.rank) for part in last.evidence] == [("keyword", 0), ("dense", 1)]
    assert sum(part.share for part in last.evidence) == pytest.approx(last.hit.score)


once = scored.map(lambda found: list({hit.path: hit for hit in found}.values()))  # a leg gives a passage once


@given(once, once, st.floats(0, 2), st.floats(0, 1))
def test_strengths_are_shares_of_the_best(words: list[Hit], meaning: list[Hit], weight: float, base: float):
    """Whatever the legs give, each passage comes once, scores fall from at most 1, evidence adds up to them."""
    ranked = list(by_strength([Ranking(KEYWORD, words, 1.0), Ranking(MEANING, meaning, weight, base)]))
    assert len({(r.hit.path, r.hit.start_line) for r in ranked}) == len(ranked)
    found = [r.hit.score for r in ranked]
    assert found == sorted(found, reverse=True)
    assert all(0 <= score <= 1 for score in found)
    assert all(sum(part.share for part in r.evidence) == pytest.approx(r.hit.score, abs=1e-6) for r in ranked)


places = st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=6)


@given(places, places, st.floats(0.01, 2), st.sampled_from("abcdef"))
def test_first_in_both_is_first(words: list[str], meaning: list[str], weight: float, best: str):
    """A passage that leads both legs leads the fused ranking, with score 1."""
    one = hits((best, 50.0), *((path, 40.0 - n) for n, path in enumerate(words) if path != best))
    two = hits((best, 0.9), *((path, 0.8 - n / 20) for n, path in enumerate(meaning) if path != best))
    ranked = list(by_strength([Ranking(KEYWORD, one, 1.0), Ranking(MEANING, two, weight, 0.3)]))
    assert ranked[0].hit.path == best
    assert ranked[0].hit.score == pytest.approx(1.0)


@given(scored, scored)
def test_weight_nought_is_words_alone(words: list[Hit], meaning: list[Hit]):
    """A leg with weight 0 neither adds a passage nor moves one."""
    alone = list(by_strength([Ranking(KEYWORD, words, 1.0)]))
    assert list(by_strength([Ranking(KEYWORD, words, 1.0), Ranking(MEANING, meaning, 0.0)])) == alone


@given(st.permutations("abcdef"), st.sampled_from("abcdef"), st.booleans())
def test_a_leg_that_cannot_tell_does_no_harm(order: list[str], answer: str, words_know: bool):
    """Where one leg finds everything alike, the answer ranks as high as in the other, whichever that is."""
    if words_know:
        words, meaning = hits(*((path, 20.0 - n) for n, path in enumerate(order))), hits(*((p, 0.5) for p in "abcdef"))
    else:
        words, meaning = (
            hits(*((p, 7.0) for p in "abcdef")),
            hits(*((path, 0.9 - n / 20) for n, path in enumerate(order))),
        )
    assert strongest(words, meaning, 0.3, floor=0.4).index(answer) <= order.index(answer)


def test_further_passages_of_a_note_make_way():
    """A passage of another note that is hardly worse comes before the third one of the best note, and shares still add up."""
    of_one = [Hit("a", line, line + 1, (), score) for line, score in ((1, 10.0), (5, 9.9), (9, 9.8))]
    ranked = list(by_strength([Ranking(KEYWORD, [*of_one, Hit("b", 1, 2, (), 14.5)], 1.0)]))
    places = [(one.hit.path, one.hit.start_line) for one in ranked]
    assert places[0] == ("b", 1)
    alone = list(by_strength([Ranking(KEYWORD, of_one, 1.0)]))
    first, second = (one.hit.score for one in alone[:2])
    assert second < first * 9.9 / 10 * 0.98
    assert all(sum(part.share for part in one.evidence) == pytest.approx(one.hit.score) for one in [*ranked, *alone])
