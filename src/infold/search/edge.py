"""Qdrant Edge, the embedded engine: one shard in one folder. The only module that knows it.

A shard has one opener at a time. Who that is, and who reads a copy, belongs to `search.shard`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import qdrant_edge as qe

from infold.errors import IndexFault, InfoldError, StateUnwritable
from infold.search.index import EVERYTHING, Filter, Hit, IndexPoint, Vector, folders_of, tags_above
from infold.search.terms import Sparse

UPSERT_POINTS: Final = 200  # a call; every call but a query holds Python's global lock
_DENSE: Final = "dense"
_SPARSE: Final = "bm25"
_CONFIG_FILE: Final = "edge_config.json"
_PANIC: Final = "PanicException"  # of the engine's own language; no subclass of Exception
_DISK_FULL: Final = "No space left on device"
_NO_GRAPH_KB: Final = 100_000_000  # exact search is fast to 150,000 passages; a graph is never built behind our back
_HIDDEN: Final = "folders"  # payload that only filters use
_KEYWORDS: Final = ("path", _HIDDEN, "source", "kind", "level", "trust", "tags")


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    """The engine raises bare exceptions, and panics beside them: the one place that turns both into ours."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, InfoldError) or not (isinstance(error, Exception) or type(error).__name__ == _PANIC):
            raise
        if _DISK_FULL in str(error):
            raise StateUnwritable(f"The search index cannot be written: {error}", hint="Free disk space.") from error
        raise IndexFault(
            f"The search index failed while {doing}: {error}", hint="`infold index` makes it anew where it is damaged."
        ) from error


