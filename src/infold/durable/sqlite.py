"""The one way to open an SQLite file: pragmas, transactions with an owner, numbered migrations, errors translated.

What a file holds is its owner's: a `Schema` names its tables, how an older file becomes one of today, and which errors
its faults are.

    _NOTES = ("CREATE TABLE notes (path TEXT PRIMARY KEY) WITHOUT ROWID",)
    SCHEMA = Schema("the catalogue", "notes", (_NOTES,), IndexFault)

    with closing(Database(file, SCHEMA)) as db:
        with db.writing() as connection:
            connection.execute("INSERT INTO notes VALUES (?)", (path,))
        with db.reading() as connection:
            rows = connection.execute("SELECT path FROM notes").fetchall()
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Literal, NamedTuple, Self

from infold.durable.owners import OwnedLock
from infold.errors import InfoldError, StateUnwritable, VaultBusy

BUSY_SECONDS: Final = 30.0
_STATEMENTS_KEPT: Final = 256
_PRIMARY: Final = 0xFF  # of an error code; the rest is its detail
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_REFUSED: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    }
)
_OURS: Final = (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.NotSupportedError)
_OUTER: Final = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
_INNER: Final = ("SAVEPOINT part", "RELEASE part", ("ROLLBACK TO part", "RELEASE part"))


class Schema(NamedTuple):
    """What a file holds, and how it is spoken of.

    `migrations[n]` brings a file of version n to n + 1, statement by statement; once released it never changes. A file
    that has tables but no version is of something else, unless it `is_adopted`: then it was made before there were
    versions, and the first migration says `IF NOT EXISTS`. `synchronous` NORMAL is for what can be derived again: a
    power cut may then cost the last transactions, never the file.
    """

    name: str  # in sentences: "the index's manifest"
    table: str  # one that every version has
    migrations: tuple[tuple[str, ...], ...]
    damaged: type[InfoldError]  # raised where the file cannot be used
    hint: str = ""  # what to do about that
    too_new: type[InfoldError] | None = None  # where a later infold wrote it; by default as if damaged
    too_new_hint: str = "Install that infold again, or remove the file."
    busy: type[InfoldError] = VaultBusy
    is_adopted: bool = False
    synchronous: Literal["FULL", "NORMAL"] = "FULL"

    @property
    def version(self) -> int:
        """That of a file of today."""
        return len(self.migrations)


class Database:
    """One open file with one connection, for all threads and tasks of a process; a transaction has one caller.

    Opening makes the file (for its user alone) and brings it to today's version, in one transaction. Everything here
    raises the schema's errors, or StateUnwritable where the system refuses. What is wrong with a statement itself stays
    sqlite3's own error: a defect, not a fault of the file.
    """

    def __init__(self, file: Path, schema: Schema, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self._begin(file, schema, busy_seconds)
        _made(file)
        with self._translated():
            self._db = self._connect(str(file))
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute(f"PRAGMA synchronous = {schema.synchronous}")
                self._migrate()
            except BaseException:
                self._db.close()
                raise

    @classmethod
    def read_only(cls, file: Path, schema: Schema, *, busy_seconds: float = BUSY_SECONDS) -> Self:
        """The same of a file that is there and of today's version, which is not changed by it.

        Works on a full or read-only disk too. Raises the schema's `damaged` also without a file, or for an older one.
        """
        self = cls.__new__(cls)
        self._begin(file, schema, busy_seconds)
        with self._translated():
            if not file.exists():
                raise schema.damaged(f"There is no {file}.", hint=schema.hint)
            try:
                self._db = self._looked_at("mode=ro")
            except sqlite3.OperationalError as error:
                if not is_refused(error):
                    raise
                # A reader too leaves a file beside it; where the disk takes none, the file is read by itself.
                self._db = self._looked_at("immutable=1")
        return self

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it, or nothing when the body raises. Within another one, a part of that.

        Raises the schema's `busy` where another process holds the file for longer than `busy_seconds`, and at once
        where another task of this thread is within a transaction: nothing may be awaited in one.
        """
        with self._held():
            begin, commit, rollback = _OUTER if self._depth == 0 else _INNER
            self._check_whole()
            if self._depth == 0 and self._db.in_transaction:
                raise self._schema.busy(f"{self.file.name} is being read by the caller.", hint="Write after that.")
            self._db.execute(begin)
            self._depth += 1
            try:
                yield self._db
                self._check_whole()
                self._db.execute(commit)
            except BaseException:
                if self._db.in_transaction:
                    for statement in rollback:
                        self._db.execute(statement)
                raise
            finally:
                self._depth -= 1

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the file for several questions, whatever others write meanwhile."""
        with self._held(), _one_state(self._db):
            yield self._db

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """The connection outside any transaction: for backup, checks and vacuum. Raises `busy` within one."""
        with self._held():
            if self._db.in_transaction:
                raise self._schema.busy(
                    f"{self.file.name} is in the middle of a transaction.", hint="Do this before or after it."
                )
            yield self._db

    def close(self) -> None:
        """Lets go of the file."""
        with self._lock.held():
            self._db.close()

    def _begin(self, file: Path, schema: Schema, busy_seconds: float) -> None:
        self.file = file
        self._schema = schema
        self._busy_seconds = busy_seconds
        self._lock = OwnedLock()
        self._process = os.getpid()
        self._depth = 0

    def _connect(self, target: str, *, is_uri: bool = False) -> sqlite3.Connection:
        return sqlite3.connect(
            target,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS_KEPT,
            uri=is_uri,
        )

    def _looked_at(self, mode: str) -> sqlite3.Connection:
        db = self._connect(f"{self.file.absolute().as_uri()}?{mode}", is_uri=True)
        try:
            if version_of(db, self.file, self._schema) < self._schema.version:
                raise self._schema.damaged(
                    f"{self.file.name} was written by an earlier infold.", hint=self._schema.hint
                )
        except BaseException:
            db.close()
            raise
        return db

    def _migrate(self) -> None:
        if self._is_of_today():
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            migrate(self._db, self.file, self._schema)
        except BaseException:
            _end(self._db, "ROLLBACK")
            raise
        _end(self._db, "COMMIT")

    def _is_of_today(self) -> bool:
        version_of(self._db, self.file, self._schema)
        return bool(_number(self._db) == self._schema.version)

    def _check_whole(self) -> None:
        """SQLite itself takes a whole transaction back where the disk is full: the rest of it must not go on."""
        if self._depth > 0 and not self._db.in_transaction:
            raise StateUnwritable(
                f"What was being written to {self.file} was taken back: the system refused a part of it.",
                hint="Free disk space, then do all of it again.",
            )

    @contextmanager
    def _held(self) -> Iterator[None]:
        if os.getpid() != self._process:
            raise self._schema.busy(
                f"{self.file.name} was opened before this process was forked.", hint="Open it again after the fork."
            )
        with self._lock.held() as is_held:
            if not is_held:
                raise self._schema.busy(
                    f"Another task of this program is within a transaction of {self.file.name}.",
                    hint="Await nothing within one.",
                )
            with self._translated():
                yield

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.file, self._schema, self._busy_seconds)


def version_of(connection: sqlite3.Connection, file: Path, schema: Schema) -> int:
    """The version of a file; 0 where it is empty. Raises where it is of a later infold, or of something else."""
    with _one_state(connection):  # another process may be making the file between two questions
        number = _number(connection)
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if number > schema.version:
        raise (schema.too_new or schema.damaged)(
            f"{file.name} was written by a later infold (version {number} of its tables; this one knows "
            f"{schema.version}).",
            hint=schema.too_new_hint,
        )
    is_adopted = number == 0 and schema.is_adopted and schema.table in tables
    if is_adopted:
        return 1
    if (number == 0 and tables) or (number > 0 and schema.table not in tables):
        raise schema.damaged(f"{file.name} is a database of something else.", hint=schema.hint)
    return number


def migrate(connection: sqlite3.Connection, file: Path, schema: Schema) -> None:
    """Brings a file to today's version, within a transaction of the caller's. Raises as `version_of` does."""
    version_of(connection, file, schema)
    for number in range(_number(connection), schema.version):
        for statement in schema.migrations[number]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number + 1}")


def is_refused(error: sqlite3.Error) -> bool:
    """Whether the system refused to read or write (full disk, no permission, broken device): the file may be whole."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY in _REFUSED


