"""What the index holds: notes by content, and passages that still wait for a vector. SQLite beside the shard.

A row is written as "in progress" before the shard changes and with its stamp after the shard is flushed, so that a
process killed in between leaves notes that the next sync does again. Lost or broken, it costs a rebuild, nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from infold.errors import IndexFault

IN_PROGRESS: Final = ""
_BUSY_MS: Final = 5000
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (
    path TEXT PRIMARY KEY, stamp TEXT NOT NULL, passages INTEGER NOT NULL, language TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending (id TEXT PRIMARY KEY, path TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS pending_path ON pending (path);
"""


@dataclass(frozen=True, slots=True)
class Identity:
    """What an index was made with. One that differs in any of these is made anew."""

    schema: str
    tokeniser: str
    model: str  # "" where there are no vectors
    vector_size: int
    passages: str  # how notes were cut


@dataclass(frozen=True, slots=True)
class IndexedNote:
    """A note that the index holds. `stamp` says as what (content hash, kind); IN_PROGRESS while it is written."""

    path: str
    stamp: str
    passages: int
    language: str


@dataclass(frozen=True, slots=True)
class PendingVector:
    """A passage without its vector: the point, the note, the key of the vector, the text to embed."""

    id: str
    path: str
    key: str
    text: str


class Manifest:
    """The manifest in `file`, made on first use. Raises IndexFault where it is damaged."""

    def __init__(self, file: Path, *, read_only: bool = False) -> None:
        self.file = file
        with _translated(file):
            target = f"{file.absolute().as_uri()}?mode=ro" if read_only else str(file)
            self._db = sqlite3.connect(target, timeout=_BUSY_MS / 1000, isolation_level=None, uri=read_only)
            if not read_only:
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.executescript(_TABLES)
            self._db.execute("SELECT count(*) FROM meta").fetchone()

    def identity(self) -> Identity | None:
        """What the index was made with; None where it was never finished being made."""
        with _translated(self.file):
            values = dict(self._db.execute("SELECT key, value FROM meta").fetchall())
        try:
            return Identity(**{**values, "vector_size": int(values["vector_size"])})
        except (KeyError, TypeError, ValueError):
            return None

    def set_identity(self, identity: Identity) -> None:
        """Records what the index is made with."""
        with self._writing():
            self._db.execute("DELETE FROM meta")
            rows = [(key, str(value)) for key, value in asdict(identity).items()]
            self._db.executemany("INSERT INTO meta VALUES (?, ?)", rows)

    def notes(self) -> dict[str, IndexedNote]:
        """Every note by path, those in progress included."""
        with _translated(self.file):
            return {row[0]: IndexedNote(*row) for row in self._db.execute("SELECT * FROM notes")}

    def languages(self, most: int) -> tuple[str, ...]:
        """The languages of the notes, commonest first."""
        with _translated(self.file):
            rows = self._db.execute(
                "SELECT language FROM notes WHERE language != '' GROUP BY language "
                "ORDER BY count(*) DESC, language LIMIT ?",
                (most,),
            ).fetchall()
        return tuple(row[0] for row in rows)

    def passage_count(self) -> int | None:
        """How many passages the shard holds; None while a note is in progress, when nobody can say."""
        with _translated(self.file):
            (in_progress, passages) = self._db.execute(
                "SELECT coalesce(sum(stamp = ''), 0), coalesce(sum(passages), 0) FROM notes"
            ).fetchone()
        return None if in_progress else int(passages)

    def begin(self, paths: Sequence[str]) -> None:
        """Marks these notes as in progress; what they waited for is forgotten."""
        with self._writing():
            self._db.executemany("DELETE FROM pending WHERE path = ?", [(path,) for path in paths])
            rows = [(path, IN_PROGRESS, 0, "") for path in paths]
            self._db.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)", rows)

    def finish(self, done: Iterable[IndexedNote], gone: Iterable[str], pending: Iterable[PendingVector]) -> None:
        """Records notes that the shard now holds durably, notes that it no longer holds, and vectors still to come."""
        with self._writing():
            self._db.executemany("DELETE FROM notes WHERE path = ?", [(path,) for path in gone])
            rows = [(note.path, note.stamp, note.passages, note.language) for note in done]
            self._db.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)", rows)
            waiting = [(item.id, item.path, item.key, item.text) for item in pending]
            self._db.executemany("INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?)", waiting)

    def pending(self, limit: int) -> list[PendingVector]:
        """Some of the passages that wait for a vector."""
        with _translated(self.file):
            rows = self._db.execute("SELECT * FROM pending ORDER BY rowid LIMIT ?", (limit,)).fetchall()
        return [PendingVector(*row) for row in rows]

    def pending_count(self) -> int:
        """How many passages wait for a vector."""
        with _translated(self.file):
            return int(self._db.execute("SELECT count(*) FROM pending").fetchone()[0])

    def filled(self, ids: Iterable[str]) -> None:
        """These points have their vector now."""
        with self._writing():
            self._db.executemany("DELETE FROM pending WHERE id = ?", [(point,) for point in ids])

    def close(self) -> None:
        """Lets go of the file."""
        self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with _translated(self.file):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")


@contextmanager
def _translated(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise IndexFault(
            f"The index's manifest {file.name} cannot be used: {error}", hint="`infold index` makes it anew."
        ) from error
