"""Spec 2, Operations: Append, Insert, Delete, Update Content, Update Context; Readonly Metadata; Optimistic Locking."""

from __future__ import annotations

import pytest

from infold.docmem import node as node_module
from infold.docmem.node import Context, node_hash
from infold.docmem.place import after as after_node
from infold.docmem.place import child_of
from infold.errors import LockConflict, NodeNotFound, NodeReadonly, NoParent
from tests.docmem.conftest import MEMORY, ROOT

OTHER = Context("memory", "source", "talk")


@pytest.fixture
def later(monkeypatch):
    """The clock of every later write stands at one known moment."""
    moment = "2030-01-01T00:00:00.000Z"
    monkeypatch.setattr("infold.docmem.rows.now", lambda: moment)
    assert node_module.now() < moment
    return moment


def test_append_is_the_last_child(memory, tree, texts):
    """Operations / Append: the new node is the last child, its order one greater than the maximum; 1.0 if none."""
    new = memory.append("garden", "d", OTHER)
    assert (new.order_value, new.parent_id, new.text, new.context) == (4.0, "garden", "d", OTHER)
    assert texts("garden") == ["a", "b", "c", "d"]
    assert memory.append(new.id, "d1", MEMORY).order_value == 1.0
    assert memory.find(new.id) == new


def test_append_below_nothing(memory, tree):
    """Operations / Append: a parent that is not there is an error that names it."""
    with pytest.raises(NodeNotFound, match="nowhere"):
        memory.append("nowhere", "x", MEMORY)


def test_insert_before_and_after(memory, tree, texts):
    """Operations / Insert: a sibling immediately before, or immediately after, the target; the new node is returned."""
    first = memory.insert_before(tree["b"].id, "x", OTHER)
    second = memory.insert_after(tree["b"].id, "y", OTHER)
    assert texts("garden") == ["a", "x", "b", "y", "c"]
    assert {first.parent_id, second.parent_id} == {"garden"}
    assert memory.find(first.id) == first
    assert first.context == second.context == OTHER


def test_nothing_beside_a_root(memory, tree):
    """Operations / Insert: the target must have a parent."""
    for insert in (memory.insert_before, memory.insert_after):
        with pytest.raises(NoParent):
            insert("garden", "x", MEMORY)


def test_delete_takes_all_below(memory, tree, texts):
    """Operations / Delete: a node and all its descendants go, and nothing else."""
    assert memory.delete(tree["c"].id) == 3
    assert texts("garden") == ["a", "b"]
    assert [memory.find(tree[name].id) for name in ("c", "c1", "c11")] == [None, None, None]
    assert texts(tree["a"].id) == ["a1", "a2"]


def test_delete_is_in_post_order(memory, tree, writer_connection):
    """Operations / Delete: descendants are collected first, then deleted children before parents, in post-order."""
    writer_connection.execute("CREATE TEMP TABLE gone (text TEXT)")
    writer_connection.execute(
        "CREATE TEMP TRIGGER seen BEFORE DELETE ON nodes BEGIN INSERT INTO gone VALUES (old.text); END"
    )
    memory.delete("garden")
    order = [row[0] for row in writer_connection.execute("SELECT text FROM gone ORDER BY rowid")]
    assert order == ["a1", "a2", "a", "b", "c11", "c1", "c", ""]


def test_no_cascade_is_relied_on(memory, tree, writer_connection):
    """Cascade Behavior: the database has no cascade; a row deleted by itself takes no other with it."""
    assert writer_connection.execute("PRAGMA foreign_key_list(nodes)").fetchall() == []
    writer_connection.execute("DELETE FROM nodes WHERE id = ?", (tree["a"].id,))
    assert memory.find(tree["a1"].id) is not None


def test_delete_may_expect_a_hash(memory, tree):
    """Operations / Delete: where a hash is given, the node must still be what was read."""
    with pytest.raises(LockConflict):
        memory.delete(tree["a"].id, "not this")
    assert memory.delete(tree["a"].id, tree["a"].hash) == 3


def test_update_content(memory, tree, later):
    """Operations / Update Content: text replaced, tokens, hash and updated_at renewed, the node returned."""
    before = tree["a"]
    after = memory.update_content(before.id, "a longer text", before.hash)
    assert (after.text, after.token_count, after.updated_at) == ("a longer text", 4, later)
    assert after.hash == node_hash("garden", MEMORY, "a longer text", 1.0) != before.hash
    assert (after.created_at, after.context, after.order_value) == (before.created_at, MEMORY, 1.0)
    assert memory.find(before.id) == after


