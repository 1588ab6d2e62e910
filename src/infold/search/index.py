"""What a search engine promises: points by path, two kinds of vector, two kinds of query.

One small protocol, so that an embedded shard and a server are interchangeable and pass the same tests. Engines
translate their own errors into IndexFault. What is indexed when belongs to `search.sync`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from infold.search.terms import Sparse

Vector = npt.NDArray[np.float32]

SCHEMA: Final = "index/1"  # part of the manifest: another shape of points means another index


@dataclass(frozen=True, slots=True)
class IndexPoint:
    """One passage as the engine keeps it. `dense` is None where there is no vector, or not yet."""

    id: str
    path: str
    start_line: int
    end_line: int
    title: str
    trail: tuple[str, ...]
    kind: str
    source: str
    sparse: Sparse
    dense: Vector | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, best first. Scores of different kinds of query do not compare."""

    path: str
    start_line: int
    end_line: int
    trail: tuple[str, ...]
    score: float
    title: str = ""


class Index(Protocol):
    """Passages by path. What is written is durable after `flush`; a call that fails raises IndexFault."""

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """Adds the points, in place of those with the same id."""

    def add_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Gives points that exist their dense vector."""

    def delete_paths(self, paths: Sequence[str]) -> None:
        """Takes away every point of these notes."""

    def query_sparse(self, query: Sparse, limit: int, paths: Sequence[str] | None = None) -> list[Hit]:
        """By keyword: BM25. Restricted to `paths` where they are given."""

    def query_dense(self, query: Vector, limit: int, paths: Sequence[str] | None = None) -> list[Hit]:
        """By meaning: cosine."""

    def count(self) -> int:
        """How many points there are."""

    def flush(self) -> None:
        """Makes everything written so far durable."""

    def close(self) -> None:
        """Flushes and lets go. Calling it again does nothing."""
