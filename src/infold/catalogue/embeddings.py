"""Vectors that were computed once: (text hash, model, vector) in one SQLite file, never computed again for a text.

Those of a model that costs nothing are not kept: half a kilobyte each is more than computing them again is worth.
A vector belongs to a content, not to a path: renaming a note, or losing the index, computes nothing. Each call is one
transaction of its own, so that several processes may keep and find vectors at once, and a crash keeps every vector
that was said to be kept. A damaged file is set aside and named; a new one takes its place.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from infold.durable.sqlite import Database, Schema
from infold.errors import IndexFault, StateUnwritable, VaultBusy
from infold.few_vectors import FEW, halves_of, of_halves

if TYPE_CHECKING:
    import sqlite3
    from array import array

    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32] | array[float]
else:
    Vector = Any

FILE_NAME: Final = "embeddings.sqlite"
_KEYS_A_QUERY: Final = 500
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE IF NOT EXISTS embeddings (model INTEGER NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL)",
    "CREATE UNIQUE INDEX IF NOT EXISTS embeddings_key ON embeddings (model, text_hash)",
)
SCHEMA: Final = Schema("the embeddings", "embeddings", (_TABLES,), IndexFault, is_adopted=True)
_FIND: Final = """
SELECT text_hash, vector FROM embeddings
WHERE model = (SELECT id FROM models WHERE name = ?) AND text_hash IN (SELECT value FROM json_each(?))
"""
_KEEP: Final = "INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)"

_FORGET: Final = "DELETE FROM embeddings WHERE text_hash IN (SELECT value FROM json_each(?))"

_MOST_RECENT: Final = 16_384  # vectors: 16 MB of 256 dimensions

_T = TypeVar("_T")


class KnownVectors(Protocol):
    """Where a run finds the vectors that need not be computed, and puts those that it computed."""

    def find(self, model: str, keys: Collection[str]) -> dict[str, Vector]:
        """Those of these text hashes under this model that are there."""

    def append(self, model: str, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        """Takes vectors, and gives them back as `find` will."""


class RecentVectors:
    """The vectors that one run computed last, in memory: of a text that comes again soon, none is computed twice."""

    def __init__(self, most: int = _MOST_RECENT) -> None:
        self._most = most
        self._vectors: dict[tuple[str, str], Vector] = {}

    def find(self, model: str, keys: Collection[str]) -> dict[str, Vector]:
        """Those that are remembered; they are the last to be forgotten now."""
        found: dict[str, Vector] = {}
        for key in keys:
            vector = self._vectors.pop((model, key), None)
            if vector is not None:
                found[key] = self._vectors[model, key] = vector
        return found

    def append(self, model: str, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        """Remembers these, and forgets what was asked for longest ago."""
        for key, vector in vectors.items():
            self._vectors[model, key] = copy.copy(vector)  # a row by itself does not hold a whole batch
        for former in [*islice(self._vectors, max(len(self._vectors) - self._most, 0))]:
            del self._vectors[former]
        return {**vectors}


class EmbeddingStore:
    """The vectors kept in `folder`, which is made with the first. `damaged` names what could not be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged: dict[str, str] = {}
        self._file = folder / FILE_NAME

    def find(self, model: str, keys: Collection[str]) -> dict[str, Vector]:
        """The vectors that are kept for these text hashes under this model; a few without numpy.

        Raises StateUnwritable.
        """
        wanted = list(keys)
        if not wanted or not self._file.exists():
            return {}
        vector_of = of_halves if len(wanted) <= FEW else _array_of_halves

        def look(db: sqlite3.Connection) -> dict[str, Vector]:
            found: dict[str, Vector] = {}
            for first in range(0, len(wanted), _KEYS_A_QUERY):
                some = json.dumps(wanted[first : first + _KEYS_A_QUERY])
                for key, vector in db.execute(_FIND, (model, some)):
                    found[key] = vector_of(vector)
            return found

        return self._done(look, {})

    def append(self, model: str, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        """Keeps vectors, durably, and gives them back as `find` will: rounded to half precision.

        Raises StateUnwritable where the folder cannot take them.
        """
        if not vectors:
            return {}
        halves = _few_halves(vectors.values()) if len(vectors) <= FEW else _halves(vectors.values())

        def keep(db: sqlite3.Connection) -> bool:
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT OR IGNORE INTO models (name) VALUES (?)", (model,))
            (number,) = db.execute("SELECT id FROM models WHERE name = ?", (model,)).fetchone()
            db.executemany(_KEEP, [(number, key, half) for key, half in zip(vectors, halves, strict=True)])
            db.execute("COMMIT")
            return True

        kept = self._done(keep, otherwise=False) or self._done(keep, otherwise=False)  # a damaged file is set aside
        if not kept:
            raise StateUnwritable(f"Vectors cannot be kept in {self.folder}: {', '.join(self.damaged.values())}.")
        vector_of = of_halves if len(vectors) <= FEW else _array_of_halves
        return dict(zip(vectors, map(vector_of, halves), strict=True))

    def forget(self, keys: Collection[str]) -> int:
        """Takes the vectors of these text hashes away, of every model; says how many. Raises StateUnwritable."""
        if not keys or not self._file.exists():
            return 0

        def remove(db: sqlite3.Connection) -> int:
            db.execute("PRAGMA secure_delete = ON")  # their bytes too
            return db.execute(_FORGET, (json.dumps(list(keys)),)).rowcount

        return self._done(remove, 0)

    def drop(self, model: str) -> int:
        """Takes all vectors of a model away, gives their room back to the disk, and says how many they were.

        Raises StateUnwritable.
        """
        if not self._file.exists():
            return 0

        def remove(db: sqlite3.Connection) -> int:
            numbers = {name: number for number, name in db.execute("SELECT id, name FROM models")}
            if model not in numbers:
                return 0
            db.execute("BEGIN IMMEDIATE")
            (count,) = db.execute("SELECT count(*) FROM embeddings WHERE model = ?", (numbers[model],)).fetchone()
            if len(numbers) == 1:
                db.execute("DELETE FROM embeddings")  # at once, without a look at each
            else:
                db.execute("DELETE FROM embeddings WHERE model = ?", (numbers[model],))
            db.execute("DELETE FROM models WHERE id = ?", (numbers[model],))
            db.execute("COMMIT")
            db.execute("VACUUM")
            return int(count)

        return self._done(remove, 0)

    def count(self) -> int:
        """How many vectors are kept, all models together; 0 where that cannot be read. Changes nothing."""
        if not self._file.exists():
            return 0
        try:
            with closing(Database.read_only(self._file, SCHEMA)) as db, db.reading() as connection:
                return int(connection.execute("SELECT count(*) FROM embeddings").fetchone()[0])
        except (IndexFault, StateUnwritable, VaultBusy):
            return 0

    def _done(self, work: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        """What `work` gives, over a connection of its own; `otherwise` where the file is damaged and was set aside."""
        try:
            with closing(Database(self._file, SCHEMA)) as db, db.alone() as connection:
                return work(connection)
        except IndexFault as damage:
            self.damaged[FILE_NAME] = str(damage)
            self._set_aside()
            return otherwise

    def _set_aside(self) -> None:
        """Renames a damaged file: what it held may have been paid for, so it is not thrown away."""
        for name in ("-wal", "-shm"):
            self._file.with_name(FILE_NAME + name).unlink(missing_ok=True)
        if self._file.exists():
            self._file.replace(self._file.with_name(f"{FILE_NAME}.damaged"))


def _few_halves(vectors: Collection[Vector]) -> list[bytes]:
    """What is kept of each: 16-bit floats."""
    return [halves_of(vector.tolist()) for vector in vectors]


def _halves(vectors: Collection[Vector]) -> list[bytes]:
    """The same of many."""
    import numpy as np

    return [half.tobytes() for half in np.asarray([*vectors], dtype="<f2")]


def _array_of_halves(data: bytes) -> npt.NDArray[np.float32]:
    import numpy as np

    return np.frombuffer(data, dtype="<f2").astype(np.float32)
