"""What an index holds: notes by content, what its vectors still lack, and which may have to go. SQLite beside it.

A row is written as "in progress" before the index changes and with its hash after the index is durable, so that a
process killed in between leaves notes that the next sync does again. Lost or broken, it costs a rebuild, nothing else.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from infold.durable.sqlite import Database, Schema
from infold.errors import IndexFault, StateUnwritable, VaultBusy

if TYPE_CHECKING:
    import sqlite3

IN_PROGRESS: Final = ""
NOTES: Final = "notes"  # the feed of the vault's notes
_SYNCED: Final = "synced"  # its time is that of the last sync
_LISTED: Final = "listed "  # in meta, with the name of a feed: see `mark_listed`
_TOTALS: Final = "totals"  # in meta, by language: how many notes, passages, and notes in progress
_COUNT: Final = "SELECT language, count(*), sum(passages), sum(sha256 = '') FROM notes"
_UNLIST: Final = "DELETE FROM meta WHERE key = ?"
_BUSY_SECONDS: Final = 5.0
_TABLES: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE notes (
    feed TEXT NOT NULL, path TEXT NOT NULL, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
    variant TEXT NOT NULL, passages INTEGER NOT NULL, language TEXT NOT NULL, title TEXT NOT NULL,
    indexed_ns INTEGER NOT NULL, PRIMARY KEY (feed, path)
) WITHOUT ROWID""",
    """CREATE TABLE due (
    feed TEXT NOT NULL, key TEXT NOT NULL, passages INTEGER NOT NULL, PRIMARY KEY (feed, key)
) WITHOUT ROWID""",
    "CREATE TABLE leaving (number INTEGER PRIMARY KEY)",
)
_LEANER: Final = (  # no titles, and hashes as bytes
    "ALTER TABLE notes RENAME TO former",
    """CREATE TABLE notes (
    feed TEXT NOT NULL, path TEXT NOT NULL, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, sha256 NOT NULL,
    variant TEXT NOT NULL, passages INTEGER NOT NULL, language TEXT NOT NULL, indexed_ns INTEGER NOT NULL,
    PRIMARY KEY (feed, path)
) WITHOUT ROWID""",
    """INSERT INTO notes
    SELECT feed, path, mtime_ns, size, sha256, variant, passages, language, indexed_ns FROM former""",
    "DROP TABLE former",
)
SCHEMA: Final = Schema(
    "the index's manifest", "notes", (_TABLES, _LEANER), IndexFault, hint="`infold index` makes the index anew."
)
_PUT_NOTE: Final = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_GIVEN: Final = """SELECT feed, path, mtime_ns, size, iif(typeof(sha256) = 'blob', lower(hex(sha256)), sha256),
    variant, passages, language, indexed_ns FROM notes"""
_HASH: Final = re.compile("[0-9a-f]{64}")


class Identity(NamedTuple):
    """What an index was made with. One that differs in any of these is made anew."""

    schema: str
    tokeniser: str
    model: str  # "" where there are no vectors
    passages: str  # how notes were cut
    language: str = "auto"
    engine: str = "edge"


class IndexedNote(NamedTuple):
    """A note, or whatever else a feed gives, that the index holds.

    `sha256` is of its bytes, IN_PROGRESS while it is written. `variant` is what else its points depend on (the kind of
    a note, and the day in its name). `indexed_ns` is when a sync last compared its bytes, `mtime_ns` and `size` are of
    its file then.
    """

    feed: str
    path: str
    mtime_ns: int
    size: int
    sha256: str
    variant: str
    passages: int
    language: str
    indexed_ns: int


class DueVectors(NamedTuple):
    """Something whose vectors are not as its words are: a path or the id of a point, and how many it has; 0: gone."""

    key: str
    passages: int


_Totals = dict[str, tuple[int, int, int]]


