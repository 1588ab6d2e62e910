"""The one opener of SQLite files: transactions, migrations, and each fault told as what it is."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import threading
from contextlib import closing

import pytest

from infold.durable.sqlite import Database, Schema, version_of
from infold.errors import IndexFault, StateUnwritable, StoreTooNew, VaultBusy

FIRST = ("CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY) WITHOUT ROWID",)
SECOND = ("ALTER TABLE words ADD COLUMN count INTEGER NOT NULL DEFAULT 1", "CREATE INDEX counts ON words (count)")
SCHEMA = Schema("the list of words", "words", (FIRST,), IndexFault, hint="Make it anew.")
LATER = SCHEMA._replace(migrations=(FIRST, SECOND))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "state" / "words.sqlite"


def put(db, *words):
    with db.writing() as connection:
        connection.executemany("INSERT INTO words (word) VALUES (?)", [(word,) for word in words])


def fail_after(db, *words):
    with db.writing():
        put(db, *words)
        raise RuntimeError


def words(db):
    with db.reading() as connection:
        return [row[0] for row in connection.execute("SELECT word FROM words")]


def test_what_is_acknowledged_is_there_when_it_is_opened_again(file):
    """A write-ahead log, synchronised at each commit unless the schema says that it can be derived again."""
    with closing(Database(file, SCHEMA)) as db:
        put(db, "a")
        with db.alone() as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    with closing(Database(file, SCHEMA._replace(synchronous="NORMAL"))) as db:
        assert words(db) == ["a"]
        with db.alone() as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (1,)


def test_a_file_that_another_process_makes_meanwhile_is_not_something_else(file):
    """Version and tables are read of one state: a first migration between the two questions is not seen by half."""
    file.parent.mkdir()
    made: list[str] = []

    def make(statement):
        if "sqlite_master" in statement and not made:
            made.append(statement)
            Database(file, SCHEMA).close()

    with closing(sqlite3.connect(file, isolation_level=None)) as asking:
        asking.execute("PRAGMA journal_mode = WAL")
        asking.set_trace_callback(make)
        assert version_of(asking, file, SCHEMA) == 0
        assert made
        assert version_of(asking, file, SCHEMA) == 1


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
def test_the_file_is_its_users_alone(file):
    """Neither the database nor the log beside it can be read by others."""
    with closing(Database(file, SCHEMA)) as db:
        put(db, "a")
        assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {0o600}


def test_a_transaction_is_all_or_nothing(file):
    """What was written before the body raised is not there; what stood before is."""
    with closing(Database(file, SCHEMA)) as db:
        put(db, "a")
        with pytest.raises(RuntimeError):
            fail_after(db, "b")
        assert words(db) == ["a"]


def test_a_part_of_a_transaction_can_fail_by_itself(file):
    """A transaction within one is taken back alone."""
    with closing(Database(file, SCHEMA)) as db:
        with db.writing() as connection:
            put(db, "a")
            with pytest.raises(RuntimeError):
                fail_after(db, "b")
            assert connection.in_transaction
        assert words(db) == ["a"]


async def test_a_task_does_not_write_into_the_transaction_of_another(file):
    """It is refused, so that what was acknowledged to it can never be taken back with the other's."""
    inside = asyncio.Event()
    with closing(Database(file, SCHEMA)) as db:

        async def first():
            with db.writing():
                put(db, "a")
                inside.set()
                await asyncio.sleep(0.02)
                raise RuntimeError

        async def second():
            await inside.wait()
            with pytest.raises(VaultBusy, match="Another task"):
                put(db, "b")

        await asyncio.gather(first(), second(), return_exceptions=True)
        put(db, "c")
        assert words(db) == ["c"]


