"""Spec 2, Database; and what a file has to stand: batches, threads, forks, other versions, a full disk."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading

import pytest

from infold.docmem import maintenance, store
from infold.docmem.memory import open_docmem
from infold.docmem.schema import SCHEMA
from infold.docmem.store import open_store
from infold.errors import LockConflict, StateUnwritable, StoreBusy, StoreClosed, StoreDamaged, StoreTooNew
from tests.docmem.conftest import MEMORY, SUMMARY


def test_all_instances_share_one_connection(memory, tmp_path):
    """Storage: all docmem instances share a single database connection."""
    with open_docmem(tmp_path / "x" / ".." / "docmem.sqlite") as again:
        assert again.store is memory.store


def test_one_user_closes_for_itself_alone(memory, tree, tmp_path):
    """Storage: who is done lets go of its own use; the others go on. What is used after that is told as closed."""
    with open_docmem(tmp_path / "docmem.sqlite") as again:
        again.append("garden", "x", MEMORY)
    again.close()
    memory.append("garden", "y", MEMORY)
    with pytest.raises(StoreClosed, match=r"docmem\.sqlite was closed"):
        again.find("garden")


def test_one_table_with_the_listed_properties(writer_connection):
    """Storage: nodes are in a single table with the properties listed, of the types listed, nullable as listed."""
    columns = {row[1]: (row[2], bool(row[3])) for row in writer_connection.execute("PRAGMA table_info(nodes)")}
    assert columns == {
        "id": ("TEXT", True), "parent_id": ("TEXT", False), "text": ("TEXT", True), "order_value": ("REAL", True),
        "token_count": ("INTEGER", True), "created_at": ("TEXT", True), "updated_at": ("TEXT", True),
        "context_type": ("TEXT", True), "context_name": ("TEXT", True), "context_value": ("TEXT", True),
        "readonly": ("INTEGER", True), "hash": ("TEXT", False),
    }  # fmt: skip


def test_indexes(writer_connection):
    """Storage: indexes on parent_id and on parent_id with order_value."""
    names = [row[1] for row in writer_connection.execute("PRAGMA index_list(nodes)")]
    indexed = [tuple(row[2] for row in writer_connection.execute(f"PRAGMA index_info({name})")) for name in names]
    assert ("parent_id",) in indexed
    assert ("parent_id", "order_value") in indexed


def test_what_is_acknowledged_is_durable(memory, writer_connection):
    """Persistence: a write-ahead log, synchronised at each commit."""
    assert writer_connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert writer_connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_trees_survive_the_process(memory, tree, tmp_path):
    """Persistence: what was written is there when the file is opened again."""
    before, store = memory.subtree("garden"), memory.store
    memory.close()
    again = open_docmem(tmp_path / "docmem.sqlite")
    assert again.store is not store
    assert again.subtree("garden") == before
    again.close()


def test_batch_is_one_transaction(memory, tree, texts):
    """Database: a batch is kept whole or not at all."""

    def stopped():
        with memory.batch():
            memory.append("garden", "x", MEMORY)
            memory.update_content(tree["a"].id, "changed", tree["a"].hash)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        stopped()
    assert texts("garden") == ["a", "b", "c"]
    with memory.batch():
        memory.append("garden", "x", MEMORY)
    assert texts("garden") == ["a", "b", "c", "x"]


def inner_batch_that_stops(memory):
    """A batch, perhaps within another, that writes and then fails."""
    with memory.batch():
        memory.append("garden", "y", MEMORY)
        raise RuntimeError


def test_failed_part_of_a_batch_leaves_nothing(memory, tree, texts):
    """Database: an operation that fails within a batch is undone by itself; those around it stay."""
    with memory.batch():
        tree["x"] = memory.insert_after(tree["b"].id, "x", MEMORY)
        with pytest.raises(LockConflict):
            memory.summarise({tree["b"].id: tree["b"].hash, tree["x"].id: "wrong"}, "s", SUMMARY)
        with pytest.raises(RuntimeError):
            inner_batch_that_stops(memory)
        memory.append("garden", "z", MEMORY)
    assert texts("garden") == ["a", "b", "x", "c", "z"]


def test_threads_take_turns(memory, tree):
    """Storage: the one connection serves many threads; no update of any is lost."""
    failures = []

    def work(name):
        try:
            for number in range(50):
                memory.append(tree["b"].id, f"{name}{number}", MEMORY)
                memory.serialise("garden")
        except Exception as error:  # noqa: BLE001 - whatever it is, the test is to show it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "pqrs"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(memory.children(tree["b"].id)) == 200
    assert maintenance.problems(memory.store) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_opens_a_connection_of_its_own(memory, tree, tmp_path, texts):
    """Storage: a forked process does not use its parent's connection, and both write."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with pytest.raises(StoreBusy, match="forked"):
                memory.append("garden", "parent's", MEMORY)
            mine = open_docmem(tmp_path / "docmem.sqlite")
            mine.append("garden", "child", MEMORY)
            code = 0 if mine.store is not memory.store else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    memory.append("garden", "parent", MEMORY)
    assert texts("garden") == ["a", "b", "c", "child", "parent"]


