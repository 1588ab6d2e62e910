"""What a search engine promises: points by path, two kinds of vector, two kinds of query, filters.

One small protocol, so that an embedded shard, a shard that another process owns and a server are interchangeable and
pass the same tests. Engines translate their own errors into IndexFault. What is indexed when belongs to
`search.index.sync`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:  # a client of the engine's owner does without numpy, which takes a tenth of a second to load
    from array import array

    import numpy as np
    import numpy.typing as npt

    from infold.search.terms import Sparse

    Vector = npt.NDArray[np.float32]
    Asked = Vector | array[float]
else:
    Vector = Any
    Asked = Any  # the vector of a question, which is made without numpy where it can be

SCHEMA: Final = "index/2"  # part of the manifest: another shape of points means another index


class Source(StrEnum):
    """Where a point is from, in the order in which results are shown (spec 3, section 6)."""

    NOTEBOOK = "notebook"
    DAILY = "daily"
    SESSIONS = "sessions"
    MEMORY = "memory"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class IndexPoint:
    """One passage as the engine keeps it. `dense` is None where there is no vector, or not yet.

    `path` is what points are taken away by: a note, a transcript, a tree of memory nodes. `level` says what the point
    is (passage, turns, node, summary), `parent` the id of the memory node above it, `date` an ISO day.
    """

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
    date: str | None = None
    tags: tuple[str, ...] = ()
    level: str = "passage"
    trust: str = "vault"
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, best first. Scores of different kinds of query do not compare."""

    path: str
    start_line: int
    end_line: int
    trail: tuple[str, ...]
    score: float
    title: str = ""
    id: str = ""
    source: str = Source.NOTEBOOK
    kind: str = ""
    date: str | None = None
    tags: tuple[str, ...] = ()
    level: str = "passage"
    trust: str = "vault"
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which points a query looks at: those that meet every part that is given.

    `sources`, `kinds`, `levels`, `trusts`, `paths` and `prefixes` are met by any of their values; `tags` by all of
    them, a tag by the tags below it too (`work` by `work/urgent`). A prefix is a folder or a whole path. `since` and
    `until` are ISO days, both included; a point without a date meets neither.
    """

    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None
    prefixes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None


EVERYTHING: Final = Filter()


class Index(Protocol):
    """Passages by path. What is written is durable after `flush`; a call that fails raises IndexFault.

    Safe to use from several threads. A write is one step for whoever searches meanwhile: a query sees the points of a
    path from before it or from after it, never none and never both.
    """

    def replace(self, paths: Sequence[str], points: Sequence[IndexPoint]) -> None:
        """Takes away every point of these paths and adds these points."""

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """Adds the points, in place of those with the same id."""

    def delete(self, ids: Sequence[str]) -> None:
        """Takes these points away; an id that is not there is passed over."""

    def add_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Gives points that exist their dense vector; an id that is not there is passed over."""

    def query_sparse(self, query: Sparse, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        """By keyword: BM25, among the points that `where` lets through."""

    def query_dense(self, query: Asked, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        """By meaning: cosine, among the points that `where` lets through."""

    def count(self, where: Filter = EVERYTHING) -> int:
        """How many points there are."""

    def flush(self) -> None:
        """Makes everything written so far durable."""

    def close(self) -> None:
        """Flushes and lets go. Calling it again does nothing."""


def folders_of(path: str) -> tuple[str, ...]:
    """Every folder above `path`, and `path` itself: what a prefix is compared with."""
    parts = path.split("/")
    return tuple("/".join(parts[: n + 1]) for n in range(len(parts)))


def tags_above(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags in lower case, each with the tags it is nested in: `Work/Urgent` gives `work` and `work/urgent`."""
    return tuple(sorted({above for tag in tags for above in folders_of(tag.strip("#/").casefold()) if above}))
