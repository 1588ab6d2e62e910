"""Keeps the catalogue in step with the vault: one scan, and one reading of what changed.

A file of the size and time known is taken as unchanged, unless it was written shortly before it was looked at or later:
then its hash decides. A vault that is suddenly empty or away empties nothing, and what is only out of reach stays
known. Killed anywhere, the next sync does the rest: notes are written in rounds, and links are worked out last.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from sqlite3 import Connection
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.catalogue.cutting import cutting_of
from infold.catalogue.days import day_of_file
from infold.catalogue.link_blob import led_before
from infold.catalogue.records import Stamp
from infold.catalogue.schema import GENERATION, TABLES_OF_NOTES
from infold.catalogue.store import RACE_NS, Catalogue
from infold.errors import CatalogueFault, StateUnwritable, VaultBusy, VaultNotFound
from infold.vault.scanning import FileStat, Scan, Skipped, scan
from infold.workers import MANY, Crew, processors, without_collection

if TYPE_CHECKING:  # the parser is for notes that changed
    from infold.catalogue.facts import NoteFacts
    from infold.catalogue.reading import FactsReading, Make

_log: Final = logging.getLogger(__name__)
CountProgress = Callable[[int, int], None]
ROUND: Final = 1000  # notes of one transaction
_KNOWN: Final = (
    "SELECT path, id, day, aliases, targets, said FROM files JOIN notes USING (id) LEFT JOIN links ON note = id "
    "WHERE path IN (SELECT value FROM json_each(?))"
)
_PUT_FILE: Final = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)"
_PUT_NOTE: Final = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_OUTLINE: Final = "INSERT OR REPLACE INTO outlines VALUES (?, ?, ?)"
_PUT_LINKS: Final = "INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?)"
_COUNT: Final = "INSERT INTO meta VALUES (?, '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
_LOOKED: Final = "looked"  # in meta: counts writes of what is known of files
_SEEN: Final = "seen"  # in derived, by the count of these writes: the digest of a scan that the catalogue has in full
_UNRESOLVED: Final = "unresolved"  # in meta: notes were written whose links were not worked out yet


@dataclass(frozen=True)
class CatalogueResult:
    """What one sync did. `emptied`: no notes were found where there had been some, so nothing was touched.

    `seen` is what was found there. `digest` tells it from every other where all of it is in the catalogue for certain,
    and nothing else; else it is empty.
    """

    scanned: int
    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    seconds: float
    emptied: bool = False
    warnings: tuple[Skipped, ...] = ()  # notes whose front matter could not be read, and why
    seen: Scan = field(default_factory=Scan, repr=False, compare=False)
    digest: bytes = b""
    among: frozenset[str] | None = field(default=None, repr=False)  # the paths that were looked at, where not at all
    failed: frozenset[str] = field(default=frozenset(), repr=False)  # paths of notes that cannot be read

    @cached_property
    def files(self) -> tuple[FileStat, ...]:
        """Those that the catalogue has as they are now."""
        if self.emptied:
            return ()
        seen, among, failed = self.seen.files, self.among, self.failed
        if among is None and not failed:
            return seen
        return tuple(file for file in seen if file.path not in failed and (among is None or file.path in among))


def sync_catalogue(
    catalogue: Catalogue, paths: Sequence[str] | None = None, progress: CountProgress | None = None
) -> CatalogueResult:
    """Brings the catalogue up to date with the vault; with `paths` only what is at these is looked at.

    `progress(done, total)` counts files read. Raises VaultNotFound where there is neither vault nor catalogue, and
    StateUnwritable.
    """
    try:
        return CatalogueSync(catalogue, paths, progress).run()
    except CatalogueFault as fault:
        _log.info("made anew: %s", fault)
        catalogue.remove()
        return CatalogueSync(catalogue, paths, progress).run()


class _Wanted(NamedTuple):
    """A file whose bytes have to be looked at."""

    file: FileStat
    known: Stamp | None


if TYPE_CHECKING:
    _Read = tuple[_Wanted, FactsReading]
    _Found = tuple[FileStat, NoteFacts]


class CatalogueSync:
    """One sync while it runs: `run`, or step by step, for whoever makes something of the notes as they are read.

    That is what `make` gives of a batch of notes, which may be called in a worker.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        paths: Sequence[str] | None = None,
        progress: CountProgress | None = None,
        make: Make | None = None,
    ) -> None:
        self._catalogue, self._progress, self._make = catalogue, progress or _silent, make
        self._paths = None if paths is None else frozenset(paths)
        self._started, self._started_ns = time.monotonic(), time.time_ns()
        self._failed: list[Skipped] = []
        self._added = self._changed = 0
        self._looked = 0
        self._unresolved: set[int] = set()  # notes with links that are not known to lead anywhere
        self._are_names_new = False
        self._files: list[FileStat] = []
        self._known: Mapping[str, Stamp] = {}
        self._wanted: list[_Wanted] = []
        self._gone: list[str] = []
        self._was_left = False
        self._done: CatalogueResult | None = None

    def run(self) -> CatalogueResult:
        """Does all of it."""
        self.begin()
        for _ in self.read():
            pass
        return self.end()

    def begin(self) -> int:
        """Looks at the vault; says how many files are to be read. Raises VaultNotFound."""
        seen = self._seen = self._scanned()
        if self._paths is None and self._is_as_marked(seen):
            seen.clashes = {}
            self._done = self._result(seen, 0, is_whole=True)
            return 0
        self._files = [file for file in seen.files if self._paths is None or file.path in self._paths]
        if not self._files and self._is_suddenly_empty():
            self._done = self._result(seen, 0, emptied=True)
            return 0
        self._was_left = self._is_left()
        self._known, self._wanted, self._gone = self._compared(self._files)
        return len(self._wanted)

    def read(self) -> Iterator[tuple[FileStat, FactsReading]]:
        """Reads them, and gives each when the catalogue has it."""
        with without_collection():
            for batch in _rounds(self._readings()):
                self._write(batch)
                yield from ((wanted.file, reading) for wanted, reading in batch)

    def end(self) -> CatalogueResult:
        """Takes away what is gone, and works out where links lead; says what was done."""
        if self._done is not None:
            return self._done
        seen, leaving = self._seen, self._leaving(self._known, self._gone, self._seen)
        if leaving or self._unresolved or self._was_left:
            self._finish(leaving, all_links=bool(leaving) or self._are_names_new or self._was_left)
        is_whole = self._is_whole(self._files, self._wanted)
        if is_whole and not seen.clashes:
            self._mark(seen)
        done = self._done = self._result(seen, len(leaving), is_whole=is_whole)
        _log.debug(
            "%d files: %d added, %d changed, %d removed, %d skipped in %.3f s",
            *(done.scanned, done.added, done.changed, done.removed, len(done.skipped), done.seconds),
        )
        return done

    def _is_as_marked(self, seen: Scan) -> bool:
        """Whether an equal scan was compared with the catalogue as it is, and all of it was there for certain."""
        with self._catalogue.reading() as db:
            marked = db.execute("SELECT data FROM derived WHERE name = ? AND generation = ?", (_SEEN, _looked(db)))
            return bool(marked.fetchone() == (seen.digest,))

    def _compared(self, files: Sequence[FileStat]) -> tuple[Mapping[str, Stamp], list[_Wanted], list[str]]:
        """What was known of files that are not unchanged for certain, those that are to be read, and what is no more.

        Without a row of the many that are as they were.
        """
        catalogue = self._catalogue
        with catalogue.reading() as db:
            self._looked = _looked(db)
            count = catalogue.count()
            doubtful = files if self._paths is not None else sorted(set(files) - catalogue.certain())
            known = catalogue.stamps(self._paths or [file.path for file in doubtful])
            is_all_there = len(files) - len(doubtful) + len(known) == count
            rows = known if self._paths is not None or is_all_there else catalogue.paths()
        there = {file.path for file in files}
        wanted = [_Wanted(file, known.get(file.path)) for file in doubtful]
        return known, [item for item in wanted if not _is_as_known(*item)], [path for path in rows if path not in there]

    def _is_whole(self, files: Sequence[FileStat], read: Sequence[_Wanted]) -> bool:
        """Whether the catalogue has all that there is, and nothing else, for certain."""
        if self._paths is not None or self._failed or self._catalogue.count() != len(files):
            return False
        return all(self._is_certain(item.file) for item in read)

    def _mark(self, seen: Scan) -> None:
        """Keeps that the catalogue has all of a scan for certain, unless another process wrote meanwhile."""
        with suppress(StateUnwritable, VaultBusy), self._catalogue.writing() as db:
            if _looked(db) == self._looked:
                db.execute("INSERT OR REPLACE INTO derived VALUES (?, ?, ?)", (_SEEN, self._looked, seen.digest))

    def _scanned(self) -> Scan:
        catalogue = self._catalogue
        try:
            return scan(catalogue.vault, catalogue.params.vault, near=self._paths)
        except VaultNotFound:
            if not catalogue.count():
                raise
            reason = f"there is no vault folder at {catalogue.vault}; what is known of its notes was kept"
            return Scan((), (Skipped(".", reason, is_kept=True),))

    def _is_suddenly_empty(self) -> bool:
        """Whether there is no note at all where some were known."""
        if not self._catalogue.count():
            return False
        if self._paths is None:
            return True
        return not self._catalogue.vault.is_dir() or not scan(self._catalogue.vault, self._catalogue.params.vault).files

    def _readings(self) -> Iterator[_Read]:
        wanted = self._wanted
        if not wanted:
            return
        workers = processors() if len(wanted) > MANY else 1
        items = [(item.file.path, item.known.sha256 if item.known else None) for item in wanted]
        done = 0
        with closing(Crew("infold.catalogue.reading:read_notes", workers, by=itemgetter(0))) as crew:
            cutting = cutting_of(self._catalogue.params)
            for batch in crew.each(items, self._catalogue.vault, cutting, self._make, workers == 1):
                yield from ((wanted[number], reading) for number, reading in batch)
                done += len(batch)
                self._progress(done, len(wanted))

    def _write(self, batch: Sequence[_Read]) -> None:
        catalogue = self._catalogue
        with catalogue.writing() as db:
            self._note(db)
            found: list[_Found] = []
            for wanted, reading in batch:
                if reading.reason is not None:
                    self._failed.append(Skipped(reading.path, reading.reason, reading.is_kept))
                elif reading.facts is None:
                    self._touch(db, wanted.file)
                else:
                    found.append((wanted.file, reading.facts))
            if found:
                self._put(db, found)
                db.execute(_COUNT, (GENERATION,))
            if self._unresolved:
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", (_UNRESOLVED,))
        for _, reading in batch:
            if reading.facts is not None:
                catalogue.drop([reading.path])
                if reading.written is not None:
                    catalogue.hold(reading.path, reading.facts.sha256, reading.written.note.text, reading.written)

    def _note(self, db: Connection) -> None:
        """What is known of files is about to be written."""
        db.execute(_COUNT, (_LOOKED,))
        self._looked += 1

    def _touch(self, db: Connection, file: FileStat) -> None:
        stamp = (file.size, file.mtime_ns, self._is_certain(file), file.path)
        db.execute("UPDATE files SET size = ?, mtime_ns = ?, is_certain = ? WHERE path = ?", stamp)

    def _is_certain(self, file: FileStat) -> bool:
        """Whether no later write can leave the file with the time that it has."""
        return file.mtime_ns < self._started_ns - RACE_NS

    def _put(self, db: Connection, found: Sequence[_Found]) -> None:
        """Writes the facts of these notes, table by table; links lead where equal ones of the note led before."""
        paths = json.dumps([file.path for file, _ in found])
        known = {path: row for path, *row in db.execute(_KNOWN, (paths,))}
        (last,) = db.execute("SELECT coalesce(max(id), 0) FROM files").fetchone()
        files: list[tuple[object, ...]] = []
        links: list[tuple[int, bytes, bytes, bytes]] = []
        ids: list[int] = []
        for file, facts in found:
            row = known.get(file.path)
            last += row is None
            note, day, aliases, *before = row or (last, day_of_file(file.mtime_ns), None, None, None)
            ids.append(note)
            sha256 = bytes.fromhex(facts.sha256)
            files.append((note, file.path, file.size, file.mtime_ns, self._is_certain(file), day, sha256))
            targets, is_known = led_before(facts.targets, facts.links, *before)
            if facts.links:
                links.append((note, targets, facts.links, facts.link_places))
            if aliases != facts.aliases or not is_known:
                self._unresolved.add(note)
                self._are_names_new = self._are_names_new or aliases != facts.aliases
        self._changed += len(known)
        self._added += len(found) - len(known)
        db.executemany("DELETE FROM links WHERE note = ?", [(row[0],) for row in known.values()])
        db.executemany(_PUT_FILE, files)
        db.executemany(_PUT_NOTE, [(note, *facts[2:12]) for note, (_, facts) in zip(ids, found, strict=True)])
        db.executemany(
            _PUT_OUTLINE, [(note, facts.outline, facts.passages) for note, (_, facts) in zip(ids, found, strict=True)]
        )
        db.executemany(_PUT_LINKS, links)

    def _leaving(self, known: Mapping[str, Stamp], gone: Sequence[str], seen: Scan) -> list[str]:
        """The notes that leave: neither there nor only out of reach."""
        absent = [*gone, *(item.path for item in self._failed if item.path in known)]
        kept = [item.path.rstrip("/") for item in (*seen.skipped, *self._failed) if item.is_kept] if absent else []
        return sorted(path for path in absent if not _is_within(path, kept))

    def _finish(self, gone: Sequence[str], *, all_links: bool) -> None:
        """Takes away what is gone, and works out where links lead."""
        from infold.catalogue.link_targets import resolve_links  # here: nothing is to be worked out, most often

        with self._catalogue.writing() as db:
            self._note(db)
            for path in gone:
                note = db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone() or (None,)
                for table, column in TABLES_OF_NOTES:
                    db.execute(f"DELETE FROM {table} WHERE {column} = ?", note)  # noqa: S608 - our own tables
            resolve_links(db, None if all_links else self._unresolved)
            db.execute("DELETE FROM meta WHERE key = ?", (_UNRESOLVED,))
            db.execute(_COUNT, (GENERATION,))
        self._catalogue.drop(list(gone))

    def _is_left(self) -> bool:
        """Whether a sync that was killed left links to be worked out."""
        with self._catalogue.reading() as db:
            return db.execute("SELECT 1 FROM meta WHERE key = ?", (_UNRESOLVED,)).fetchone() is not None

    def _result(self, seen: Scan, removed: int, *, emptied: bool = False, is_whole: bool = False) -> CatalogueResult:
        scanned = self._catalogue.count() if is_whole else len(seen.files)
        total = scanned if self._paths is None else 0
        return CatalogueResult(
            scanned=scanned,
            added=self._added,
            changed=self._changed,
            removed=removed,
            unchanged=max(0, total - self._added - self._changed - len(self._failed)),
            skipped=tuple(sorted((*seen.skipped, *self._failed), key=lambda item: item.path)),
            seconds=time.monotonic() - self._started,
            emptied=emptied,
            warnings=tuple(Skipped(path, problem, is_kept=True) for path, problem in self._catalogue.problems()),
            seen=seen,
            digest=seen.digest if is_whole and not seen.clashes else b"",
            among=self._paths,
            failed=frozenset(item.path for item in self._failed),
        )


def _looked(db: Connection) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (_LOOKED,)).fetchone()
    return int(row[0]) if row else 0


def _is_as_known(file: FileStat, known: Stamp | None) -> bool:
    if known is None or (file.size, file.mtime_ns) != (known.size, known.mtime_ns):
        return False
    return known.is_certain


def _is_within(path: str, names: Iterable[str]) -> bool:
    """Whether a path, or a folder above it, is among `names`; `.` is above everything."""
    return any(name in (path, ".") or path.startswith(f"{name}/") for name in names)


def _rounds(readings: Iterable[_Read]) -> Iterator[list[_Read]]:
    batch: list[_Read] = []
    for reading in readings:
        batch.append(reading)
        if len(batch) >= ROUND:
            yield batch
            batch = []
    if batch:
        yield batch


def _silent(done: int, total: int) -> None:
    """No progress is shown."""
