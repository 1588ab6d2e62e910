"""What an index holds: notes by content, and passages that still wait for a vector. SQLite beside the index.

A row is written as "in progress" before the index changes and with its hash after the index is flushed, so that a
process killed in between leaves notes that the next sync does again. Lost or broken, it costs a rebuild, nothing else.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, NamedTuple

from infold.errors import IndexFault, StateUnwritable

IN_PROGRESS: Final = ""
NOTES: Final = "notes"  # the feed of the vault's notes
_SYNCED: Final = "synced"  # its time is that of the last sync
_BUSY_MS: Final = 5000
_PRIMARY: Final = 0xFF  # of an error code
_OF_THE_DISK: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
)
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (
    feed TEXT NOT NULL, path TEXT NOT NULL, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
    variant TEXT NOT NULL, passages INTEGER NOT NULL, language TEXT NOT NULL, title TEXT NOT NULL,
    indexed_ns INTEGER NOT NULL, PRIMARY KEY (feed, path)
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
    language: str = "auto"
    engine: str = "edge"


class IndexedNote(NamedTuple):
    """A note, or whatever else a feed gives, that the index holds.

    `sha256` is of its bytes, IN_PROGRESS while it is written. `variant` is what else its points depend on (the kind of
    a note). `indexed_ns` is when a sync last compared its bytes, `mtime_ns` and `size` are of its file then.
    """

    feed: str
    path: str
    mtime_ns: int
    size: int
    sha256: str
    variant: str
    passages: int
    language: str
    title: str
    indexed_ns: int


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
        self._synced = file.with_name(_SYNCED)
        with _translated(file):
            if not read_only:
                self._db = _opened(str(file), is_made=True)
                return
            try:
                self._db = _opened(f"{file.absolute().as_uri()}?mode=ro")
            except sqlite3.Error as error:
                if not (_is_of_the_disk(error) and file.exists()):
                    raise
                # A reader too leaves a file beside it; where the disk takes none, the file is read by itself.
                self._db = _opened(f"{file.absolute().as_uri()}?immutable=1")

    @property
    def generation(self) -> str:
        """Which index this is the manifest of. After a rebuild it is another, and who wrote points writes them anew."""
        return self._meta().get("generation", "")

    @property
    def synced_ns(self) -> int:
        """When the index was last in step with all of the vault, keywords at least; 0 while it is first made."""
        with suppress(OSError):
            return self._synced.stat().st_mtime_ns
        return 0

    def identity(self) -> Identity | None:
        """What the index was made with; None where it was never finished being made."""
        values = self._meta()
        try:
            named = {name: values[name] for name in Identity.__dataclass_fields__ if name != "vector_size"}
            return Identity(**named, vector_size=int(values["vector_size"]))
        except (KeyError, ValueError):
            return None

    def set_identity(self, identity: Identity, generation: str) -> None:
        """Records what the index is made with, and which one it is."""
        values = {**asdict(identity), "generation": generation}
        with self._writing():
            self._db.execute("DELETE FROM meta")
            self._db.executemany("INSERT INTO meta VALUES (?, ?)", [(key, str(value)) for key, value in values.items()])

    def mark_synced(self, moment_ns: int) -> None:
        """All of the vault was in the index at `moment_ns`.

        The time of a file says so, because a row would have each search wait for the disk. It is told, not relied on.
        """
        with suppress(OSError):
            self._synced.touch()
            os.utime(self._synced, ns=(moment_ns, moment_ns))

    def loose_passages(self) -> int:
        """How many passages were written since the index was last compacted (an estimate, from above)."""
        since = int(self._meta().get("compacted_ns", "0"))
        with _translated(self.file):
            found = self._db.execute("SELECT coalesce(sum(passages), 0) FROM notes WHERE indexed_ns > ?", (since,))
            return int(found.fetchone()[0])

    def mark_compacted(self, moment_ns: int) -> None:
        """The index was compacted, or that was tried in vain, with all that was written before `moment_ns`."""
        with self._writing():
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('compacted_ns', ?)", (str(moment_ns),))

    def notes(self, feed: str = NOTES) -> dict[str, IndexedNote]:
        """What a feed gave, by path, those in progress included."""
        with _translated(self.file):
            rows = self._db.execute("SELECT * FROM notes WHERE feed = ?", (feed,))
            return {row[1]: IndexedNote._make(row) for row in rows}

    def stamps(self, feed: str, race_ns: int) -> list[tuple[str, int, int, str]]:
        """Path, time, size and variant of what a feed gave.

        The time is -1 of what was written within `race_ns` of its reading, or is in progress: that may have changed
        although it looks the same.
        """
        with _translated(self.file):
            return self._db.execute(
                "SELECT path, iif(mtime_ns < indexed_ns - ?, mtime_ns, -1), size, variant FROM notes WHERE feed = ?",
                (race_ns, feed),
            ).fetchall()

    def has(self, feed: str) -> bool:
        """Whether there is anything of a feed."""
        with _translated(self.file):
            return self._db.execute("SELECT 1 FROM notes WHERE feed = ? LIMIT 1", (feed,)).fetchone() is not None

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
        """How many passages the index holds; None while a note is in progress, when nobody can say."""
        with _translated(self.file):
            (in_progress, passages) = self._db.execute(
                "SELECT coalesce(sum(sha256 = ''), 0), coalesce(sum(passages), 0) FROM notes"
            ).fetchone()
        return None if in_progress else int(passages)

    def begin(self, feed: str, paths: Sequence[str]) -> None:
        """Marks these notes as in progress; what they waited for is forgotten."""
        with self._writing():
            self._db.executemany("DELETE FROM pending WHERE path = ?", [(path,) for path in paths])
            rows = [(feed, path, 0, 0, IN_PROGRESS, "", 0, "", "", 0) for path in paths]
            self._db.executemany(_PUT_NOTE, rows)

    def finish(
        self, feed: str, done: Iterable[IndexedNote], gone: Iterable[str], pending: Iterable[PendingVector]
    ) -> None:
        """Records notes that the index now holds durably, notes that it no longer holds, and vectors still to come."""
        with self._writing():
            self._db.executemany("DELETE FROM notes WHERE feed = ? AND path = ?", [(feed, path) for path in gone])
            self._db.executemany(_PUT_NOTE, list(done))
            waiting = [(item.id, item.path, item.key, item.text) for item in pending]
            self._db.executemany("INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?)", waiting)

    def touch(self, notes: Iterable[IndexedNote]) -> None:
        """Records that files were written, or only looked at again, while their content stayed as it was."""
        with self._writing():
            self._db.executemany(_PUT_NOTE, list(notes))

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

    def _meta(self) -> dict[str, str]:
        with _translated(self.file):
            return dict(self._db.execute("SELECT key, value FROM meta").fetchall())

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


_PUT_NOTE: Final = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def _opened(target: str, *, is_made: bool = False) -> sqlite3.Connection:
    db = sqlite3.connect(target, timeout=_BUSY_MS / 1000, isolation_level=None, uri=not is_made)
    try:
        if is_made:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.executescript(_TABLES)
        db.execute("SELECT count(*) FROM meta").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _is_of_the_disk(error: sqlite3.Error) -> bool:
    """Whether the disk is full or takes nothing: the manifest is whole then, and not to be made anew."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY in _OF_THE_DISK


@contextmanager
def _translated(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if _is_of_the_disk(error) and file.exists():
            raise StateUnwritable(
                f"The index's manifest {file} cannot be written: {error}.",
                hint="Free disk space or set the permissions right.",
            ) from error
        raise IndexFault(
            f"The index's manifest {file.name} cannot be used: {error}", hint="`infold index` makes it anew."
        ) from error
