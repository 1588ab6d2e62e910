"""Cutting a big write into steps that are each whole for the paths they are about. Pure.

A search never waits longer than for one step, and a step never shows half a path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from infold.search.index.contract import VectorRecord

WriteStep = tuple[list[str], list[VectorRecord]]


def steps(paths: Sequence[str], records: Sequence[VectorRecord], most: int) -> Iterator[WriteStep]:
    """Paths to take away and records to add, at most about `most` of each in a step; a path is never divided."""
    added: dict[str, list[VectorRecord]] = {}
    for record in records:
        added.setdefault(record.path, []).append(record)
    leaving: list[str] = []
    coming: list[VectorRecord] = []
    taken = set(paths)
    for path in dict.fromkeys((*paths, *added)):
        new = added.get(path, [])
        is_full = len(coming) + len(new) > most or len(leaving) >= most
        if is_full and (leaving or coming):
            yield leaving, coming
            leaving, coming = [], []
        if path in taken:
            leaving.append(path)
        coming.extend(new)
    if leaving or coming:
        yield leaving, coming