def test_another_process_that_writes_too_long(memory, tree, tmp_path, monkeypatch):
    """Storage: where another process holds the file for too long, the error says that; reading goes on."""
    memory.close()
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.05)
    mine = open_docmem(tmp_path / "docmem.sqlite")
    other = sqlite3.connect(tmp_path / "docmem.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="Another process"):
        mine.append("garden", "x", MEMORY)
    assert mine.serialise("garden").startswith("a\n\n")
    other.execute("ROLLBACK")
    other.close()
    mine.append("garden", "x", MEMORY)
    mine.close()


def test_newer_files_are_refused(memory, tree, tmp_path, writer_connection):
    """Migrations: a file of a later version is refused with a hint, and stays as it is."""
    writer_connection.execute(f"PRAGMA user_version = {SCHEMA.version + 1}")
    memory.close()
    with pytest.raises(StoreTooNew) as refused:
        open_docmem(tmp_path / "docmem.sqlite")
    assert refused.value.hint
    connection = sqlite3.connect(tmp_path / "docmem.sqlite")
    assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (8,)
    connection.close()


def test_migrations_are_one_transaction(tmp_path, monkeypatch):
    """Migrations: a migration that fails half way leaves the file as it was."""
    file = tmp_path / "docmem.sqlite"
    broken = (*SCHEMA.migrations[:-1], (*SCHEMA.migrations[-1], "NO SQL"))
    monkeypatch.setattr(store, "SCHEMA", SCHEMA._replace(migrations=broken))
    with pytest.raises(StoreDamaged):
        open_store(file)
    connection = sqlite3.connect(file)
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert connection.execute("PRAGMA user_version").fetchone() == (0,)
    connection.close()
    monkeypatch.undo()
    open_docmem(file).close()


def test_files_of_something_else_are_refused(tmp_path):
    """Migrations: another program's database, or no database at all, is refused and not written to."""
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE songs (name)")
    connection.close()
    text = tmp_path / "text.sqlite"
    text.write_text("no database, but long enough to be looked at " * 20)
    for file in (other, text):
        before = file.read_bytes()[100:]
        with pytest.raises(StoreDamaged):
            open_docmem(file)
        assert file.read_bytes()[100:] == before


def test_unwritable_folder(tmp_path):
    """Storage: where the file cannot be made, the error names it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StateUnwritable, match=r"docmem\.sqlite"):
        open_docmem(tmp_path / "file" / "docmem.sqlite")


@pytest.mark.parametrize("is_batch", [False, True])
def test_a_full_disk(memory, tree, texts, writer_connection, is_batch):
    """Database: where the disk is full nothing of the transaction is kept, whoever catches the error within; later it goes on."""
    (pages,) = writer_connection.execute("PRAGMA page_count").fetchone()
    writer_connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    large = "x" * 50_000

    def write():
        memory.append("garden", large, MEMORY)

    def write_on():
        with memory.batch():
            memory.append("garden", "first", MEMORY)
            with contextlib.suppress(StateUnwritable):
                write()
            memory.append("garden", "last", MEMORY)

    with pytest.raises(StateUnwritable, match="docmem"):
        (write_on if is_batch else write)()
    assert texts("garden") == ["a", "b", "c"]
    writer_connection.execute("PRAGMA max_page_count = 1000000")
    write_on()
    assert texts("garden") == ["a", "b", "c", "first", large, "last"]