class EdgeIndex:
    """An Index in `folder`, made on first use. `vector_size` 0 makes a shard without dense vectors."""

    def __init__(self, folder: Path, vector_size: int) -> None:
        self.folder = folder
        self._has_dense = vector_size > 0
        self._shard: qe.EdgeShard | None = None
        with _translated("opening"):
            if (folder / _CONFIG_FILE).exists():
                self._shard = qe.EdgeShard.load(str(folder))
                return
            folder.mkdir(parents=True, exist_ok=True)
            self._shard = qe.EdgeShard.create(str(folder), _config(vector_size))
            for field in _KEYWORDS:
                self._update(qe.UpdateOperation.create_field_index(field, qe.PayloadSchemaType.Keyword))
            self._update(qe.UpdateOperation.create_field_index("date", qe.PayloadSchemaType.Datetime))

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """Adds the points, in place of those with the same id."""
        with _translated("writing"):
            for first in range(0, len(points), UPSERT_POINTS):
                batch = [_point(point) for point in points[first : first + UPSERT_POINTS]]
                self._update(qe.UpdateOperation.upsert_points(batch))

    def add_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Gives points that exist their dense vector."""
        named = [qe.PointVectors(point, _named(_DENSE, vector)) for point, vector in vectors.items()]
        with _translated("writing vectors"):
            for first in range(0, len(named), UPSERT_POINTS):
                self._update(qe.UpdateOperation.update_vectors(named[first : first + UPSERT_POINTS]))

    def replace(self, paths: Sequence[str], points: Sequence[IndexPoint]) -> None:
        """Takes away every point of these paths and adds these points."""
        with _translated("deleting"):
            for first in range(0, len(paths), UPSERT_POINTS):
                some = qe.FieldCondition("path", match=qe.MatchAny(list(paths[first : first + UPSERT_POINTS])))
                self._update(qe.UpdateOperation.delete_points_by_filter(qe.Filter(must=[some])))
        self.upsert(points)

    def delete(self, ids: Sequence[str]) -> None:
        """Takes these points away; an id that is not there is passed over."""
        with _translated("deleting"):
            for first in range(0, len(ids), UPSERT_POINTS):
                self._update(qe.UpdateOperation.delete_points(list(ids[first : first + UPSERT_POINTS])))

    def query_sparse(self, query: Sparse, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        """By keyword: BM25, among the points that `where` lets through."""
        if not query[0]:
            return []
        return self._query(limit, _nearest_sparse(query), where)

    def query_dense(self, query: Vector, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        """By meaning: cosine, among the points that `where` lets through."""
        if not (self._has_dense and query.any()):
            return []
        return self._query(limit, _nearest_dense(query), where)

    def count(self, where: Filter = EVERYTHING) -> int:
        """How many points there are."""
        with _translated("counting"):
            return self._open.count(qe.CountRequest(filter=_filter(where)))

    def flush(self) -> None:
        """Makes everything written so far durable."""
        with _translated("flushing"):
            self._open.flush()

    def close(self) -> None:
        """Flushes and lets go. Calling it again does nothing."""
        shard, self._shard = self._shard, None
        if shard is not None:
            with _translated("closing"):
                shard.close()

    @property
    def _open(self) -> qe.EdgeShard:
        if self._shard is None:
            raise IndexFault("The search index is closed.")
        return self._shard

    def _update(self, operation: qe.UpdateOperation) -> None:
        self._open.update(operation)

    def _query(self, limit: int, query: qe.Query, where: Filter) -> list[Hit]:
        if limit < 1:
            return []
        with _translated("searching"):
            found = self._open.query(
                qe.QueryRequest(limit=limit, query=query, filter=_filter(where), with_payload=True)
            )
        return [_hit(str(point.id), point.payload or {}, point.score) for point in found]


def _config(vector_size: int) -> qe.EdgeConfig:
    dense = (
        qe.EdgeVectorParams(size=vector_size, distance=qe.Distance.Cosine, datatype=qe.VectorStorageDatatype.Float16)
        if vector_size
        else None
    )
    return qe.EdgeConfig(
        vectors={_DENSE: dense} if dense else {},
        sparse_vectors={_SPARSE: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)},
        optimizers=qe.EdgeOptimizersConfig(indexing_threshold=_NO_GRAPH_KB),
        wal_enabled=True,  # without it a second opener would destroy the shard
    )


def _point(point: IndexPoint) -> qe.Point:
    vectors: dict[str, Any] = {_SPARSE: qe.SparseVector(*point.sparse)}
    if point.dense is not None and point.dense.any():
        vectors[_DENSE] = point.dense
    payload = {
        "path": point.path,
        "line": point.start_line,
        "end": point.end_line,
        "title": point.title,
        "trail": list(point.trail),
        "kind": point.kind,
        "source": point.source,
        "level": point.level,
        "trust": point.trust,
        _HIDDEN: list(folders_of(point.path)),
    }
    if point.date:
        payload["date"] = point.date
    if point.tags:
        payload["tags"] = list(tags_above(point.tags))
    if point.parent:
        payload["parent"] = point.parent
    return qe.Point(point.id, vectors, payload)


def _named(name: str, vector: Any) -> Any:
    return {name: vector}


def _nearest_sparse(query: Sparse) -> qe.Query:
    return qe.Query.Nearest(qe.SparseVector(*query), using=_SPARSE)


def _nearest_dense(query: Vector) -> qe.Query:
    vector: Any = query
    return qe.Query.Nearest(vector, using=_DENSE)


def _filter(where: Filter) -> qe.Filter | None:
    """`where` in the engine's words; None where it lets everything through."""
    any_of: list[tuple[str, tuple[str, ...] | None]] = [
        ("path", where.paths),
        (_HIDDEN, tuple(prefix.strip("/") for prefix in where.prefixes) or None),
        *(
            (name, values or None)
            for name, values in (
                ("source", where.sources),
                ("kind", where.kinds),
                ("level", where.levels),
                ("trust", where.trusts),
            )
        ),
    ]
    must: list[Any] = [
        qe.FieldCondition(name, match=qe.MatchAny(list(values))) for name, values in any_of if values is not None
    ]
    must += [qe.FieldCondition("tags", match=qe.MatchValue(tag.strip("#/").casefold())) for tag in where.tags]
    if where.since or where.until:
        days = qe.RangeDateTime(
            gte=f"{where.since}T00:00:00Z" if where.since else None,
            lte=f"{where.until}T00:00:00Z" if where.until else None,
        )
        must.append(qe.FieldCondition("date", range=days))
    return qe.Filter(must=must) if must else None


def _hit(point: str, payload: Mapping[str, Any], score: float) -> Hit:
    return Hit(
        path=payload["path"],
        start_line=payload["line"],
        end_line=payload["end"],
        trail=tuple(payload["trail"]),
        score=score,
        title=payload["title"],
        id=point,
        source=payload["source"],
        kind=payload["kind"],
        date=payload.get("date"),
        tags=tuple(payload.get("tags", ())),
        level=payload["level"],
        trust=payload["trust"],
        parent=payload.get("parent", ""),
    )