def test_threads_take_turns(file):
    """Several threads write through one connection, each its own transactions."""
    with closing(Database(file, SCHEMA)) as db:
        threads = [threading.Thread(target=lambda n=n: [put(db, f"{n}.{i}") for i in range(10)]) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(words(db)) == 40


def test_several_questions_see_one_state(file):
    """What another process commits in between is not seen before the reading is over."""
    with closing(Database(file, SCHEMA)) as db, closing(Database(file, SCHEMA)) as other:
        put(db, "a")
        with db.reading() as connection:
            assert len(connection.execute("SELECT * FROM words").fetchall()) == 1
            put(other, "b")
            assert len(connection.execute("SELECT * FROM words").fetchall()) == 1
        assert words(db) == ["a", "b"]


def test_an_older_file_is_brought_to_today(file):
    """Each migration runs once, in order; what was there stays."""
    with closing(Database(file, SCHEMA)) as db:
        put(db, "a")
    for _ in range(2):
        with closing(Database(file, LATER)) as db, db.reading() as connection:
            assert connection.execute("SELECT * FROM words").fetchall() == [("a", 1)]
            assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_a_migration_that_fails_changes_nothing(file):
    """All of it is one transaction: the file is still of its version."""
    with closing(Database(file, SCHEMA)) as db:
        put(db, "a")
    with pytest.raises(IndexFault):
        Database(file, SCHEMA._replace(migrations=(FIRST, (SECOND[0], "CREATE NONSENSE"))))
    with closing(Database(file, SCHEMA)) as db:
        assert words(db) == ["a"]


def test_a_file_without_a_version_is_adopted_only_where_the_schema_says_so(file):
    """A file from before there were versions keeps what it holds; one of something else is refused as it is."""
    file.parent.mkdir()
    with closing(sqlite3.connect(file, isolation_level=None)) as plain:
        plain.execute("CREATE TABLE words (word TEXT PRIMARY KEY) WITHOUT ROWID")
        plain.execute("INSERT INTO words VALUES ('a')")
    with pytest.raises(IndexFault, match="something else"):
        Database(file, SCHEMA)
    with closing(Database(file, LATER._replace(is_adopted=True))) as db, db.reading() as connection:
        assert connection.execute("SELECT * FROM words").fetchall() == [("a", 1)]


def test_a_file_of_a_later_infold_is_left_alone(file):
    """It is named as that, for writers and readers."""
    Database(file, LATER).close()
    kept = file.read_bytes()
    for opened in (Database, Database.read_only):
        with pytest.raises(IndexFault, match="later infold"):
            opened(file, SCHEMA)
        with pytest.raises(StoreTooNew):
            opened(file, SCHEMA._replace(too_new=StoreTooNew))
    assert file.read_bytes() == kept


def test_a_damaged_file_is_told_as_damaged(file):
    """With the name of the file and what to do."""
    file.parent.mkdir()
    file.write_bytes(b"no database" * 100)
    with pytest.raises(IndexFault, match=r"words\.sqlite") as told:
        Database(file, SCHEMA)
    assert told.value.hint == "Make it anew."


def test_a_damaged_name_is_told_as_damaged(file):
    """Also where SQLite's own message quotes bytes that are no text."""
    with closing(Database(file, SCHEMA)) as db, db.alone() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.write_bytes(file.read_bytes().replace(b"CREATE TABLE", b"CREATE T\xccBLE"))
    with pytest.raises(IndexFault, match=r"words\.sqlite"):
        Database(file, SCHEMA)


def test_a_reader_makes_and_changes_nothing(file):
    """No file is made where there is none, and an older one stays of its version."""
    with pytest.raises(IndexFault, match="There is no"):
        Database.read_only(file, SCHEMA)
    assert not file.parent.exists()
    with closing(Database(file, SCHEMA)) as db:
        put(db, "a")
    with pytest.raises(IndexFault, match="earlier"):
        Database.read_only(file, LATER)
    with closing(Database.read_only(file, SCHEMA)) as db:
        assert words(db) == ["a"]
        with pytest.raises(StateUnwritable):
            put(db, "b")


def test_another_process_that_writes_for_long_is_told(file):
    """A writer that does not get in within its wait gets the schema's own error."""
    with closing(Database(file, SCHEMA)) as db, closing(Database(file, SCHEMA, busy_seconds=0.05)) as other:
        with db.writing():
            put(db, "a")
            with pytest.raises(VaultBusy, match="Another process"):
                put(other, "b")
        put(other, "b")
        assert words(db) == ["a", "b"]


def test_a_full_disk_is_told_and_takes_nothing(file):
    """The transaction is taken back whole, also the part that came before the refusal."""
    with closing(Database(file, SCHEMA)) as db:
        put(db, "a")
        with db.alone() as connection:
            connection.execute("PRAGMA max_page_count = 3")
        with pytest.raises(StateUnwritable):
            fail_after(db, "b", *(f"{n}" * 500 for n in range(100)))
        assert words(db) == ["a"]


def test_a_wrong_statement_is_no_fault_of_the_file(file):
    """What breaks a rule of the tables, or asks a closed connection, stays a defect of the program."""
    db = Database(file, SCHEMA)
    put(db, "a")
    with pytest.raises(sqlite3.IntegrityError):
        put(db, "a")
    db.close()
    with pytest.raises(sqlite3.ProgrammingError):
        words(db)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks there")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_connection_is_not_used_after_a_fork(file):
    """A child is told to open the file again."""
    with closing(Database(file, SCHEMA)) as db:
        child = os.fork()
        if child == 0:
            try:
                words(db)
            except VaultBusy:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
