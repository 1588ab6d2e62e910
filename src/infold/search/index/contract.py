"""What the index is made of: points, filters, hits; and what an engine of vectors promises.

The words of every point are in one tantivy index (`index.words`), the same wherever vectors are. Vectors are kept by an
engine: an embedded shard, a shard that another process owns, or a server, which are interchangeable and pass the same
tests. Engines translate their own errors into IndexFault. What is indexed when belongs to `search.index.sync`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from infold.search.index.point_ids import point_number

if TYPE_CHECKING:  # a client of the engine's owner does without numpy, which takes a tenth of a second to load
    from array import array

    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    AnyVector = Vector | array[float]
    QueryVector = AnyVector
else:
    Vector = Any
    AnyVector = Any  # with or without numpy: a few are made without
    QueryVector = Any  # the vector of a question

SCHEMA: Final = "index/9"  # part of the manifest: another shape of points means another index
DENSE: Final = "dense"  # what engines call the one vector of a point


class PointGroup(StrEnum):
    """Where a point is from, in the order in which results are shown (spec 3, section 6)."""

    NOTEBOOK = "notebook"
    DAILY = "daily"
    SESSIONS = "sessions"
    MEMORY = "memory"
    EXTERNAL = "external"
    NODES = "nodes"


NOTE_GROUPS: Final = (PointGroup.NOTEBOOK, PointGroup.DAILY)  # what notes of the vault are
DEFAULT_GROUPS: Final = (*NOTE_GROUPS, PointGroup.SESSIONS, PointGroup.MEMORY)  # others where they are asked for


# What the index keeps of a point for whoever finds it, beside where it stands: points, hits and results all have these.
# `level` says what the point is (passage, turns, node, summary), `parent` the id of the node right above it. `date` is
# an ISO day. With one more, `SCHEMA` is another.
_FACTS: Final = ("date", "tags", "level", "trust", "parent")


def facts_of(hit: Hit) -> dict[str, Any]:
    """These fields of a hit, by name, as a result has them too."""
    return {name: getattr(hit, name) for name in _FACTS}


class IndexPoint(NamedTuple):
    """One passage as the index takes it.

    `path` is what points are taken away by: a note, a transcript, a memory tree. `within` are the ids of all nodes that
    it stands in, its own among them. `words` are its terms and `written` its secondary ones (`search.terms`), a space
    between two.
    """

    id: str
    path: str
    start_line: int
    end_line: int
    title: str
    trail: tuple[str, ...]
    kind: str
    group: str
    words: str = ""
    written: str = ""
    within: tuple[str, ...] = ()
    date: str | None = None
    tags: tuple[str, ...] = ()
    level: str = "passage"
    trust: str = "vault"
    parent: str = ""


class Hit(NamedTuple):
    """A passage that was found, best first. Scores of different kinds of query do not compare."""

    path: str
    start_line: int
    end_line: int
    trail: tuple[str, ...]
    score: float
    title: str = ""
    id: str = ""
    group: str = PointGroup.NOTEBOOK
    kind: str = ""
    date: str | None = None
    tags: tuple[str, ...] = ()
    level: str = "passage"
    trust: str = "vault"
    parent: str = ""

    def scored(self, score: float) -> Hit:
        """The hit with another score."""
        return Hit._make((*self[:4], score, *self[5:]))  # in a third of the time that `_replace` takes


STANDING: Final = attrgetter("path", "start_line", "id")


class ScoredHits(NamedTuple):
    """What a query found, best first: the numbers of points, the points as they are kept, and the score of each.

    One that many questions find is kept once; scores stand beside it, and `scored` puts them in.
    """

    numbers: Sequence[int]
    hits: Sequence[Hit]
    scores: Sequence[float]

    @classmethod
    def of(cls, hits: Sequence[Hit]) -> ScoredHits:
        """Hits in their order, with their own scores."""
        return cls([point_number(hit.id) for hit in hits], hits, [hit.score for hit in hits])

    @property
    def scored(self) -> list[Hit]:
        """The hits, each with its score."""
        return [hit.scored(score) for hit, score in zip(self.hits, self.scores, strict=True)]

    def above(self, least: float) -> ScoredHits:
        """Those that score so much at least."""
        there = len(self.scores)
        while there and self.scores[there - 1] < least:
            there -= 1
        return (
            self
            if there == len(self.scores)
            else ScoredHits(self.numbers[:there], self.hits[:there], self.scores[:there])
        )


NOTHING_FOUND: Final = ScoredHits((), (), ())


def best_first(hits: Sequence[Hit], scores: Sequence[float]) -> list[int]:
    """Where in these sequences the best stands, the next, and so on; what scores alike by path and line."""
    order = sorted(range(len(hits)), key=scores.__getitem__, reverse=True)
    if len(set(scores)) == len(order):
        return order
    standing = [*map(STANDING, hits)]
    alike = groupby(order, scores.__getitem__)
    return [at for _, some in alike for at in sorted(some, key=standing.__getitem__)]


class Filter(NamedTuple):
    """Which points a query looks at: those that meet every part that is given.

    `groups`, `kinds`, `levels`, `trusts`, `paths`, `prefixes` and `within` are met by any of their values; `tags` by
    all of them, a tag by the tags below it too (`work` by `work/urgent`). A prefix is a folder or a whole path.
    `within` names nodes: met by them and by everything below. `since` and `until` are ISO days, both included; a point
    without a date meets neither.
    """

    groups: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None
    prefixes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    within: tuple[str, ...] = ()


EVERYTHING: Final = Filter()


def asked_filter(
    sources: Sequence[PointGroup],
    paths: Sequence[str] = (),
    tags: Sequence[str] = (),
    since: str | None = None,
    until: str | None = None,
) -> Filter:
    """The filter that a person's words mean."""
    return Filter(
        groups=() if tuple(sources) == DEFAULT_GROUPS else tuple(sources),  # no filter, to whoever gives a hint
        prefixes=tuple(path.strip().removeprefix("./").rstrip("/") for path in paths),
        tags=tuple(tags),
        since=since,
        until=until,
    )


