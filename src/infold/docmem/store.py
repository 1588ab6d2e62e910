"""The file that holds every memory tree: one SQLite database, one connection a process, one transaction an operation.

Readers and writers of one process take turns; other processes may have the same file open. Killed anywhere, the file is
as before or as after the transaction. What is in it belongs to `rows`; how it is made to `migrations`.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from infold.docmem.migrations import migrate
from infold.docmem.rows import Rows
from infold.errors import MemoryFault, StateUnwritable, StoreBusy, StoreDamaged

BUSY_SECONDS: Final = 30.0
_STATEMENTS_KEPT: Final = 256
_stores: dict[Path, Store] = {}
_of_parents: list[Store] = []  # never closed here: that would be a word in another process's business
_opening = threading.Lock()


def open_store(file: Path) -> Store:
    """The store in `file`, made where there is none; the same one for everybody in this process.

    Raises StoreDamaged, StoreTooNew, StoreBusy or StateUnwritable. `close` it when its last user is done.
    """
    file = file.resolve()
    with _opening:
        if file not in _stores:
            _stores[file] = Store(file)
        return _stores[file]


class Store:
    """One open file. Use `open_store`: two connections of one process to one file would wait for each other."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._depth = 0
        with translated(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                file,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=_STATEMENTS_KEPT,
            )
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                migrate(self._db, file)
            except BaseException:
                self._db.close()
                raise
        self._rows = Rows(self._db)

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """One transaction: all of it, or nothing when the body raises. Within another one, a part of that.

        Raises StoreBusy where another process holds the file for longer than `BUSY_SECONDS`.
        """
        with self._held():
            begin, commit, rollback = _OUTER if self._depth == 0 else _INNER
            self._check_batch()
            self._db.execute(begin)
            self._depth += 1
            try:
                yield self._rows
                self._check_batch()
                self._db.execute(commit)
            except BaseException:
                if self._db.in_transaction:
                    for statement in rollback:
                        self._db.execute(statement)
                self._rows.forget()
                raise
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._rows.forget()

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        """One state of the file for several questions, whatever others write meanwhile."""
        with self._held():
            if self._depth > 0 or self._db.in_transaction:
                yield self._rows
                return
            self._db.execute("BEGIN")
            try:
                yield self._rows
            finally:
                self._db.execute("COMMIT")

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """The connection itself, outside any transaction: for backup and checks. Raises StoreBusy within a batch."""
        with self._held():
            if self._depth > 0:
                raise StoreBusy("The store is in the middle of a batch.", hint="Do this before or after it.")
            yield self._db

    def _check_batch(self) -> None:
        """SQLite itself takes a whole transaction back where the disk is full: the rest of a batch must not go on."""
        if self._depth > 0 and not self._db.in_transaction:
            raise StateUnwritable(
                f"What was being written to {self.file} was taken back: the system refused a part of it.",
                hint="Free disk space, then do all of it again.",
            )

    @contextmanager
    def _held(self) -> Iterator[None]:
        if os.getpid() != self._process:
            raise StoreBusy(
                "The store was opened before this process was forked.", hint="Open it again after the fork."
            )
        with self._lock, translated(self.file):
            yield

    def close(self) -> None:
        """Lets go of the file."""
        with _opening, self._lock:
            if _stores.get(self.file) is self:
                del _stores[self.file]
            self._db.close()


_REFUSED: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    }
)
_OUTER: Final = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
_INNER: Final = ("SAVEPOINT part", "RELEASE part", ("ROLLBACK TO part", "RELEASE part"))


@contextmanager
def translated(file: Path) -> Iterator[None]:
    """SQLite's errors as infold's, naming the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise _fault(error, file) from error
    except OSError as error:
        raise StateUnwritable(f"{file} cannot be written: {error.strerror or error}.") from error


def _fault(error: sqlite3.Error, file: Path) -> MemoryFault | StateUnwritable:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest its detail
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreBusy(
            f"Another process has been writing to {file.name} for {BUSY_SECONDS:.0f} s.",
            hint="Try again when it is done.",
        )
    if code in _REFUSED:
        return StateUnwritable(
            f"{file} cannot be read or written: {error}.",
            hint="Free disk space or set the permissions right; nothing half done was kept.",
        )
    return StoreDamaged(
        f"{file.name} cannot be used: {error}.",
        hint="`infold doctor` says what is wrong; `infold docmem restore-backup FILE` goes back to a backup.",
    )


def _after_fork() -> None:
    """A child opens files of its own: SQLite's connections do not survive a fork. The parent's are left alone."""
    _of_parents.extend(_stores.values())
    _stores.clear()
    _opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_after_fork)
