"""What connects two themes: how alike they are, the links between them, and the notes that stand between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from infold.navigator.clusters import Clustering, Matrix

_NEAREST: Final = 3  # themes
_BRIDGES: Final = 3  # notes


@dataclass(frozen=True, slots=True)
class ThemeConnection:
    """To another theme, by its number. `links` go either way; `bridges` are rows, the nearest to both first."""

    theme: int
    likeness: float
    links: int
    bridges: tuple[int, ...]


def connections(
    found: Clustering, rows: Matrix, pairs: Sequence[tuple[int, int]]
) -> dict[int, tuple[ThemeConnection, ...]]:
    """For each cluster those nearest to it; `pairs` are the rows that are linked.

    A bridge is a note of either theme whose smaller likeness to the two is greatest.
    """
    labels = found.labels
    links = Counter(frozenset((int(labels[one]), int(labels[other]))) for one, other in pairs)
    near = rows @ found.centres.T
    made: dict[int, tuple[ThemeConnection, ...]] = {}
    for number in range(len(found.centres)):
        likeness = found.centres @ found.centres[number]
        likeness[number] = -2
        nearest = np.argsort(-likeness, kind="stable")[: min(_NEAREST, len(likeness) - 1)]
        made[number] = tuple(
            ThemeConnection(
                int(other),
                round(float(likeness[other]), 3),
                links[frozenset((number, int(other)))],
                _bridges(labels, near, number, int(other)),
            )
            for other in nearest
        )
    return made


def _bridges(labels: np.ndarray, near: Matrix, one: int, other: int) -> tuple[int, ...]:
    both = np.flatnonzero((labels == one) | (labels == other))
    between = np.minimum(near[both, one], near[both, other])
    return tuple(int(row) for row in both[np.argsort(-between, kind="stable")[:_BRIDGES]])