class Demands(NamedTuple):
    """What the words of a point must be: one that begins so for each of `beginnings`, none of the terms `without`."""

    beginnings: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


NO_DEMANDS: Final = Demands()


class VectorRecord(NamedTuple):
    """The vector of a point, of unit length, by the point's number (`index.point_ids`)."""

    number: int
    vector: AnyVector


class VectorIndex(Protocol):
    """Vectors by the numbers of points. What is written is durable after `flush`; a call that fails raises IndexFault.

    Safe to use from several threads. Doing a call twice is doing it once. Which points there are, what a filter lets
    through, and where a point stands is for the words to say.
    """

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Adds these records; the same number again is replaced."""

    def delete(self, numbers: Sequence[int]) -> None:
        """Takes these vectors away; a number that is not there is passed over."""

    def query(self, vector: QueryVector, limit: int, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """The numbers nearest to a vector that is not all zeros, with their cosine; only those `among`, where given.

        Each number that is given costs about a microsecond.
        """

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        """The vectors of these numbers, of unit length, rounded as the engine keeps them; one not there is left out."""

    def count(self) -> int:
        """How many vectors there are."""

    def flush(self) -> None:
        """Makes everything written so far durable."""

    def close(self) -> None:
        """Flushes and lets go. Calling it again does nothing."""


class VectorEngine(Protocol):
    """Makes, opens and drops the vectors of a generation. Every call that fails raises IndexFault.

    Where they are well and only out of reach, as a server's may be, it is an EnvironmentFault instead: then nothing
    has to be made anew. The same goes for the calls of the index itself.
    """

    @property
    def name(self) -> str:
        """`edge` or `server`: part of what an index was made with."""

    def exists(self, generation: str) -> bool:
        """Whether there are vectors of this generation."""

    def create(self, generation: str, vector_size: int) -> VectorIndex:
        """Room for vectors of this size, without any yet."""

    def open(self, generation: str) -> VectorIndex:
        """The vectors of this generation, used together with every other process that has them open."""

    def compact(self, generation: str, seconds: float) -> bool:
        """Puts vectors that nobody has open in the form that opens fastest, or gives it up after so many seconds.

        False where somebody has them open, and they stay as they are. What could not be compacted is whole too.
        """

    def drop(self, generation: str) -> None:
        """Takes the generation away; what is not there is passed over."""


@lru_cache(maxsize=256)
def folders_of(path: str) -> tuple[str, ...]:
    """Every folder above `path`, and `path` itself: what a prefix is compared with."""
    parts = path.split("/")
    return tuple("/".join(parts[: n + 1]) for n in range(len(parts)))


@lru_cache(maxsize=256)
def tags_above(tags: tuple[str, ...]) -> tuple[str, ...]:
    """The tags in lower case, each with the tags it is nested in: `Work/Urgent` gives `work` and `work/urgent`."""
    return tuple(sorted({above for tag in tags for above in folders_of(tag.strip("#/").casefold()) if above}))
