"""The catalogue: what every note of a vault says of itself, in one SQLite file, made by one scan and one parse.

Reads and holds; bringing it up to date is `catalogue.sync`. All of it is derived: a file that is damaged, or was made
otherwise, is made anew. Text is not kept: a note's text is read from its file, once while it is in use.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

from infold.catalogue.cutting import cutting_of
from infold.catalogue.days import DayFrom, day_in_name, written_day
from infold.catalogue.held_notes import HeldNote, HeldNotes, held_by_worker
from infold.catalogue.link_blob import unpack_targets
from infold.catalogue.records import (
    CataloguedNote,
    ListedNote,
    NoteTitle,
    Stamp,
    WrittenNote,
    strings,
)
from infold.catalogue.schema import GENERATION, SCHEMA, TABLES_OF_NOTES, identity
from infold.durable.sqlite import Database
from infold.errors import CatalogueFault, StateUnwritable, VaultBusy
from infold.settings_record import plain_settings
from infold.text import content_hash
from infold.vault.files import decode, read_bytes

if TYPE_CHECKING:
    from infold.catalogue.passages import PassageCut
    from infold.settings import Params
    from infold.vault.records import Note
    from infold.workspace import Workspace

_DAMAGE: Final = (CatalogueFault, LookupError, TypeError, ValueError)  # of packed bytes that are not as they were
RACE_NS: Final = 2_000_000_000  # two writes within this time may leave a file with one time stamp


class Catalogue:
    """The catalogue of the vault at `vault`, kept in `file`; opened when it is first asked. For any number of threads.

    May be pickled: a worker opens its own. Everything here raises StateUnwritable where the system refuses.
    """

    def __init__(self, file: Path, vault: Path, params: Params) -> None:
        self.file, self.vault, self.params = file, vault, params
        self._lock = RLock()
        self._opened: Database | None = None
        self._is_damaged = False  # as it turned out when it was read
        self._held = held_by_worker(vault, cutting_of(params)) or HeldNotes()
        self._outgoing: tuple[str | None, dict[str, tuple[str, ...]]] = None, {}  # of all notes, by the generation

    def __getstate__(self) -> tuple[Path, Path, Params]:
        return self.file, self.vault, plain_settings(self.params)

    def __setstate__(self, state: tuple[Path, Path, Params]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def close(self) -> None:
        """Lets go of the file and of all texts. What is asked afterwards opens it again."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
            self._opened = None
            self._held.clear()
            self._outgoing = None, {}
            if self._is_damaged:
                self._unlink()

    # notes

    def notes(self, paths: Iterable[str] | None = None) -> list[CataloguedNote]:
        """Every note, or those of these paths that there are, by path."""
        named = day_in_name(self.vault, self.params.notebook)
        wanted = None if paths is None else json.dumps(list(paths))
        with self.reading() as db:
            rows = db.execute(
                _NOTES if wanted is None else _THESE_NOTES, () if wanted is None else (wanted,)
            ).fetchall()
        return [_catalogued(row, named(row[0])) for row in rows]

    def listed(self) -> list[ListedNote]:
        """Every note in brief, by path."""
        with self.reading() as db:
            return list(map(ListedNote._make, db.execute(_LISTED)))

    def titles(self) -> list[NoteTitle]:
        """What every note is called, by path."""
        with self.reading() as db:
            rows = db.execute("SELECT path, title, aliases FROM files JOIN notes USING (id) ORDER BY path").fetchall()
        return [NoteTitle(path, title, strings(aliases)) for path, title, aliases in rows]

    def targets(self) -> dict[str, tuple[str | None, ...]]:
        """Where each link of each note leads, in the order of its links; by path, notes without links left out."""
        with self.reading() as db:
            paths = paths_by_id(db)
            rows = db.execute("SELECT note, targets FROM links").fetchall()
        return {paths[note]: tuple(map(paths.get, unpack_targets(targets))) for note, targets in rows}

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, Stamp]:
        """Every file, or those of these paths that there are, as they were last looked at."""
        wanted = None if paths is None else json.dumps(list(paths))
        with self.reading() as db:
            rows = db.execute(_STAMPS) if wanted is None else db.execute(_THESE_STAMPS, (wanted,))
            return {row[0]: Stamp._make(row) for row in rows}

    def certain(self) -> set[tuple[str, int, int]]:
        """Path, size and time of the files that are unchanged for certain where they still have these."""
        with self.reading() as db:
            return set(db.execute("SELECT path, size, mtime_ns FROM files WHERE is_certain").fetchall())

    def paths(self) -> list[str]:
        """The path of every note, sorted."""
        with self.reading() as db:
            return [path for (path,) in db.execute("SELECT path FROM files ORDER BY path")]

    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each note's bytes, by path."""
        with self.reading() as db:
            return dict(db.execute("SELECT path, lower(hex(sha256)) FROM files ORDER BY path").fetchall())

    def aliases(self) -> dict[str, tuple[str, ...]]:
        """The aliases of the notes that have any, by path."""
        with self.reading() as db:
            rows = db.execute("SELECT path, aliases FROM files JOIN notes USING (id) WHERE aliases != ''").fetchall()
        return {path: strings(aliases) for path, aliases in rows}

    def count(self) -> int:
        """How many notes there are."""
        with self.reading() as db:
            return int(db.execute("SELECT count(*) FROM files").fetchone()[0])

    def problems(self) -> list[tuple[str, str]]:
        """The notes that could not be read in every part, and why."""
        with self.reading() as db:
            return db.execute(_PROBLEMS).fetchall()

    def outgoing(self, sources: Iterable[str] | None = None) -> dict[str, tuple[str, ...]]:
        """The notes that each note, or each of these, links to, in their order, each once, itself left out; by path."""
        wanted = None if sources is None else json.dumps(list(sources))
        with self.reading() as db:
            if wanted is None:
                seen = self._generation(db)
                if self._outgoing[0] == seen is not None:
                    return self._outgoing[1]
                paths = paths_by_id(db)
                rows = db.execute("SELECT note, targets FROM links").fetchall()
                found: dict[str, tuple[str, ...]] = dict.fromkeys(paths.values(), ())
            else:
                notes = db.execute(_THESE_TARGETS, (wanted,)).fetchall()
                found = {path: () for _, path, _ in notes}
                rows = [(note, targets) for note, _, targets in notes if targets]
                there = {target for _, targets in rows for target in unpack_targets(targets)}
                paths = {note: path for note, path, _ in notes} | paths_by_id(db, there)
        for note, targets in rows:
            leads = {target: paths[target] for target in unpack_targets(targets) if target != note and target in paths}
            found[paths[note]] = tuple(leads.values())
        if wanted is None:
            self._outgoing = seen, found
        return found

    @staticmethod
    def _generation(db: Connection) -> str | None:
        row = db.execute("SELECT value FROM meta WHERE key = ?", (GENERATION,)).fetchone()
        return None if row is None else str(row[0])

    # one note

    def known_hash(self, path: str) -> str:
        """The content hash that the catalogue has of a note; "" where it has none."""
        with self.reading() as db:
            row = db.execute("SELECT sha256 FROM files WHERE path = ?", (path,)).fetchone()
        return row[0].hex() if row is not None else ""

    def text(self, path: str) -> str:
        """The text of a note, as it was when it was first asked for since the last sync.

        Raises PathRefused and NoteUnreadable.
        """
        return self._read(path).text

    def hold(self, path: str, sha256: str, text: str, written: WrittenNote | None = None) -> None:
        """Holds a note that was read just now; the longest unused go when there are too many.

        `written` is without blocks and links.
        """
        self._held.hold(path, HeldNote(sha256, text, written))

    def drop(self, paths: list[str]) -> None:
        """Holds these notes no longer."""
        self._held.drop(paths)

    def note(self, path: str) -> Note:
        """The note at `path`, without a parse where it is as the catalogue has it.

        Raises PathRefused and NoteUnreadable.
        """
        return self.written(path, with_passages=False).note

    def written(self, path: str, *, with_blocks: bool = True, with_passages: bool = True) -> WrittenNote:
        """The note at `path` with its passages. Raises PathRefused and NoteUnreadable.

        Without blocks and links, which is all that an index needs, it takes a third of the time.
        """
        from infold.catalogue.outline_blob import unpack_note

        sha256, text, parsed = self._read(path)
        if parsed is not None and not with_blocks:
            return parsed
        with self.reading() as db:
            row = db.execute(
                "SELECT id, title, tags, aliases, outline, passages FROM files JOIN notes USING (id) "
                "JOIN outlines USING (id) WHERE path = ? AND sha256 = ?",
                (path, bytes.fromhex(sha256)),
            ).fetchone()
            links = None
            if row is not None and with_blocks:
                links = db.execute("SELECT said, places FROM links WHERE note = ?", row[:1]).fetchone()
        if row is not None:
            _, title, tags, aliases, outline, passages = row
            with suppress(*_DAMAGE):
                note, cuts = unpack_note(
                    path,
                    text,
                    outline,
                    links or (b"", b""),
                    title=title,
                    tags=strings(tags),
                    aliases=strings(aliases),
                    with_blocks=with_blocks,
                    passages=passages if with_passages else None,
                )
                return WrittenNote(note, sha256, cuts)
        return self._parsed(path, text, sha256, with_passages=with_passages)

    def _parsed(self, path: str, text: str, sha256: str, *, with_passages: bool) -> WrittenNote:
        """The note by a parse: it was changed since the last sync, or what is known of it is damaged."""
        from infold.catalogue.passages import cut
        from infold.vault.note import parse

        note = parse(path, text)
        search = self.params.search
        most = search.max_passages
        cuts = cut(note, search.passage_tokens, search.overlap_tokens, most) if with_passages else []
        return WrittenNote(note, sha256, cuts)

    def passage_cuts(self, path: str) -> list[PassageCut]:
        """Where the passages of a note as it is now start and end, in order. Raises PathRefused and NoteUnreadable."""
        from infold.catalogue.outline_blob import unpack_cuts

        with self.reading() as db:
            row = db.execute(_CUTS, (path, bytes.fromhex(self._read(path).sha256))).fetchone()
        if row is not None:
            with suppress(*_DAMAGE):
                return list(unpack_cuts(row[0]))
        return [(each.start, each.end, -1) for each in self.written(path).passages]

    def _read(self, path: str) -> HeldNote:
        held = self._held.get(path)
        if held is None:
            data = read_bytes(self.vault, path, self.params.vault.max_note_bytes)
            held = HeldNote(content_hash(data), decode(data, path))
            self._held.hold(path, held)
        return held

    # the file

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction of whoever brings the catalogue up to date."""
        with self._database().writing() as db:
            yield db

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One state of the catalogue for several questions.

        Where damage shows, the file goes when it is closed: the next command makes it anew.
        """
        try:
            with self._database().reading() as db:
                yield db
        except CatalogueFault:
            self._is_damaged = True
            raise

    def _database(self) -> Database:
        with self._lock:
            if self._opened is None:
                try:
                    self._opened = self._open()
                except CatalogueFault:
                    self.remove()
                    self._opened = self._open()
            return self._opened

    def _open(self) -> Database:
        database = Database(self.file, SCHEMA)
        made_by = identity(self.params)
        with database.reading() as db:
            known = db.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        if known != (made_by,):
            with database.writing() as db:
                forget_notes(db)
                db.execute("INSERT OR REPLACE INTO meta VALUES ('identity', ?)", (made_by,))
            if known is not None:
                with suppress(VaultBusy, StateUnwritable), database.alone() as db:
                    db.execute("VACUUM")  # the room of what was there, while there is nothing to be moved
        return database

    def remove(self) -> None:
        """Takes the file away: the next sync makes it anew. Raises StateUnwritable."""
        self.close()
        self._unlink()

    def _unlink(self) -> None:
        self._is_damaged = False
        try:
            for suffix in ("", "-wal", "-shm"):
                self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise StateUnwritable(f"{self.file} cannot be removed: {error.strerror or error}.") from error


