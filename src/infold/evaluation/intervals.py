"""How sure a figure is: bootstrap intervals over the paragraphs of an evaluation, run by run.

Paragraphs of one run share an inbox, its chunks and its vault, so they are not independent. Each resample therefore
draws runs first and then, within each run drawn, its paragraphs, both with replacement; with the three runs that are
usual this errs on the wide side. Seeded: equal verdicts give equal intervals. Two figures compared see the same draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

    Draws = npt.NDArray[Any]

COVERS: Final = 0.95
_Z: Final = 1.959964
_SEED: Final = 20_011


class Interval(NamedTuple):
    """The ends of a 95 % interval; None where there is nothing to be sure of."""

    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PairSets:
    """Pairs of verdict numbers (within one case, from 0) that are in one chunk, and that belong together."""

    size: int
    grouped: frozenset[tuple[int, int]]
    true: frozenset[tuple[int, int]]


class Resampling:
    """The draws for runs of these sizes (paragraphs each). All figures of one evaluation use one."""

    def __init__(self, sizes: Sequence[int], resamples: int) -> None:
        import numpy as np

        generator = np.random.default_rng(_SEED)
        sizes = list(sizes)
        self._sizes = sizes
        self._times = generator.multinomial(len(sizes), [1 / len(sizes)] * len(sizes), size=resamples)  # a run is drawn
        blocks = [
            generator.multinomial(self._times[:, run] * size, [1 / size] * size)
            for run, size in enumerate(sizes)
            if size
        ]
        self._weights: Draws = np.concatenate(blocks, axis=1) if blocks else np.zeros((resamples, 0))

    def share(self, hits: Sequence[float], of: Sequence[int]) -> Interval:
        """Of the ratio of two sums. Where all or none hit there is nothing to vary: Wilson's bound stands in."""
        count, hit = sum(of), sum(hits)
        if not count:
            return Interval(None, None)
        if hit in (0, count):
            bound = _Z**2 / (count + _Z**2)
            return Interval(0.0, bound) if hit == 0 else Interval(1 - bound, 1.0)
        return _ends(self._ratio(hits, of))

    def difference(
        self, one: tuple[Sequence[float], Sequence[int]], other: tuple[Sequence[float], Sequence[int]]
    ) -> Interval:
        """Of the difference of two ratios (hits, of), resampled together."""
        if not sum(one[1]) or not sum(other[1]):
            return Interval(None, None)
        return _ends(self.differences(one, other))

    def differences(
        self, one: tuple[Sequence[float], Sequence[int]], other: tuple[Sequence[float], Sequence[int]]
    ) -> Draws:
        """The difference in each resample, for what is made of several vaults."""
        return self._ratio(*one) - self._ratio(*other)

    def f1(self, runs: Sequence[PairSets]) -> Interval:
        """Of F1 over pairs of paragraphs; a pair counts as often as both of its paragraphs were drawn."""
        return _ends(self._f1(runs))

    def f1_difference(self, one: Sequence[PairSets], other: Sequence[PairSets]) -> Interval:
        """Of the difference of two F1, resampled together."""
        return _ends(self._f1(one) - self._f1(other))

    def _ratio(self, hits: Sequence[float], of: Sequence[int]) -> Draws:
        import numpy as np

        below: Draws = (self._weights @ np.asarray(of, dtype=float)).astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio: Draws = (self._weights @ np.asarray(hits, dtype=float)) / below
        return ratio

    def _f1(self, runs: Sequence[PairSets]) -> Draws:
        import numpy as np

        both = np.zeros(len(self._weights))
        total = np.zeros(len(self._weights))
        at = 0
        for run, pairs in enumerate(runs):
            weights = self._weights[:, at : at + pairs.size]
            times = np.maximum(self._times[:, run], 1)
            both += _pairs(weights, pairs.grouped & pairs.true) / times
            total += (_pairs(weights, pairs.grouped) + _pairs(weights, pairs.true)) / times
            at += pairs.size
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio: Draws = 2 * both / total
        return ratio


def _pairs(weights: Draws, pairs: frozenset[tuple[int, int]]) -> Draws:
    import numpy as np

    if not pairs:
        return np.zeros(len(weights))
    first, second = np.array(sorted(pairs)).T
    found: Draws = (weights[:, first] * weights[:, second]).sum(axis=1)
    return found


def _ends(values: Draws) -> Interval:
    import numpy as np

    known = values[~np.isnan(values)]
    if not len(known):
        return Interval(None, None)
    low, high = np.quantile(known, [(1 - COVERS) / 2, (1 + COVERS) / 2])
    return Interval(_rounded(float(low)), _rounded(float(high)))


def _rounded(value: float) -> float:
    """Without the noise of sums in another order, so that equal evaluations are equal to the last digit."""
    rounded = round(value, 6)
    return 0.0 if math.isclose(rounded, 0.0) else rounded
