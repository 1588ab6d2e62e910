"""Qdrant Edge, the embedded engine: one shard in one folder. The only module that knows it.

A shard has one opener at a time. Who that is, and how the others use it meanwhile, belongs to
`search.shared.shared_index`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import UUID

import qdrant_edge as qe

from infold.errors import IndexFault, InfoldError, StateUnwritable
from infold.search.index.chunked_writes import steps
from infold.search.index.contract import EVERYTHING, Asked, Filter, Hit, IndexPoint, Vector
from infold.search.index.disk_space import LEAST_TO_OPEN_BYTES, require_room
from infold.search.index.payload import DATE, DENSE, KEYWORDS, SPARSE, days, hit_of, matches, payload_of
from infold.search.shared.rwlock import Turns
from infold.search.shared.write_ahead_record import Intent
from infold.search.terms import Sparse

_T = TypeVar("_T")

UPSERT_POINTS: Final = 200  # a call; every call but a query holds Python's global lock
CONFIG_FILE: Final = "edge_config.json"
_PANIC: Final = "PanicException"  # of the engine's own language; no subclass of Exception
_DISK_FULL: Final = "No space left on device"
_COMPACT_KB: Final = 1000  # of vectors, from which compacting puts a part of the shard in the form that opens fast
_ALL_VECTORS: Final = 10  # KB, from which the engine would ask a graph; there is none, so it says nothing here
_MAPPED: Final = qe.Memory.Cached  # read as files, not copied into memory: a quarter of the time to open
_OVERSAMPLING: Final = 2.0  # of vectors in their short form (4 bits a number): finds what an exact scan finds
_FEWEST_COMPARED: Final = 100


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
    """An Index in `folder`, opened; with a `vector_size` it is made where there is none, 0 without dense vectors."""

    def __init__(self, folder: Path, vector_size: int | None = None) -> None:
        self.folder = folder
        self._turns = Turns()
        self._intent = Intent(folder)
        self._shard: qe.EdgeShard | None = None
        config = folder / CONFIG_FILE
        if vector_size is None and not config.exists():
            raise IndexFault("There is no search index yet.", hint="`infold index` makes it.")
        with _translated("opening"):
            if vector_size is None or config.exists():
                require_room(folder, LEAST_TO_OPEN_BYTES)
                self._has_dense = DENSE in json.loads(config.read_bytes()).get("vectors", {})
                self._shard = qe.EdgeShard.load(str(folder))
                self._resume()
                return
            self._has_dense = vector_size > 0
            require_room(folder)
            folder.mkdir(parents=True, exist_ok=True)
            self._shard = qe.EdgeShard.create(str(folder), _config(vector_size))
            for field in KEYWORDS:
                self._update(qe.UpdateOperation.create_field_index(field, qe.KeywordIndexParams(memory=_MAPPED)))
            self._update(qe.UpdateOperation.create_field_index(DATE, qe.DatetimeIndexParams(memory=_MAPPED)))

    def replace(self, paths: Sequence[str], points: Sequence[IndexPoint]) -> None:
        """Takes away every point of these paths and adds these points."""
        for leaving, coming in steps(paths, points, UPSERT_POINTS):
            with self._turns.writing(), _translated("writing"):
                if leaving:
                    self._replace(leaving, coming)
                else:
                    self._add(coming)

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """Adds the points, in place of those with the same id."""
        self.replace((), points)

    def delete(self, ids: Sequence[str]) -> None:
        """Takes these points away; an id that is not there is passed over."""
        with self._turns.writing(), _translated("deleting"):
            for batch in _batches(ids):
                self._update(qe.UpdateOperation.delete_points([*batch]))

    def add_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Gives points that exist their dense vector; an id that is not there is passed over."""
        for batch in _batches(list(vectors)):
            with self._turns.writing(), _translated("writing vectors"):
                known = {UUID(str(record.id)) for record in self._open.retrieve([*batch], False, False)}
                named = [qe.PointVectors(one, _named(DENSE, vectors[one])) for one in batch if UUID(one) in known]
                if named:
                    self._update(qe.UpdateOperation.update_vectors(named))

    def query_sparse(self, query: Sparse, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        """By keyword: BM25, among the points that `where` lets through."""
        if not query[0]:
            return []
        return self._query(limit, _nearest_sparse(query), where, None)

    def query_dense(self, query: Asked, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        """By meaning: cosine, among the points that `where` lets through."""
        if not (self._has_dense and any(query)):
            return []
        return self._query(limit, _nearest_dense(query), where, _scanning(limit))

    def count(self, where: Filter = EVERYTHING) -> int:
        """How many points there are."""
        with self._turns.reading(), _translated("counting"):
            return self._open.count(qe.CountRequest(filter=_filter(where)))

    def flush(self) -> None:
        """Makes everything written so far durable."""
        with self._turns.writing(), _translated("flushing"):
            self._open.flush()

    def close(self) -> None:
        """Flushes and lets go. Calling it again does nothing."""
        with self._turns.writing():
            shard, self._shard = self._shard, None
            if shard is not None:
                with _translated("closing"):
                    shard.close()

    def _resume(self) -> None:
        """Ends what a process that was killed had begun."""
        begun = self._intent.left()
        if begun is not None:
            self._step(*begun)
        self._intent.finish()

    def _replace(self, leaving: list[str], coming: list[IndexPoint]) -> None:
        """Both halves of a replacement, whatever comes between them but a fault of the engine."""
        self._intent.begin(leaving, coming)
        try:
            self._step(leaving, coming)
        except KeyboardInterrupt:
            self._step(leaving, coming)
            raise
        finally:
            self._intent.finish()

    def _step(self, leaving: list[str], coming: list[IndexPoint]) -> None:
        some = qe.FieldCondition("path", match=qe.MatchAny([*leaving]))
        self._update(qe.UpdateOperation.delete_points_by_filter(qe.Filter(must=[some])))
        self._add(coming)

    def _add(self, points: Sequence[IndexPoint]) -> None:
        for batch in _batches(points):
            self._update(qe.UpdateOperation.upsert_points([_point(point) for point in batch]))

    @property
    def _open(self) -> qe.EdgeShard:
        if self._shard is None:
            raise IndexFault("The search index is closed.")
        return self._shard

    def _update(self, operation: qe.UpdateOperation) -> None:
        require_room(self.folder, LEAST_TO_OPEN_BYTES)
        self._open.update(operation)

    def _query(self, limit: int, query: qe.Query, where: Filter, params: qe.SearchParams | None) -> list[Hit]:
        if limit < 1:
            return []
        with self._turns.reading(), _translated("searching"):
            found = self._open.query(
                qe.QueryRequest(limit=limit, query=query, filter=_filter(where), with_payload=True, params=params)
            )
        return [hit_of(str(point.id), point.payload or {}, point.score) for point in found]


def compact(folder: Path) -> None:
    """Puts the shard in `folder` in the form that opens fastest, from which everything else goes on as before.

    What was written last is kept so that it can be changed, and has to be built up again by whoever opens the shard;
    this writes it out as files that are mapped. Takes seconds, in which the engine lets no other thread of the process
    run: for a process of its own, that nobody shares the shard with. Killed, it leaves a shard that is whole.
    """
    require_room(folder)
    with _translated("compacting"):
        shard = qe.EdgeShard.load(str(folder))
        shard.optimize()
        shard.flush()
        shard.close()


def _config(vector_size: int) -> qe.EdgeConfig:
    dense = (
        qe.EdgeVectorParams(
            size=vector_size,
            distance=qe.Distance.Cosine,
            datatype=qe.VectorStorageDatatype.Float16,
            quantization_config=qe.TurboQuantQuantizationConfig(bits=qe.TurboQuantBitSize.Bits4),
        )
        if vector_size
        else None
    )
    return qe.EdgeConfig(
        vectors={DENSE: dense} if dense else {},
        sparse_vectors={SPARSE: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf, memory=_MAPPED)},
        # No graph: vectors are scanned, for it takes CPU-minutes to make, in which the engine holds everything.
        hnsw_config=qe.HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=_ALL_VECTORS),
        optimizers=qe.EdgeOptimizersConfig(indexing_threshold=_COMPACT_KB, default_segment_number=1),
        id_tracker_memory=_MAPPED,
        wal_enabled=True,  # without it a second opener would destroy the shard
    )


