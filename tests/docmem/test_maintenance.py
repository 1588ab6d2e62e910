"""The store checked, counted, backed up and restored (spec 2, Persistence)."""

from __future__ import annotations

import os
import shutil
import sqlite3

import pytest

from infold.docmem import maintenance
from infold.docmem.memory import open_docmem
from infold.docmem.schema import SCHEMA
from infold.errors import StateUnwritable, StoreBusy, StoreDamaged, StoreTooNew
from tests.docmem.conftest import MEMORY, ROOT


def test_problems_are_named(memory, tree, writer_connection):
    """Integrity: an orphan, a tie, a wrong hash, a wrong count and a circle are each found and named."""
    assert maintenance.problems(memory.store) == []
    execute = writer_connection.execute
    execute("UPDATE nodes SET parent_id = 'gone' WHERE id = ?", (tree["a1"].id,))
    execute("UPDATE nodes SET order_value = 2.0 WHERE id = ?", (tree["c"].id,))
    execute("UPDATE nodes SET token_count = 99 WHERE id = ?", (tree["b"].id,))
    execute("UPDATE nodes SET parent_id = ? WHERE id = ?", (tree["c11"].id, tree["c1"].id))
    found = "\n".join(maintenance.problems(memory.store))
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
    maintenance.backup(memory.store, tmp_path / "copies" / "monday.sqlite")
    memory.delete(tree["c"].id)
    memory.create_root("", ROOT, root_id="later")
    now = memory.subtree("garden")
    kept = maintenance.restore(memory.store, tmp_path / "copies" / "monday.sqlite")
    assert [root.id for root in memory.roots()] == ["garden"]
    assert memory.subtree("garden") == then
    assert memory.marks_of(tree["a"].id) == {"priority": "2"}
    maintenance.restore(memory.store, kept)
    assert memory.subtree("garden") == now
    assert [path.name for path in (tmp_path / "copies").iterdir()] == ["monday.sqlite"]


def test_restore_is_seen_by_others(memory, tree, tmp_path):
    """Persistence: a process that has the file open reads the restored trees; nobody has to end for it."""
    maintenance.backup(memory.store, tmp_path / "b.sqlite")
    other = sqlite3.connect(tmp_path / "docmem.sqlite")
    memory.delete("garden")
    assert other.execute("SELECT count(*) FROM nodes").fetchone() == (0,)
    maintenance.restore(memory.store, tmp_path / "b.sqlite")
    assert other.execute("SELECT count(*) FROM nodes").fetchone() == (8,)
    other.close()


def test_restore_tells_the_index_to_begin_anew(memory, tree, tmp_path):
    """Persistence: after a restore no index counts as up to date, and nothing of then is sent to it."""
    with memory.store.writing() as rows:
        maintenance.marks.set_fact(rows, maintenance.INDEX_GENERATION, "7")  # type: ignore[attr-defined]
    maintenance.backup(memory.store, tmp_path / "b.sqlite")
    maintenance.restore(memory.store, tmp_path / "b.sqlite")
    with memory.store.reading() as rows:
        assert maintenance.marks.fact(rows, maintenance.INDEX_GENERATION) == ""  # type: ignore[attr-defined]
    assert maintenance.facts(memory.store).waiting == 0


@pytest.mark.parametrize("kind", ["missing", "empty", "text", "cut", "newer"])
def test_bad_backups_change_nothing(memory, tree, tmp_path, kind):
    """Persistence: a backup that is missing, empty, cut, of something else or too new is refused; the store stays."""
    file = tmp_path / "b.sqlite"
    with memory.batch():
        for number in range(300):
            memory.append("garden", f"{number} " * 50, MEMORY)
    maintenance.backup(memory.store, file)
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
        connection.execute(f"PRAGMA user_version = {SCHEMA.version + 1}")
        connection.close()
    before = memory.subtree("garden")
    with pytest.raises((StoreDamaged, StoreTooNew, StateUnwritable)):
        maintenance.restore(memory.store, file)
    assert memory.subtree("garden") == before
    memory.append("garden", "still writable", MEMORY)