class Manifest:
    """The manifest in `file`, made on first use. Raises IndexFault where it is damaged."""

    def __init__(self, file: Path, *, read_only: bool = False) -> None:
        self.file = file
        self._synced = file.with_name(_SYNCED)
        opened = Database.read_only if read_only else Database
        self._db = opened(file, SCHEMA, busy_seconds=_BUSY_SECONDS)

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
            return Identity(**{name: values[name] for name in Identity._fields})
        except KeyError:
            return None

    def set_identity(self, identity: Identity, generation: str) -> None:
        """Records what the index is made with, and which one it is."""
        values = {**identity._asdict(), "generation": generation}
        with self._db.writing() as db:
            db.execute("DELETE FROM meta")
            db.executemany("INSERT INTO meta VALUES (?, ?)", [(key, str(value)) for key, value in values.items()])

    def mark_synced(self, moment_ns: int) -> None:
        """All of the vault was in the index at `moment_ns`.

        The time of a file says so, because a row would have each search wait for the disk. It is told, not relied on.
        """
        with suppress(OSError):
            self._synced.touch()
            os.utime(self._synced, ns=(moment_ns, moment_ns))

    @property
    def has_vectors(self) -> bool:
        """Whether room for vectors was made."""
        return "vectors" in self._meta()

    def mark_vectors(self) -> None:
        """There is room for vectors now."""
        self._set("vectors", "1")

    def loose_passages(self) -> int:
        """How many passages were written since the vectors were last compacted (an estimate, from above)."""
        since = int(self._meta().get("compacted_ns", "0"))
        return int(self._one("SELECT coalesce(sum(passages), 0) FROM notes WHERE indexed_ns > ?", since))

    def mark_compacted(self, moment_ns: int) -> None:
        """The vectors were compacted, or that was tried in vain, with all that was written before `moment_ns`."""
        self._set("compacted_ns", str(moment_ns))

    def notes(self, feed: str = NOTES, paths: Collection[str] | None = None) -> dict[str, IndexedNote]:
        """What a feed gave, or what of it is at these paths, by path, those in progress included."""
        query, values = f"{_GIVEN} WHERE feed = ?", [feed]
        if paths is not None:
            query += " AND path IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(list(paths)))
        with self._db.reading() as db:
            rows = db.execute(query, values)
            return {row[1]: IndexedNote._make(row) for row in rows}

    def stamps(self, feed: str, race_ns: int) -> list[tuple[str, int, int, str]]:
        """Path, time, size and variant of what a feed gave, by path.

        The time is -1 of what was written within `race_ns` of its reading, or is in progress: that may have changed
        although it looks the same.
        """
        with self._db.reading() as db:
            return db.execute(
                "SELECT path, iif(mtime_ns < indexed_ns - ?, mtime_ns, -1), size, variant FROM notes WHERE feed = ? "
                "ORDER BY path",  # as the table has them
                (race_ns, feed),
            ).fetchall()

    def is_listed(self, feed: str, digest: bytes) -> int | None:
        """How many files a feed's listing of this digest has, where the index holds just these for certain; else None.

        As was noted by `mark_listed`, and nothing of the feed was written since.
        """
        with self._db.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (_LISTED + feed,)).fetchone()
        count, _, known = row[0].partition(" ") if row is not None else ("", "", "")
        return int(count) if known == digest.hex() else None

    def mark_listed(self, feed: str, digest: bytes, count: int) -> None:
        """The index holds the `count` files of this listing for certain. Kept where it can be."""
        with suppress(StateUnwritable, VaultBusy):
            self._set(_LISTED + feed, f"{count} {digest.hex()}")

    def has(self, feed: str) -> bool:
        """Whether there is anything of a feed."""
        return bool(self._one("SELECT EXISTS (SELECT 1 FROM notes WHERE feed = ?)", feed))

    def languages(self, most: int) -> tuple[str, ...]:
        """The languages of the notes, commonest first."""
        counts = {language: notes for language, (notes, *_) in self._totals().items() if language and notes}
        return tuple(sorted(counts, key=lambda language: (-counts[language], language))[:most])

    def passage_count(self) -> int | None:
        """How many passages the index holds; None while a note is in progress, when nobody can say."""
        counts = self._totals().values()
        return None if any(in_progress for *_, in_progress in counts) else sum(passages for _, passages, _ in counts)

    def begin(self, feed: str, paths: Sequence[str], leaving: Iterable[int] = ()) -> None:
        """Marks these notes as in progress, and the vectors that they had, by number, as leaving."""
        with self._writing_notes(feed, paths) as db:
            db.executemany("INSERT OR IGNORE INTO leaving VALUES (?)", [(number,) for number in leaving])
            db.executemany(_PUT_NOTE, [(feed, path, 0, 0, IN_PROGRESS, "", 0, "", 0) for path in paths])

    def finish(
        self, feed: str, done: Iterable[IndexedNote], gone: Sequence[str], due: Iterable[DueVectors] = ()
    ) -> None:
        """Records notes that the index now holds durably, and notes that it no longer holds.

        What is `due` still has to have its vectors written, or taken away; of all others they are as their words are.
        """
        kept = list(done)
        paths = [*(note.path for note in kept), *gone]
        with self._writing_notes(feed, paths) as db:
            db.executemany("DELETE FROM notes WHERE feed = ? AND path = ?", [(feed, path) for path in gone])
            db.executemany(_PUT_NOTE, map(_row, kept))
            db.executemany("DELETE FROM due WHERE feed = ? AND key = ?", [(feed, path) for path in paths])
            db.executemany("INSERT OR REPLACE INTO due VALUES (?, ?, ?)", [(feed, *one) for one in due])

    def touch(self, notes: Iterable[IndexedNote]) -> None:
        """Records that files were written, or only looked at again, while their content stayed as it was."""
        touched = list(notes)
        with self._db.writing() as db:
            db.executemany(_UNLIST, [(_LISTED + feed,) for feed in {note.feed for note in touched}])
            db.executemany(_PUT_NOTE, map(_row, touched))

    def leaving(self) -> list[int]:
        """The numbers of vectors that go unless a point has them: noted before their points were taken away."""
        with self._db.reading() as db:
            return [number for (number,) in db.execute("SELECT number FROM leaving")]

    def gone(self, numbers: Iterable[int]) -> None:
        """These vectors went, or stayed because a point has them."""
        with self._db.writing() as db:
            db.executemany("DELETE FROM leaving WHERE number = ?", [(number,) for number in numbers])

    def due(self, feed: str) -> list[DueVectors]:
        """What of a feed waits for its vectors."""
        with self._db.reading() as db:
            found = db.execute("SELECT key, passages FROM due WHERE feed = ? ORDER BY key", (feed,))
            return [DueVectors._make(row) for row in found]

    def pending_count(self) -> int:
        """How many passages wait for a vector."""
        return int(self._one("SELECT coalesce(sum(passages), 0) FROM due"))

    def settle(self, feed: str, keys: Iterable[str]) -> None:
        """The vectors of these are as their words are now."""
        with self._db.writing() as db:
            db.executemany("DELETE FROM due WHERE feed = ? AND key = ?", [(feed, key) for key in keys])

    def close(self) -> None:
        """Lets go of the file."""
        self._db.close()

    @contextmanager
    def _writing_notes(self, feed: str, paths: Sequence[str]) -> Iterator[sqlite3.Connection]:
        """A transaction that writes these rows: what all rows come to is told with them, and no listing holds on.

        Every search asks for that, and going through all rows takes it milliseconds.
        """
        with self._db.writing() as db:
            db.execute(_UNLIST, (_LISTED + feed,))
            totals = _totals_in(db)
            _add(totals, _counted(db, feed, paths), -1)
            yield db
            _add(totals, _counted(db, feed, paths), 1)
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_TOTALS, json.dumps(totals)))

    def _totals(self) -> _Totals:
        with self._db.reading() as db:
            return _totals_in(db)

    def _meta(self) -> dict[str, str]:
        with self._db.reading() as db:
            return dict(db.execute("SELECT key, value FROM meta").fetchall())

    def _set(self, key: str, value: str) -> None:
        with self._db.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def _one(self, question: str, *values: object) -> Any:
        with self._db.reading() as db:
            return db.execute(question, values).fetchone()[0]


