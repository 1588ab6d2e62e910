"""Qdrant Edge, the embedded engine: one shard of vectors in one folder. The only module that knows it.

A shard has one opener at a time. Who that is, and how the others use it meanwhile, belongs to
`search.shared.shared_index`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import qdrant_edge as qe

from infold.durable.files import Disk
from infold.errors import IndexDamaged, IndexFault, InfoldError, StateUnwritable
from infold.search.index.contract import DENSE, QueryVector, Vector, VectorRecord
from infold.search.index.disk_space import LEAST_TO_OPEN_BYTES, require_room
from infold.search.index.process_lock import ProcessLock
from infold.search.shared.rwlock import ReadersWriterLock

_T = TypeVar("_T")

UPSERT_POINTS: Final = 200  # a call; every call but a query holds Python's global lock
CONFIG_FILE: Final = "edge_config.json"
_LOCK: Final = "opened.lock"
_FLUSHING: Final = "flushing"  # a file that is there while the shard is flushed: how many updates since it was before
_MANY_UPDATES: Final = 10_000  # where that cannot be read
_NOBODY: Final = 2**64 - 1  # the number of no point
_PANIC: Final = "PanicException"  # of the engine's own language; no subclass of Exception
_DISK_FULL: Final = "No space left on device"
_COMPACT_KB: Final = 250  # of vectors, from which compacting puts a part of the shard in the form that opens fast
_ALL_VECTORS: Final = 10  # KB, from which the engine would ask a graph; there is none, so it says nothing here
_VECTOR_FILES: Final = "*/vector_storage-*/*.dat"
_PIECE_BYTES: Final = 1 << 20
_MAPPED: Final = qe.Memory.Cached  # read as files, not copied into memory: a quarter of the time to open


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
        raise IndexDamaged(
            f"The search index failed while {doing}: {error}", hint="`infold index` makes it anew where it is damaged."
        ) from error


class EdgeIndex:
    """A VectorIndex in `folder`, opened; with a `vector_size` it is made where there is none."""

    def __init__(self, folder: Path, vector_size: int | None = None) -> None:
        self.folder = folder
        self._turns = ReadersWriterLock()
        self._shard: qe.EdgeShard | None = None
        self._updates = 0  # since the last flush
        is_there = (folder / CONFIG_FILE).exists()
        if vector_size is None and not is_there:
            raise IndexFault("There is no search index yet.", hint="`infold index` makes it.")
        require_room(folder, *([LEAST_TO_OPEN_BYTES] if is_there else []))
        folder.mkdir(parents=True, exist_ok=True)
        self._claim = _claimed(folder)
        try:
            with _translated("opening"):
                if is_there or vector_size is None:
                    _require_segments(folder)
                    _read_ahead(folder)
                    self._shard = _loaded(folder)
                else:
                    self._make(vector_size)
        except BaseException:
            self._claim.release()
            raise

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Adds these records; the same number again is replaced. A search waits for no more than a batch of them."""
        for batch in _batches([*{record.number: record for record in records}.values()]):
            with self._turns.writing(), _translated("writing"):
                self._update(qe.UpdateOperation.upsert_points([_point(record) for record in batch]))

    def delete(self, numbers: Sequence[int]) -> None:
        """Takes these vectors away; a number that is not there is passed over."""
        for batch in _batches(numbers):
            with self._turns.writing(), _translated("deleting"):
                self._update(qe.UpdateOperation.delete_points([*batch]))

    def query(self, vector: QueryVector, limit: int, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """The numbers nearest to a vector that is not all zeros, with their cosine; only those `among`, where given."""
        if limit < 1 or not any(vector) or (among is not None and not among):
            return []
        nearest: Any = vector
        request = qe.QueryRequest(
            limit=limit,
            query=qe.Query.Nearest(nearest, using=DENSE),
            filter=None if among is None else qe.Filter(must=[qe.HasIdCondition({*among})]),
            with_payload=False,
        )
        with self._turns.reading(), _translated("searching"):  # rounded, a vector may come out nearer than itself
            return [(_number(point.id), min(point.score, 1.0)) for point in self._open.query(request)]

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        """The vectors of these numbers, of unit length, rounded as the engine keeps them; one not there is left out."""
        import numpy as np

        found: dict[int, Vector] = {}
        for batch in _batches(numbers):
            with self._turns.reading(), _translated("reading vectors"):
                for record in self._open.retrieve([*batch], False, True):
                    named: Any = record.vector
                    vector = np.asarray(named[DENSE], dtype=np.float32)
                    found[_number(record.id)] = vector / np.linalg.norm(vector)
        return found

    def count(self) -> int:
        """How many vectors there are."""
        with self._turns.reading(), _translated("counting"):
            return self._open.count(qe.CountRequest())

    def flush(self) -> None:
        """Makes everything written so far durable."""
        with self._turns.writing(), _translated("flushing"):
            self._flush()

    def close(self) -> None:
        """Flushes and lets go. Calling it again does nothing."""
        with self._turns.writing():
            try:
                if self._shard is not None:
                    with _translated("closing"):
                        self._flush()
                        self._shard.close()
            finally:
                self._shard = None
                self._claim.release()

    def _make(self, vector_size: int) -> None:
        self._shard = qe.EdgeShard.create(str(self.folder), _config(vector_size))

    @property
    def _open(self) -> qe.EdgeShard:
        if self._shard is None:
            raise IndexFault("The search index is closed.")
        return self._shard

    def _update(self, operation: qe.UpdateOperation) -> None:
        require_room(self.folder, LEAST_TO_OPEN_BYTES)
        self._updates += 1
        self._open.update(operation)

    def _flush(self) -> None:
        if self._updates:
            Disk().write(self.folder / _FLUSHING, str(self._updates).encode())
        self._open.flush()
        if self._updates:
            (self.folder / _FLUSHING).unlink()
        self._updates = 0


def compact(folder: Path) -> None:
    """Puts the shard in `folder` in the form that opens fastest, from which everything else goes on as before.

    What was written last is kept so that it can be changed, and has to be built up again by whoever opens the shard;
    this writes it out as files that are mapped. Takes seconds, in which the engine lets no other thread of the process
    run: for a process of its own, that nobody shares the shard with. Killed, it leaves a shard that is whole.
    """
    require_room(folder)
    claim = _claimed(folder)
    with _translated("compacting"):
        shard = _loaded(folder)
        shard.optimize()
        shard.flush()
        shard.close()
    claim.release()


def _loaded(folder: Path) -> qe.EdgeShard:
    """The shard in `folder`. One that was killed while it was flushed counts on past what it had come to.

    Updates have numbers, from the last that the shard has flushed on, and the engine passes over one, without a word,
    that is not above its point's own. Points are flushed before the shard: killed between, they would be ahead of it.
    """
    shard = qe.EdgeShard.load(str(folder))
    flushing = folder / _FLUSHING
    if flushing.exists():
        for _ in range(int(flushing.read_bytes() or _MANY_UPDATES)):
            shard.update(qe.UpdateOperation.delete_points([_NOBODY]))
        shard.update(qe.UpdateOperation.upsert_points([qe.Point(_NOBODY, {})]))  # else nothing would be flushed
        shard.update(qe.UpdateOperation.delete_points([_NOBODY]))
        shard.flush()
        flushing.unlink()
    return shard


def _require_segments(folder: Path) -> None:
    """Raises IndexFault where the vectors are gone: the engine would begin with none, and say nothing."""
    segments = folder / "segments"
    if not segments.is_dir() or not any(segments.iterdir()):
        raise IndexFault(
            f"The search index is damaged: {segments} is empty or gone.", hint="`infold index` makes it anew."
        )


def _read_ahead(folder: Path) -> None:
    """Has the system read the vectors in large pieces, where they are not in memory: the engine asks page by page.

    Whoever closes a shard has it dropped from memory, so this is what follows on each that was closed.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    for file in (folder / "segments").glob(_VECTOR_FILES):
        descriptor = os.open(file, os.O_RDONLY)
        try:
            for start in range(0, os.fstat(descriptor).st_size, _PIECE_BYTES):  # of more, the rest is left out
                os.posix_fadvise(descriptor, start, _PIECE_BYTES, os.POSIX_FADV_WILLNEED)
        finally:
            os.close(descriptor)


def _claimed(folder: Path) -> ProcessLock:
    """The shard in `folder` is this opening's: the engine would let a second one destroy it. Raises IndexFault."""
    claim = ProcessLock(folder / _LOCK)
    if not claim.take():
        raise IndexFault(f"The search index in {folder} is open already.", hint="Close whatever has it open.")
    return claim


def _config(vector_size: int) -> qe.EdgeConfig:
    dense = qe.EdgeVectorParams(
        size=vector_size,
        distance=qe.Distance.Cosine,
        datatype=qe.VectorStorageDatatype.Turbo4,  # type: ignore[attr-defined] # its types lack what it has
    )
    return qe.EdgeConfig(
        vectors={DENSE: dense},
        # No graph: vectors are scanned, for it takes CPU-minutes to make, in which the engine holds everything.
        hnsw_config=qe.HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=_ALL_VECTORS),
        optimizers=qe.EdgeOptimizersConfig(indexing_threshold=_COMPACT_KB, default_segment_number=1),
        id_tracker_memory=_MAPPED,
        wal_enabled=False,  # it takes 32 MB and more, for what the manifest has written anew after a kill
    )


def _point(record: VectorRecord) -> qe.Point:
    vectors: dict[str, Any] = {DENSE: record.vector.tolist()}  # which the engine reads faster than an array
    return qe.Point(record.number, vectors)


def _number(id_: qe.PointId) -> int:
    """The engine gives back what it was given; its types allow for more."""
    return id_ if isinstance(id_, int) else int(str(id_))


def _batches(items: Sequence[_T]) -> Iterator[list[_T]]:
    rest = iter(items)
    while batch := list(islice(rest, UPSERT_POINTS)):
        yield batch
