"""The figures of a retrieval evaluation: recall, nDCG and MRR of each way in each set, and what fusing is worth.

Per question first, so that intervals come from resampling the questions and differences are paired.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from infold.evaluation.intervals import Interval, Resampling
from infold.evaluation.retrieval.records import AskedQuestion, SetResult

WAYS: Final = ("grep", "bm25", "dense", "hybrid")
TITLES: Final = {"grep": "grep, rarest word", "bm25": "BM25", "dense": "embeddings", "hybrid": "hybrid"}
HALVES: Final = ("bm25", "dense")
MAIN: Final = "ndcg_10"  # the figure that ways are compared by
AT: Final = 10


def recall(depth: int) -> Callable[[AskedQuestion, str], float]:
    """The share of a question's answers among the first `depth`."""
    return lambda asked, way: sum(rank <= depth for rank in asked.ranks.get(way, {}).values()) / len(asked.relevant)


def ndcg(asked: AskedQuestion, way: str) -> float:
    """The discounted gain of the first ten beside the best there could be, with grades as gains."""
    gain = sum(
        asked.relevant[unit] / math.log2(rank + 1) for unit, rank in asked.ranks.get(way, {}).items() if rank <= AT
    )
    best = sorted(asked.relevant.values(), reverse=True)[:AT]
    return gain / sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))


def reciprocal(asked: AskedQuestion, way: str) -> float:
    """One over the rank of the first answer; 0 where none was found."""
    return 1 / min(asked.ranks.get(way, {}).values(), default=math.inf)


MEASURES: Final[dict[str, tuple[str, Callable[[AskedQuestion, str], float]]]] = {
    "recall_1": ("recall@1", recall(1)),
    "recall_5": ("recall@5", recall(5)),
    "recall_10": ("recall@10", recall(10)),
    MAIN: ("nDCG@10", ndcg),
    "mrr": ("MRR", reciprocal),
}


@dataclass(frozen=True, slots=True)
class SetFigures:
    """The figures of one set: by way and measure the mean over its questions, and intervals of the main one.

    `lead` is the hybrid's nDCG@10 less that of its better half, on the same questions.
    """

    result: SetResult
    values: dict[str, dict[str, float]]
    intervals: dict[str, Interval]
    better_half: str
    lead: float
    lead_interval: Interval

    @property
    def misses(self) -> tuple[AskedQuestion, ...]:
        """The questions of which the hybrid has no answer among its first ten, those that another way has first."""
        wrong = [asked for asked in self.result.asked if recall(AT)(asked, "hybrid") == 0]
        return tuple(sorted(wrong, key=lambda asked: min((_rank(asked, way) for way in HALVES), default=math.inf)))


def set_figures(result: SetResult, resamples: int) -> SetFigures:
    """Adds a set up; it must have questions."""
    count = len(result.asked)
    resampling = Resampling([count], resamples)
    each = {way: [ndcg(asked, way) for asked in result.asked] for way in WAYS}
    values = {
        way: {
            name: math.fsum(measure(asked, way) for asked in result.asked) / count
            for name, (_, measure) in MEASURES.items()
        }
        for way in WAYS
    }
    better = max(HALVES, key=lambda way: values[way][MAIN])
    return SetFigures(
        result=result,
        values=values,
        intervals={way: _of(resampling, found) for way, found in each.items()},
        better_half=better,
        lead=values["hybrid"][MAIN] - values[better][MAIN],
        lead_interval=resampling.difference((each["hybrid"], [1] * count), (each[better], [1] * count)),
    )


def _of(resampling: Resampling, found: Sequence[float]) -> Interval:
    return resampling.share(found, [1] * len(found))


def _rank(asked: AskedQuestion, way: str) -> float:
    return min(asked.ranks.get(way, {}).values(), default=math.inf)