def _row(note: IndexedNote) -> IndexedNote | tuple[object, ...]:
    """The note as the table has it: a hash as bytes, which take half the room; what is no hash as it is."""
    feed, path, mtime_ns, size, sha256, *rest = note
    return (feed, path, mtime_ns, size, bytes.fromhex(sha256), *rest) if _HASH.fullmatch(sha256) else note


def _totals_in(db: sqlite3.Connection) -> _Totals:
    kept = db.execute("SELECT value FROM meta WHERE key = ?", (_TOTALS,)).fetchone()
    with suppress(TypeError, ValueError):  # damaged, they are counted again
        if kept is not None:
            return {language: tuple(counts) for language, counts in json.loads(kept[0]).items()}
    return _by_language(db.execute(f"{_COUNT} GROUP BY language"))


def _counted(db: sqlite3.Connection, feed: str, paths: Sequence[str]) -> _Totals:
    where = "WHERE feed = ? AND path IN (SELECT value FROM json_each(?)) GROUP BY language"
    return _by_language(db.execute(f"{_COUNT} {where}", (feed, json.dumps(paths))))


def _by_language(rows: Iterable[tuple[str, int, int, int]]) -> _Totals:
    return {language: (notes, passages, in_progress) for language, notes, passages, in_progress in rows}


def _add(totals: _Totals, others: _Totals, times: int) -> None:
    for language, more in others.items():
        notes, passages, in_progress = map(add, totals.get(language, (0, 0, 0)), (times * one for one in more))
        totals[language] = notes, passages, in_progress