def fault_of(error: sqlite3.Error, file: Path, schema: Schema, busy_seconds: float = BUSY_SECONDS) -> InfoldError:
    """SQLite's error as infold's, naming the file."""
    if getattr(error, "sqlite_errorcode", 0) & _PRIMARY in _BUSY:
        return schema.busy(
            f"Another process has been writing to {file.name} for {busy_seconds:.0f} s.",
            hint="Try again when it is done.",
        )
    if is_refused(error):
        return StateUnwritable(
            f"{file} cannot be read or written: {error}.",
            hint="Free disk space or set the permissions right; nothing half done was kept.",
        )
    return schema.damaged(f"{file.name} ({schema.name}) cannot be used: {error}.", hint=schema.hint)


@contextmanager
def translated(file: Path, schema: Schema, busy_seconds: float = BUSY_SECONDS) -> Iterator[None]:
    """SQLite's errors as infold's."""
    try:
        yield
    except _OURS:
        raise
    except sqlite3.Error as error:
        raise fault_of(error, file, schema, busy_seconds) from error
    except UnicodeDecodeError as error:  # of a message that quotes a damaged name
        raise schema.damaged(f"{file.name} ({schema.name}) cannot be used: {error}.", hint=schema.hint) from error


def _made(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise StateUnwritable(
            f"{file} cannot be written: {error.strerror or error}.",
            hint="Free disk space or set the permissions right.",
        ) from error


@contextmanager
def _one_state(connection: sqlite3.Connection) -> Iterator[None]:
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        _end(connection, "COMMIT")


def _end(connection: sqlite3.Connection, statement: str) -> None:
    if connection.in_transaction:  # SQLite itself ends one where the system refused a part of it
        connection.execute(statement)


def _number(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
