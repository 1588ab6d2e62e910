"""What each note is about as a whole: the mean of its passages' vectors, a byte a dimension. SQLite.

Derived from the vectors and written after them, for feeds that give a path whole. A path that has none here is taken by
its passages; lost or broken, it costs a rebuild, nothing else.
"""

from __future__ import annotations

import json
import sys
import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import mul
from pathlib import Path
from typing import Final

from infold.durable.files import stamp_of
from infold.durable.sqlite import Database, Schema
from infold.errors import IndexFault
from infold.few_vectors import FEW, length_of, multiplied, total
from infold.search.index.contract import AnyVector, QueryVector

_TABLES: Final = (
    "CREATE TABLE means (path TEXT PRIMARY KEY, scale REAL NOT NULL, vector BLOB NOT NULL) WITHOUT ROWID",
)
_SCHEMA: Final = Schema(
    "the vectors of whole notes",
    "means",
    (_TABLES,),
    IndexFault,
    hint="`infold index` makes the index anew.",
    synchronous="NORMAL",
)
_OF_PATHS: Final = "SELECT path, scale, vector FROM means WHERE path IN (SELECT value FROM json_each(?))"
_MOST_READ: Final = 8192  # means that are held
_MANY: Final = 4_000  # compared by one process, from which on it pays to load numpy
_Row = tuple[float, int]  # what a step of the bytes of a mean is, and where among those read it stands
_NONE: Final[_Row] = (0.0, -1)
_LARGEST: Final = 127  # of a signed byte


class NoteVectors:
    """The mean vectors in `file`, made on first use unless they are only read. Raises IndexFault where damaged."""

    def __init__(self, file: Path, *, read_only: bool = False) -> None:
        opened = Database.read_only if read_only else Database
        self._db: Database | None = opened(file, _SCHEMA)
        self._log = file.with_name(f"{file.name}-wal")
        self._closing = threading.Lock()
        self._state: object = None  # of the file, when these were read:
        self._rows: dict[str, _Row] = {}
        self._bytes = bytearray()
        self._compared = 0

    def replace(self, paths: Sequence[str], vectors: Iterable[tuple[str, AnyVector]]) -> None:
        """Forgets these paths and keeps the means of `vectors` by path, which are all there are of each."""
        found: dict[str, list[AnyVector]] = {}
        for path, vector in vectors:
            found.setdefault(path, []).append(vector)
        with self._held() as held, held.writing() as db:
            db.executemany("DELETE FROM means WHERE path = ?", [(path,) for path in paths])
            packed = _packed_few if sum(map(len, found.values())) <= FEW else _packed
            rows = [(path, *packed(own)) for path, own in found.items()]
            db.executemany("INSERT OR REPLACE INTO means VALUES (?, ?, ?)", rows)

    def cosines(self, vector: QueryVector, paths: Sequence[str]) -> dict[str, float]:
        """How near each of these paths is to a question's vector of length 1, as far as they are here."""
        with self._held() as held:
            self._read_in(held, paths)
            there = [(path, *self._rows[path]) for path in paths if self._rows[path] is not _NONE]
            sums = self._products(vector, [row for _, _, row in there])
        return {path: scale * product for (path, scale, _), product in zip(there, sums, strict=True)}

    def _products(self, vector: QueryVector, rows: Sequence[int]) -> list[float]:
        """The scalar products of a vector with these rows of what was read."""
        self._compared += len(rows)
        size = len(vector)
        if self._compared < _MANY and "numpy" not in sys.modules:
            asked, read = vector.tolist(), memoryview(self._bytes).cast("b")
            return [sum(map(mul, asked, read[row * size : (row + 1) * size])) for row in rows]
        import numpy as np

        means = np.frombuffer(self._bytes, dtype=np.int8).reshape(-1, size)[rows]
        found: list[float] = np.einsum("ij,j->i", means.astype(np.float64), np.asarray(vector, np.float64)).tolist()
        return found

    def _read_in(self, held: Database, paths: Sequence[str]) -> None:
        """Has these paths read, and kept until something is written: one search asks for what others did."""
        state = stamp_of(held.file), stamp_of(self._log)
        if state != self._state or len(self._rows) > _MOST_READ:
            self._state, self._rows, self._bytes = state, {}, bytearray()
        missing = [path for path in paths if path not in self._rows]
        if not missing:
            return
        with held.reading() as db:
            found = db.execute(_OF_PATHS, (json.dumps(missing),)).fetchall()
        self._rows |= dict.fromkeys(missing, _NONE)
        for path, scale, mean in found:
            if scale:
                self._rows[path] = scale, len(self._bytes) // len(mean)
                self._bytes += mean

    def close(self) -> None:
        """Lets go of the file. Calling it again does nothing."""
        with self._closing:
            db, self._db = self._db, None
            if db is not None:
                db.close()

    @contextmanager
    def _held(self) -> Iterator[Database]:
        """The open file, which nobody closes meanwhile."""
        with self._closing:
            if self._db is None:
                raise IndexFault("The search index is closed.")
            yield self._db


def _packed_few(vectors: Sequence[AnyVector]) -> tuple[float, bytes]:
    """As `_packed` does it, to the last bit, without numpy."""
    mean = total([vector.tolist() for vector in vectors], len(vectors[0]))
    length, largest = length_of(mean), max(map(abs, mean))
    if not length:
        return 0.0, bytes(len(mean))
    return largest / _LARGEST / length, array("b", map(round, multiplied(mean, _LARGEST / largest))).tobytes()


def _packed(vectors: Sequence[AnyVector]) -> tuple[float, bytes]:
    """The direction of the vectors' mean: what a step of its bytes is, and the bytes."""
    import numpy as np

    mean = np.asarray(vectors, dtype=np.float32).sum(axis=0)
    length, largest = float(np.sqrt(np.add.reduce(mean * mean))), float(np.abs(mean).max())
    if not length:  # they cancel out: near to nothing
        return 0.0, bytes(len(mean))
    return largest / _LARGEST / length, np.rint(mean * (_LARGEST / largest)).astype(np.int8).tobytes()
