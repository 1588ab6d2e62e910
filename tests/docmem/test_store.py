"""Spec 2, Database; and what a file has to stand: batches, threads, forks, other versions, damage, backup and restore."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading

import pytest

from infold.docmem import outbox, store, upkeep
from infold.docmem.memory import Docmem, open_docmem
from infold.docmem.migrations import MIGRATIONS, VERSION
from infold.docmem.store import open_store
from infold.errors import LockConflict, StateUnwritable, StoreBusy, StoreDamaged, StoreTooNew
from tests.docmem.conftest import MEMORY, ROOT, SUMMARY, fresh


def waiting(memory):
    """What the search index has to hear, as (node, root, op)."""
    with memory.store.reading() as rows:
        return [(entry.node_id, entry.root_id, entry.op) for entry in outbox.waiting(rows, 1000)]


def drained(memory):
    """Empties the outbox."""
    with memory.store.writing() as rows:
        outbox.done(rows, outbox.waiting(rows, 1000))


def test_all_instances_share_one_connection(memory, tmp_path):
    """Storage: all docmem instances share a single database connection."""
    again = open_docmem(tmp_path / "x" / ".." / "docmem.sqlite")
    assert again.store is memory.store
    assert Docmem(memory.store).store is memory.store


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
    before = memory.subtree("garden")
    memory.close()
    again = open_docmem(tmp_path / "docmem.sqlite")
    assert again.store is not memory.store
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
    assert upkeep.problems(memory.store) == []


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
    writer_connection.execute(f"PRAGMA user_version = {VERSION + 1}")
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
    monkeypatch.setattr("infold.docmem.migrations.MIGRATIONS", (*MIGRATIONS[:-1], (*MIGRATIONS[-1], "NO SQL")))
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


def test_problems_are_named(memory, tree, writer_connection):
    """Integrity: an orphan, a tie, a wrong hash, a wrong count and a circle are each found and named."""
    assert upkeep.problems(memory.store) == []
    execute = writer_connection.execute
    execute("UPDATE nodes SET parent_id = 'gone' WHERE id = ?", (tree["a1"].id,))
    execute("UPDATE nodes SET order_value = 2.0 WHERE id = ?", (tree["c"].id,))
    execute("UPDATE nodes SET token_count = 99 WHERE id = ?", (tree["b"].id,))
    execute("UPDATE nodes SET parent_id = ? WHERE id = ?", (tree["c11"].id, tree["c1"].id))
    found = "\n".join(upkeep.problems(memory.store))
    assert f"parent 'gone' of the memory node '{tree['a1'].id}' is missing" in found
    assert "Several children of the memory node 'garden' have the order 2.0" in found
    assert f"'{tree['b'].id}' says 99 tokens; it has 1" in found
    assert f"The hash of the memory node '{tree['c'].id}'" in found
    assert "3 memory nodes hang on no root" in found


def test_circles_end(memory, tree, writer_connection):
    """Get Root of Node: a circle, which only damage makes, is an error and not an endless walk."""
    writer_connection.execute("UPDATE nodes SET parent_id = ? WHERE id = ?", (tree["c11"].id, tree["c1"].id))
    with pytest.raises(StoreDamaged, match="circle"):
        memory.get_root(tree["c11"].id)


def test_backup_and_restore(memory, tree, tmp_path):
    """Persistence: a backup is one file with all of it; restoring gives the trees of then, and keeps those of now."""
    then = memory.subtree("garden")
    memory.mark(tree["a"].id, "priority", "2")
    upkeep.backup(memory.store, tmp_path / "copies" / "monday.sqlite")
    memory.delete(tree["c"].id)
    memory.create_root("", ROOT, root_id="later")
    now = memory.subtree("garden")
    kept = upkeep.restore(memory.store, tmp_path / "copies" / "monday.sqlite")
    assert [root.id for root in memory.roots()] == ["garden"]
    assert memory.subtree("garden") == then
    assert memory.marks_of(tree["a"].id) == {"priority": "2"}
    upkeep.restore(memory.store, kept)
    assert memory.subtree("garden") == now
    assert [path.name for path in (tmp_path / "copies").iterdir()] == ["monday.sqlite"]


def test_restore_is_seen_by_others(memory, tree, tmp_path):
    """Persistence: a process that has the file open reads the restored trees; nobody has to end for it."""
    upkeep.backup(memory.store, tmp_path / "b.sqlite")
    other = sqlite3.connect(tmp_path / "docmem.sqlite")
    memory.delete("garden")
    assert other.execute("SELECT count(*) FROM nodes").fetchone() == (0,)
    upkeep.restore(memory.store, tmp_path / "b.sqlite")
    assert other.execute("SELECT count(*) FROM nodes").fetchone() == (8,)
    other.close()


def test_restore_tells_the_index_to_begin_anew(memory, tree, tmp_path):
    """Persistence: after a restore no index counts as up to date, and nothing of then is sent to it."""
    with memory.store.writing() as rows:
        upkeep.marks.set_fact(rows, upkeep.INDEX_GENERATION, "7")
    upkeep.backup(memory.store, tmp_path / "b.sqlite")
    upkeep.restore(memory.store, tmp_path / "b.sqlite")
    with memory.store.reading() as rows:
        assert upkeep.marks.fact(rows, upkeep.INDEX_GENERATION) == ""
    assert waiting(memory) == []


@pytest.mark.parametrize("kind", ["missing", "empty", "text", "cut", "newer"])
def test_bad_backups_change_nothing(memory, tree, tmp_path, kind):
    """Persistence: a backup that is missing, empty, cut, of something else or too new is refused; the store stays."""
    file = tmp_path / "b.sqlite"
    with memory.batch():
        for number in range(300):
            memory.append("garden", f"{number} " * 50, MEMORY)
    upkeep.backup(memory.store, file)
    if kind == "missing":
        file.unlink()
    elif kind == "empty":
        file.write_bytes(b"")
    elif kind == "text":
        file.write_text("no database " * 1000)
    elif kind == "cut":
        os.truncate(file, file.stat().st_size // 2)
    else:
        connection = sqlite3.connect(file)
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.close()
    before = memory.subtree("garden")
    with pytest.raises((StoreDamaged, StoreTooNew, StateUnwritable)):
        upkeep.restore(memory.store, file)
    assert memory.subtree("garden") == before
    memory.append("garden", "still writable", MEMORY)


def test_backup_within_a_batch(memory, tree, tmp_path):
    """Persistence: a backup in the middle of a batch would be of half of it, and is refused."""
    with memory.batch(), pytest.raises(StoreBusy):
        upkeep.backup(memory.store, tmp_path / "b.sqlite")


def test_damaged_pages_are_found(memory, tree, tmp_path):
    """Integrity: a file whose pages are broken is said to be, and never answers as if it were whole."""
    with memory.batch():
        for number in range(500):
            memory.append("garden", f"{number} " * 50, MEMORY)
    memory.close()
    file = tmp_path / "docmem.sqlite"
    data = bytearray(file.read_bytes())
    data[8192:40960] = os.urandom(32768)
    file.write_bytes(data)
    again = open_docmem(file)
    assert upkeep.problems(again.store) != []
    again.close()


def test_outbox_is_part_of_each_change(memory, tree):
    """Vector Database: each change leaves in the same transaction which entries of the index are stale; none else does."""
    drained(memory)
    assert waiting(memory) == []
    node = memory.append(tree["b"].id, "x", MEMORY)
    assert waiting(memory) == [(node.id, "garden", "upsert")]
    drained(memory)
    memory.update_content(node.id, "y", node.hash)
    memory.update_context(node.id, ROOT, fresh(memory, node.id))
    assert waiting(memory) == [(node.id, "garden", "upsert")]
    memory.delete(tree["b"].id)
    assert waiting(memory) == [(node.id, "garden", "delete"), (tree["b"].id, "garden", "delete")]
    drained(memory)
    with pytest.raises(LockConflict):
        memory.update_content(tree["a"].id, "y", "wrong")
    memory.mark(tree["a"].id, "sticky", "1")
    assert waiting(memory) == []


def test_what_changes_while_it_is_drained_stays(memory, tree):
    """Vector Database: a node that changes between reading the outbox and saying done is not forgotten."""
    drained(memory)
    node = memory.append("garden", "x", MEMORY)
    with memory.store.reading() as rows:
        read = outbox.waiting(rows, 10)
    memory.update_content(node.id, "y", node.hash)
    with memory.store.writing() as rows:
        outbox.done(rows, read)
    assert waiting(memory) == [(node.id, "garden", "upsert")]


def test_everything_can_be_sent_again(memory, tree):
    """Vector Database: for an index made anew, every node of every tree waits once, parents before children."""
    memory.create_root("", ROOT, root_id="other")
    with memory.store.writing() as rows:
        assert outbox.everything_stale(rows) == 9
    entries = waiting(memory)
    assert len(set(entries)) == 9
    position = {node_id: index for index, (node_id, _root, _op) in enumerate(entries)}
    assert position["garden"] < position[tree["c"].id] < position[tree["c1"].id]
    assert ("other", "other", "upsert") in entries


def test_facts(memory, tree):
    """Storage: how many trees, nodes, versions and waiting entries there are, and how large the file is."""
    memory.update_content(tree["a"].id, "y", tree["a"].hash)
    facts = upkeep.facts(memory.store)
    assert (facts.trees, facts.nodes, facts.versions, facts.waiting, facts.rebalances) == (1, 8, 1, 8, 0)
    assert facts.size_bytes > 4096


def test_a_plain_copy_of_the_file_can_be_restored(memory, tree, tmp_path):
    """Persistence: a copy made by other means, while the store was closed, is a backup too."""
    memory.close()
    shutil.copy(tmp_path / "docmem.sqlite", tmp_path / "plain.sqlite")
    again = open_docmem(tmp_path / "docmem.sqlite")
    again.delete("garden")
    upkeep.restore(again.store, tmp_path / "plain.sqlite")
    assert len(again.subtree("garden")) == 8
    again.close()
