"""Making one ranking of two: by reciprocal rank for passages, by relative score for notes. Pure functions.

Fused here and not in the engine: Qdrant divides ranks by the weight of a leg, 1 / (k + rank / weight), by which the top
of a leg of small weight still counts almost fully, while the weight here scales all that the leg adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from infold.search.index import Hit

RRF_K: Final = 60
WEAKEST_SHARE: Final = 0.1  # of the best keyword score; below it a passage shares no word that tells anything

Leg = tuple[Sequence[Hit], float]
Place = tuple[str, int, int, str]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one kind of search found, best first, and what it weighs beside the others."""

    name: str
    hits: Sequence[Hit]
    weight: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a passage ranks where it does: its place and score in one ranking, and what that added to its score."""

    name: str
    rank: int
    score: float
    weight: float
    share: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage in the fused ranking; the score of `hit` is from 0 to 1."""

    hit: Hit
    evidence: tuple[Evidence, ...]


def fuse(rankings: Sequence[Ranking], k: int = RRF_K) -> list[Ranked]:
    """The passages of all rankings, best first, by weighted reciprocal rank (spec 3, Appendix A).

    Scores are scaled so that a passage which is first in every ranking that found anything has 1: each ranking adds
    weight * (k + 1) / (k + rank), over the sum of the weights of those rankings.
    """
    counting = [ranking for ranking in rankings if ranking.weight > 0 and ranking.hits]
    total = sum(ranking.weight for ranking in counting)
    hits: dict[Place, Hit] = {}
    evidence: dict[Place, list[Evidence]] = {}
    for ranking in counting:
        for rank, hit in enumerate(ranking.hits, 1):
            share = ranking.weight * (k + 1) / (k + rank) / total
            hits.setdefault(_place(hit), hit)
            evidence.setdefault(_place(hit), []).append(Evidence(ranking.name, rank, hit.score, ranking.weight, share))
    scores = {place: sum(part.share for part in parts) for place, parts in evidence.items()}
    best = sorted(scores, key=lambda place: (-scores[place], place))
    return [Ranked(replace(hits[place], score=min(scores[place], 1.0)), tuple(evidence[place])) for place in best]


def telling(hits: Sequence[Hit], weakest_share: float = WEAKEST_SHARE) -> list[Hit]:
    """The hits of a keyword search that are worth showing beside the best of them."""
    return [hit for hit in hits if hit.score >= weakest_share * hits[0].score]


def near(hits: Sequence[Hit], floor: float) -> list[Hit]:
    """The hits of a search by meaning that are nearer than unrelated texts are to each other."""
    return [hit for hit in hits if hit.score >= floor]


def by_relative_score(legs: Sequence[Leg], limit: int) -> list[str]:
    """The paths of the notes of all legs, best first: each by its best passage, relative to the best of the leg."""
    fused: dict[str, float] = {}
    for found, weight in legs:
        scores = best_scores(found)
        top = max(scores.values(), default=0.0)
        if weight <= 0 or top <= 0:
            continue
        for path, score in scores.items():
            fused[path] = fused.get(path, 0.0) + weight * max(score, 0.0) / top
    return sorted(fused, key=lambda path: (-fused[path], path))[: max(limit, 0)]


def best_scores(hits: Sequence[Hit]) -> dict[str, float]:
    """The best score of each note among these hits."""
    best: dict[str, float] = {}
    for hit in hits:
        best[hit.path] = max(best.get(hit.path, hit.score), hit.score)
    return best


def _place(hit: Hit) -> Place:
    """Where it stands: in a file by its lines, else (a memory node has none) by what it is."""
    return hit.path, hit.start_line, hit.end_line, "" if hit.start_line else hit.id