def test_backup_within_a_batch(memory, tree, tmp_path):
    """Persistence: a backup in the middle of a batch would be of half of it, and is refused."""
    with memory.batch(), pytest.raises(StoreBusy):
        maintenance.backup(memory.store, tmp_path / "b.sqlite")


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
    assert maintenance.problems(again.store) != []
    again.close()


def test_a_damaged_store_is_not_backed_up(memory, tree, tmp_path):
    """Persistence: a backup of a store that is damaged is refused, and the one of before is left as it was."""
    with memory.batch():
        for number in range(500):
            memory.append("garden", f"{number} " * 50, MEMORY)
    target = tmp_path / "b.sqlite"
    maintenance.backup(memory.store, target)
    good = target.read_bytes()
    memory.close()
    file = tmp_path / "docmem.sqlite"
    data = bytearray(file.read_bytes())
    data[40960:49152] = os.urandom(8192)
    file.write_bytes(data)
    again = open_docmem(file)
    with pytest.raises(StoreDamaged, match="no backup was written"):
        maintenance.backup(again.store, target)
    assert target.read_bytes() == good
    assert not list(tmp_path.glob(".b.sqlite*"))
    maintenance.restore(again.store, target)
    assert maintenance.problems(again.store) == []
    again.close()


def test_a_backup_takes_the_place_of_backups_only(memory, tree, tmp_path):
    """Persistence: a backup is written over an earlier one, never over the store, a folder or another file."""
    maintenance.backup(memory.store, tmp_path / "b.sqlite")
    memory.append("garden", "later", MEMORY)
    maintenance.backup(memory.store, tmp_path / "b.sqlite")
    (tmp_path / "note.md").write_text("a note")
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "docmem.sqlite")
    for name in ("note.md", "docmem.sqlite", "link.sqlite", "."):
        with pytest.raises(StateUnwritable):
            maintenance.backup(memory.store, tmp_path / name)
    assert (tmp_path / "note.md").read_text() == "a note"
    assert len(memory.subtree("garden")) == 9
    assert sqlite3.connect(tmp_path / "b.sqlite").execute("SELECT count(*) FROM nodes").fetchone() == (9,)


@pytest.mark.parametrize("kind", ["text", "cut", "newer"])
def test_a_store_that_does_not_open_is_replaced(memory, tree, tmp_path, kind):
    """Persistence: a backup takes the place of a store that is beyond opening, which is kept; its log is not read in."""
    file, target = tmp_path / "docmem.sqlite", tmp_path / "b.sqlite"
    maintenance.backup(memory.store, target)
    memory.close()
    if kind == "newer":
        connection = sqlite3.connect(file)
        connection.execute(f"PRAGMA user_version = {SCHEMA.version + 1}")
        connection.close()
    else:
        file.write_bytes(b"no database " * 1000 if kind == "text" else file.read_bytes()[:9000])
    (tmp_path / "docmem.sqlite-wal").write_bytes(b"a log")
    broken = file.read_bytes()
    with pytest.raises(StoreDamaged):
        maintenance.replace(file, tmp_path / "docmem.sqlite-wal")
    assert file.read_bytes() == broken
    kept = maintenance.replace(file, target)
    assert kept.read_bytes() == broken
    assert not (tmp_path / "docmem.sqlite-wal").exists()
    again = open_docmem(file)
    assert len(again.subtree("garden")) == 8
    again.close()


def test_facts(memory, tree):
    """Storage: how many trees, nodes, versions and waiting entries there are, and how large the file is."""
    memory.update_content(tree["a"].id, "y", tree["a"].hash)
    facts = maintenance.facts(memory.store)
    assert (facts.trees, facts.nodes, facts.versions, facts.waiting, facts.rebalances) == (1, 8, 1, 8, 0)
    assert facts.size_bytes > 4096


def test_a_plain_copy_of_the_file_can_be_restored(memory, tree, tmp_path):
    """Persistence: a copy made by other means, while the store was closed, is a backup too."""
    memory.close()
    shutil.copy(tmp_path / "docmem.sqlite", tmp_path / "plain.sqlite")
    again = open_docmem(tmp_path / "docmem.sqlite")
    again.delete("garden")
    maintenance.restore(again.store, tmp_path / "plain.sqlite")
    assert len(again.subtree("garden")) == 8
    again.close()