_NOTES: Final = (
    "SELECT path, lower(hex(sha256)), title, words, tokens, front_day, day, headings, tags, aliases, origin, trust, "
    "problem FROM files JOIN notes USING (id) ORDER BY path"
)
# A cross join, because all files would else be gone through by path, for the order of the few that are wanted.
_PROBLEMS: Final = "SELECT path, problem FROM notes CROSS JOIN files USING (id) WHERE problem IS NOT NULL ORDER BY path"
_STAMPS: Final = "SELECT path, size, mtime_ns, is_certain, lower(hex(sha256)) FROM files"
_THESE_STAMPS: Final = f"{_STAMPS} WHERE path IN (SELECT value FROM json_each(?))"  # noqa: S608 - our own columns
_LISTED: Final = (
    "SELECT path, lower(hex(sha256)), title, words, headings FROM files JOIN notes USING (id) ORDER BY path"
)
_THESE_NOTES: Final = _NOTES.replace("ORDER BY", "WHERE path IN (SELECT value FROM json_each(?)) ORDER BY")
_THESE_TARGETS: Final = (
    "SELECT id, path, targets FROM files LEFT JOIN links ON note = id "
    "WHERE path IN (SELECT value FROM json_each(?)) ORDER BY path"
)
_CUTS: Final = "SELECT passages FROM files JOIN outlines USING (id) WHERE path = ? AND sha256 = ?"