def test_update_context(memory, tree, later):
    """Operations / Update Context: all three fields replaced, hash and updated_at renewed, the node returned."""
    before = tree["a"]
    after = memory.update_context(before.id, OTHER, before.hash)
    assert (after.context, after.updated_at, after.text) == (OTHER, later, "a")
    assert after.hash == node_hash("garden", OTHER, "a", 1.0) != before.hash
    assert memory.find(before.id) == after


def test_stale_hash_is_a_conflict_with_both_hashes(memory, tree):
    """Optimistic Locking: an update succeeds only if the current hash is the expected one; else the error has both."""
    before = tree["a"]
    now = memory.update_content(before.id, "first", before.hash)
    for update in (
        lambda: memory.update_content(before.id, "second", before.hash),
        lambda: memory.update_context(before.id, OTHER, before.hash),
    ):
        with pytest.raises(LockConflict) as conflict:
            update()
        assert (conflict.value.expected, conflict.value.current) == (before.hash, now.hash)
        assert conflict.value.http_status == 409
    assert memory.find(before.id) == now


def test_the_hash_follows_each_hashed_field(memory, tree):
    """Optimistic Locking: the hash is recalculated whenever the parent, the context, the text or the order changes."""
    seen = [tree["a1"].hash]

    def changed(node):
        assert node.hash == node_hash(node.parent_id, node.context, node.text, node.order_value)
        assert memory.get(node.id) == node
        seen.append(node.hash)
        return node.hash

    node_id = tree["a1"].id
    changed(memory.update_content(node_id, "other", seen[-1]))
    for context in (Context("t", "source", "walk"), Context("t", "n", "walk"), Context("t", "n", "v")):
        changed(memory.update_context(node_id, context, seen[-1]))
    changed(memory.move(node_id, after_node(tree["a2"].id), seen[-1]))
    changed(memory.move(node_id, child_of(tree["b"].id), seen[-1]))
    assert len(set(seen)) == 7


def test_readonly_is_not_modified(memory, tree):
    """Readonly Metadata: content and context of a node with readonly 1 cannot be updated; with 0 they can."""
    stone = memory.append("garden", "carved", MEMORY, readonly=True)
    assert (stone.readonly, tree["a"].readonly) == (1, 0)
    with pytest.raises(NodeReadonly):
        memory.update_content(stone.id, "changed", stone.hash)
    with pytest.raises(NodeReadonly):
        memory.update_context(stone.id, OTHER, stone.hash)
    assert memory.find(stone.id) == stone


def test_readonly_is_0_or_1(memory, tree, writer_connection):
    """Readonly Metadata: the database itself refuses any other value."""
    with pytest.raises(Exception, match="CHECK"):
        writer_connection.execute("UPDATE nodes SET readonly = 2")


def test_notes_stand_after_readonly_nodes(memory, tree, texts):
    """Node Types, Readonly Metadata: notes are siblings right after the node, which stays; later notes come later."""
    stone = memory.insert_after(tree["a"].id, "carved", MEMORY, readonly=True)
    first = memory.note_beside(stone.id, "not so", name="by", value="me")
    memory.note_beside(stone.id, "indeed not")
    assert texts("garden") == ["a", "carved", "not so", "indeed not", "b", "c"]
    assert (str(first.context), first.readonly) == ("note:by:me", 0)
    assert memory.find(stone.id) == stone


def test_updates_of_what_is_not_there(memory, tree):
    """Operations: each update of a node that is not there says so."""
    for operation in (
        lambda: memory.update_content("nowhere", "x", ""),
        lambda: memory.update_context("nowhere", OTHER, ""),
        lambda: memory.delete("nowhere"),
        lambda: memory.note_beside("nowhere", "x"),
        lambda: memory.insert_after("nowhere", "x", MEMORY),
    ):
        with pytest.raises(NodeNotFound):
            operation()


def test_trees_live_side_by_side(memory, tree):
    """Tree Structure / Root: each root is one docmem instance; all are listed, and changes stay within one."""
    other = memory.create_root("Other", ROOT, root_id="other")
    memory.append(other.id, "x", MEMORY)
    assert [root.id for root in memory.roots()] == ["garden", "other"]
    assert memory.serialise("other") == "x"
    memory.delete("other")
    assert len(memory.subtree("garden")) == 8
