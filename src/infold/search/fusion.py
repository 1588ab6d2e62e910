"""Making one ranking of two: by reciprocal rank for passages, by relative score for notes. Pure functions.

Fused here and not in the engine: Qdrant divides ranks by the weight of a leg, 1 / (k + rank / weight), by which the top
of a leg of small weight still counts almost fully, while the weight here scales all that the leg adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from infold.search.index import Hit

RRF_K: Final = 60

Leg = tuple[Sequence[Hit], float]


def by_rank(legs: Sequence[Leg], limit: int) -> list[Hit]:
    """The passages of all legs, best first: each adds weight / (60 + rank), ranks counting from 1."""
    scores: dict[tuple[str, int, int], float] = {}
    hits: dict[tuple[str, int, int], Hit] = {}
    for found, weight in legs:
        if weight <= 0:
            continue
        for rank, hit in enumerate(found, 1):
            key = hit.path, hit.start_line, hit.end_line
            scores[key] = scores.get(key, 0.0) + weight / (RRF_K + rank)
            hits.setdefault(key, hit)
    best = sorted(scores, key=lambda key: (-scores[key], key))[: max(limit, 0)]
    return [replace(hits[key], score=scores[key]) for key in best]


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