def catalogue_of(workspace: Workspace) -> Catalogue:
    """The catalogue of a workspace's vault."""
    return Catalogue(workspace.catalogue, workspace.vault, workspace.params)


def forget_notes(db: Connection) -> None:
    """Takes away every note, and what was worked out of them."""
    for table, _ in TABLES_OF_NOTES:
        db.execute(f"DELETE FROM {table}")  # noqa: S608 - our own tables
    db.execute("DELETE FROM derived")


def paths_by_id(db: Connection, notes: Iterable[int] | None = None) -> dict[int, str]:
    """The path of every note, or of these as far as there are such, by its id; in the order of the paths."""
    if notes is None:
        return dict(db.execute("SELECT id, path FROM files ORDER BY path").fetchall())
    wanted = json.dumps(list(notes))
    return dict(db.execute("SELECT id, path FROM files WHERE id IN (SELECT value FROM json_each(?))", (wanted,)))


def _catalogued(row: tuple[Any, ...], named_day: str | None) -> CataloguedNote:
    path, sha256, title, words, tokens, front_day, file_day, headings, tags, aliases, *said = row
    source = DayFrom.NAME if named_day else DayFrom.FRONT_MATTER if front_day else DayFrom.FILE
    day = named_day or front_day or written_day(file_day)
    lists = strings(tags), strings(aliases)
    return CataloguedNote(path, sha256, title, words, tokens, day, source, headings, *lists, *said)
