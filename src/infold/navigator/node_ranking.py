"""Which nodes a question lets through, how like it each is, and which of them are the best. Pure: rows in, rows out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from infold.navigator.nodes import NodeType
from infold.navigator.proximity import NodeVectors

OTHER_LEVEL: Final = -10.0  # a likeness that no node has


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Which nodes are looked at: those that meet all that is given. Days are ISO days, both included."""

    types: tuple[NodeType, ...] = ()
    folder: str = ""
    tags: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether every note may be looked at."""
        return not (self.folder or self.tags or self.since or self.until)

    def folded(self) -> NodeFilter:
        """The same with a bare folder and folded tags, as `passes` takes it."""
        return replace(self, folder=self.folder.strip("/"), tags=tuple(map(_folded_tag, self.tags)))


def passes(where: NodeFilter, path: str, day: str | None, tags: Sequence[str]) -> bool:
    """Whether a note passes a filter with a bare folder and folded tags."""
    if where.folder and not path.startswith(f"{where.folder}/") and path != where.folder:
        return False
    if (where.since or where.until) and (day is None or not (where.since or day) <= day <= (where.until or day)):
        return False
    return not where.tags or (bool(tags) and all(_has_tag(tags, wanted) for wanted in where.tags))


def likenesses(vectors: NodeVectors, asked: NDArray[np.float32], types: Sequence[NodeType]) -> NDArray[np.float32]:
    """How like a vector each node is; of the other levels, where some are wanted, less than anything can be."""
    if not types:
        whole: NDArray[np.float32] = vectors.rows @ asked
        return whole
    found = np.full(len(vectors.ids), OTHER_LEVEL, dtype=np.float32)
    for kind in types:
        stretch = vectors.stretch(kind)
        found[stretch] = vectors.rows[stretch] @ asked
    return found


def highest(scores: NDArray[np.float32], rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Of these rows the `most` with the highest scores, highest first; equal ones in the order of the rows."""
    own = scores[rows]
    if len(rows) > most:
        least = np.partition(own, len(own) - most)[len(own) - most]
        rows, own = rows[own >= least], own[own >= least]
    best: NDArray[np.int64] = rows[np.argsort(-own, kind="stable")[:most]]
    return best


def _folded_tag(tag: str) -> str:
    return tag.lstrip("#").casefold()


def _has_tag(tags: Sequence[str], wanted: str) -> bool:
    return any(tag.casefold() == wanted or tag.casefold().startswith(f"{wanted}/") for tag in tags)
