"""Vectors in clusters, and what each cluster is about. Pure functions; the same input gives the same answer.

What is clustered and how themes are shown belongs to `navigator.themes`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]  # a unit row a thing
Labels = NDArray[np.int64]

_ROUNDS: Final = 40
_STARTS: Final = 3
_SMOOTHING: Final = 0.5


@dataclass(frozen=True, slots=True)
class Clustering:
    """The cluster of each row, 0 to `len(centres)` - 1, and the unit centre of each cluster. No cluster is empty."""

    labels: Labels
    centres: Matrix

    def members(self, cluster: int) -> NDArray[np.int64]:
        """The rows of a cluster."""
        return np.flatnonzero(self.labels == cluster)

    def representatives(self, vectors: Matrix, cluster: int, most: int) -> list[int]:
        """The rows nearest to the centre of a cluster, nearest first."""
        rows = self.members(cluster)
        nearest = np.argsort(-(vectors[rows] @ self.centres[cluster]), kind="stable")[:most]
        return [int(row) for row in rows[nearest]]


def unit(rows: Matrix) -> Matrix:
    """Rows of length 1; a row of zeros stays."""
    lengths: Matrix = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def smoothed(vectors: Matrix, edges: Sequence[tuple[int, int]]) -> Matrix:
    """Each row drawn towards the mean of those it is linked with, both ways: what is linked is often of one theme."""
    if not edges:
        return vectors
    source, target = np.array(edges, dtype=np.int64).T
    sums, counts = np.zeros_like(vectors), np.zeros(len(vectors), dtype=np.float32)
    for one, other in ((source, target), (target, source)):
        np.add.at(sums, one, vectors[other])
        np.add.at(counts, one, 1)
    means = np.divide(sums, counts[:, None], out=np.zeros_like(sums), where=counts[:, None] > 0)
    return unit((vectors + _SMOOTHING * means).astype(np.float32))


def spherical_k_means(vectors: Matrix, k: int) -> Clustering:
    """`k` clusters (fewer where there are fewer different rows) by cosine: the best of a few starts.

    Starts are chosen far apart (k-means++, Arthur and Vassilvitskii 2007). Clusters come in the order of their size.
    """
    if not len(vectors):
        return Clustering(np.zeros(0, dtype=np.int64), np.zeros((0, vectors.shape[1]), dtype=np.float32))
    draw = np.random.default_rng(0)
    best: tuple[float, Labels, Matrix] | None = None
    for _ in range(_STARTS):
        labels, centres, score = _settled(vectors, _far_apart(vectors, k, draw))
        if best is None or score > best[0] + 1e-6:
            best = score, labels, centres
    assert best is not None  # noqa: S101 - there is at least one start
    return _by_size(best[1], best[2])


def _far_apart(vectors: Matrix, k: int, draw: np.random.Generator) -> Matrix:
    chosen = [int(draw.integers(len(vectors)))]
    distance = np.maximum(0.0, 1.0 - vectors @ vectors[chosen[0]]).astype(np.float64)
    while len(chosen) < k and distance.sum() > 1e-9:
        chosen.append(int(draw.choice(len(vectors), p=distance / distance.sum())))
        distance = np.minimum(distance, np.maximum(0.0, 1.0 - vectors @ vectors[chosen[-1]]))
    return vectors[chosen].copy()


def _settled(vectors: Matrix, centres: Matrix) -> tuple[Labels, Matrix, float]:
    labels = np.full(len(vectors), -1, dtype=np.int64)
    score = 0.0
    for _ in range(_ROUNDS):
        likeness = vectors @ centres.T
        now = likeness.argmax(axis=1)
        score = float(likeness[np.arange(len(vectors)), now].sum())
        if np.array_equal(now, labels):
            break
        labels = now
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, vectors)
        filled = np.bincount(labels, minlength=len(centres)) > 0
        centres = np.where(filled[:, None], unit(sums), centres)
    return labels, centres, score


def _by_size(labels: Labels, centres: Matrix) -> Clustering:
    sizes = np.bincount(labels, minlength=len(centres))
    order = [int(old) for old in np.argsort(-sizes, kind="stable") if sizes[old]]
    renumbered = np.empty(len(centres), dtype=np.int64)
    renumbered[order] = np.arange(len(order))
    return Clustering(renumbered[labels], centres[order])


def telling_terms(documents: Sequence[Mapping[str, int]], labels: Sequence[int], most: int = 8) -> list[list[str]]:
    """What each cluster says more of than all do together, most telling first (its part of the relative entropy).

    `documents` are the words of each row with their counts. A word of a single document of its cluster tells of that
    document, not of the cluster, unless every word of the cluster does.
    """
    clusters = max(labels, default=-1) + 1
    said: list[defaultdict[str, float]] = [defaultdict(float) for _ in range(clusters)]
    holding: list[Counter[str]] = [Counter() for _ in range(clusters)]
    everywhere: defaultdict[str, float] = defaultdict(float)
    for document, label in zip(documents, labels, strict=True):
        holding[label].update(document.keys())
        for word, count in document.items():
            weight = 1 + math.log(count)  # a word said a hundred times in one note is not a hundred times its theme
            said[label][word] += weight
            everywhere[word] += weight
    total = sum(everywhere.values()) or 1.0
    found: list[list[str]] = []
    for words, held in zip(said, holding, strict=True):
        own = sum(words.values()) or 1.0
        least = min(2, max(held.values(), default=0))
        scores = {
            word: weight / own * math.log((weight / own) / (everywhere[word] / total))
            for word, weight in words.items()
            if held[word] >= least
        }
        found.append(sorted((word for word in scores if scores[word] > 0), key=lambda w: (-scores[w], w))[:most])
    return found
