"""A map of vectors in two dimensions whose places stay where they were when things come and go.

Neighbours attract, random others push away, as in UMAP (McInnes et al. 2018); everything starts where it was on the map
before, and what is new starts among its neighbours. The same input gives the same map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from infold.navigator.clusters import Matrix

Places = NDArray[np.float32]  # x and y a row, both within -1 to 1

_NEIGHBOURS: Final = 12
_ROUNDS: Final = 200
_PUSHES: Final = 4  # random others a round for each pull
_BLOCK: Final = 1024  # rows compared at once: 10,000 rows by 10,000 need not stand in memory
_HELD: Final = 0.04  # how much of a step something takes that has a place from before


def lay_out(keys: Sequence[str], vectors: Matrix, before: Mapping[str, tuple[float, float]] | None = None) -> Places:
    """The place of each row. `before` are the places that keys had on an earlier map."""
    count = len(vectors)
    if count < 3:
        return np.array([(0.5 * n, 0.0) for n in range(count)], dtype=np.float32).reshape(count, 2)
    near = neighbours(vectors, min(_NEIGHBOURS, count - 1))
    known = np.array([before is not None and key in before for key in keys])
    places = _start(keys, vectors, near, before or {}, known)
    steps = np.where(known, np.float32(_HELD), np.float32(1.0))[:, None]
    places = _relaxed(places, near, steps if known.any() else np.ones((count, 1), dtype=np.float32))
    if known.any():
        return np.clip(places, -1.0, 1.0).astype(np.float32)
    return _fitted(places)


def neighbours(vectors: Matrix, most: int) -> NDArray[np.int64]:
    """The rows nearest to each, nearest first, itself left out."""
    found = np.empty((len(vectors), most), dtype=np.int64)
    for start in range(0, len(vectors), _BLOCK):
        rows: NDArray[np.int64] = np.arange(start, min(start + _BLOCK, len(vectors)))
        likeness = vectors[rows] @ vectors.T
        likeness[np.arange(len(rows)), rows] = -2
        top = np.argpartition(-likeness, most - 1, axis=1)[:, :most]
        order = np.argsort(-np.take_along_axis(likeness, top, axis=1), axis=1, kind="stable")
        found[rows] = np.take_along_axis(top, order, axis=1)
    return found


def _start(
    keys: Sequence[str],
    vectors: Matrix,
    near: NDArray[np.int64],
    before: Mapping[str, tuple[float, float]],
    known: NDArray[np.bool_],
) -> Places:
    if not known.any():
        return _fitted(_principal_plane(vectors))
    places = np.zeros((len(keys), 2), dtype=np.float32)
    for row, key in enumerate(keys):
        if known[row]:
            places[row] = before[key]
    for row in map(int, np.flatnonzero(~known)):
        beside = near[row][known[near[row]]]
        places[row] = places[beside].mean(axis=0) if len(beside) else places[known].mean(axis=0)
    return places


def _principal_plane(vectors: Matrix) -> Places:
    """The two directions in which the vectors differ most, with fixed signs: the map is not mirrored by chance."""
    centred = vectors - vectors.mean(axis=0)
    covariance = (centred.T @ centred).astype(np.float64)
    _, directions = np.linalg.eigh(covariance)
    plane = directions[:, -2:][:, ::-1]
    plane = plane * np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    places: Places = (centred @ plane.astype(np.float32)).astype(np.float32)
    return places


def _relaxed(places: Places, near: NDArray[np.int64], steps: Matrix) -> Places:
    """The places after neighbours have pulled and others pushed, ever more gently."""
    draw = np.random.default_rng(len(places))
    source = np.repeat(np.arange(len(near)), near.shape[1])
    target = near.ravel()
    spread = places.copy() * 10
    for round_number in range(_ROUNDS):
        strength = np.float32(1.0 - round_number / _ROUNDS)
        move = np.zeros_like(spread)
        apart = spread[target] - spread[source]
        squared = (apart**2).sum(axis=1, keepdims=True)
        pull = apart * (np.float32(0.1) / (1 + squared))
        np.add.at(move, source, pull)
        np.add.at(move, target, -pull)
        for _ in range(_PUSHES):
            others = draw.integers(len(spread), size=len(spread))
            apart = spread - spread[others]
            squared = (apart**2).sum(axis=1, keepdims=True)
            move += apart * (np.float32(0.6) / ((0.05 + squared) * (1 + squared)))
        spread = (spread + np.clip(move, -1.0, 1.0) * steps * strength).astype(np.float32)
    return (spread / 10).astype(np.float32)


def _fitted(places: Places) -> Places:
    """The map centred and scaled so that all but a few outliers fill the square; those stand at its edge."""
    low, high = np.quantile(places, (0.01, 0.99), axis=0)
    centred, reach = places - (low + high) / 2, (high - low) / 2
    scaled = np.divide(centred, reach, out=np.zeros_like(centred), where=reach > 0) * 0.95
    fitted: Places = np.clip(scaled, -1.0, 1.0).astype(np.float32)
    return fitted