def _point(point: IndexPoint) -> qe.Point:
    vectors: dict[str, Any] = {SPARSE: qe.SparseVector(*point.sparse)}
    if point.dense is not None and point.dense.any():
        vectors[DENSE] = point.dense
    return qe.Point(point.id, vectors, payload_of(point))


def _batches(items: Sequence[_T]) -> Iterator[list[_T]]:
    rest = iter(items)
    while batch := list(islice(rest, UPSERT_POINTS)):
        yield batch


def _named(name: str, vector: Any) -> Any:
    return {name: vector}


def _nearest_sparse(query: Sparse) -> qe.Query:
    return qe.Query.Nearest(qe.SparseVector(*query), using=SPARSE)


def _nearest_dense(query: Asked) -> qe.Query:
    vector: Any = query
    return qe.Query.Nearest(vector, using=DENSE)


def _scanning(limit: int) -> qe.SearchParams:
    """Short forms of the vectors are compared first, then the best of them exactly."""
    more = max(_OVERSAMPLING, _FEWEST_COMPARED / max(limit, 1))
    return qe.SearchParams(quantization=qe.QuantizationSearchParams(rescore=True, oversampling=more))


def _match(values: Sequence[str]) -> qe.MatchAny | qe.MatchValue:
    if len(values) == 1:
        return qe.MatchValue(values[0])  # which takes half the time of the other
    return qe.MatchAny([*values])


def _filter(where: Filter) -> qe.Filter | None:
    """`where` in the engine's words; None where it lets everything through."""
    must: list[Any] = [qe.FieldCondition(field, match=_match(values)) for field, values in matches(where)]
    first, last = days(where)
    if first or last:
        must.append(qe.FieldCondition(DATE, range=qe.RangeDateTime(gte=first, lte=last)))
    return qe.Filter(must=must) if must else None
