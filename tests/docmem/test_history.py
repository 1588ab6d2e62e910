"""Spec 2, Additional Features: version history for non-destructive updates; flags beside the properties."""

from __future__ import annotations

import pytest

from infold.docmem.maintenance import problems
from infold.docmem.node import Context, expected_hashes
from infold.docmem.place import after, child_of
from infold.errors import LockConflict, NodeExists, NodeNotFound, NodeReadonly, VersionNotFound
from tests.docmem.conftest import MEMORY, ROOT, SUMMARY, fresh

OTHER = Context("memory", "source", "talk")


def test_every_update_leaves_what_was(memory, tree):
    """Additional Features: each update keeps text, context, place and hash of before, oldest first, and what replaced it."""
    node = tree["b"]
    assert memory.versions(node.id) == []
    memory.update_content(node.id, "second", node.hash)
    memory.update_context(node.id, OTHER, fresh(memory, node.id))
    memory.move(node.id, after(tree["c"].id), fresh(memory, node.id))
    memory.summarise(expected_hashes([memory.get(node.id)]), "s", SUMMARY)
    versions = memory.versions(node.id)
    assert [version.version for version in versions] == [1, 2, 3, 4]
    assert [version.operation for version in versions] == ["content", "context", "move", "summarise"]
    assert [version.text for version in versions] == ["b", "second", "second", "second"]
    assert [version.context for version in versions] == [MEMORY, MEMORY, OTHER, OTHER]
    assert [version.order_value for version in versions] == [2.0, 2.0, 2.0, 4.0]
    assert (versions[0].hash, versions[0].parent_id) == (node.hash, "garden")


def test_a_version_comes_back(memory, tree):
    """Additional Features: restoring a version gives its text and context; it is an update that can be undone as well."""
    node = tree["b"]
    memory.update_content(node.id, "second", node.hash)
    memory.update_context(node.id, OTHER, fresh(memory, node.id))
    restored = memory.restore_version(node.id, 1, fresh(memory, node.id))
    assert (restored.text, restored.context, restored.hash) == ("b", MEMORY, node.hash)
    again = memory.restore_version(node.id, 3, restored.hash)
    assert (again.text, again.context) == ("second", OTHER)


def test_restoring_is_an_update_like_any_other(memory, tree):
    """Optimistic Locking, Readonly Metadata: restoring expects a hash, respects readonly, and names a missing version."""
    node = tree["b"]
    memory.update_content(node.id, "second", node.hash)
    with pytest.raises(LockConflict):
        memory.restore_version(node.id, 1, node.hash)
    with pytest.raises(VersionNotFound, match="version 2"):
        memory.restore_version(node.id, 2, fresh(memory, node.id))
    stone = memory.append("garden", "carved", MEMORY, readonly=True)
    with pytest.raises(NodeReadonly):
        memory.restore_version(stone.id, 1, stone.hash)


def test_what_is_deleted_can_come_back(memory, tree, texts):
    """Visible Compression; Version History: a deleted subtree is kept with flags and versions, and comes back as it was."""
    before = memory.subtree("garden")
    memory.update_content(tree["a2"].id, "second", tree["a2"].hash)
    memory.mark(tree["a"].id, "sticky", "pair")
    memory.delete(tree["a"].id)
    assert memory.marked("sticky") == {}
    assert [(one.top.node_id, one.nodes, one.top.operation) for one in memory.deletions()] == [
        (tree["a"].id, 3, "delete")
    ]
    assert memory.restore_deleted(tree["a"].id).hash == tree["a"].hash
    memory.restore_version(tree["a2"].id, 1, memory.get(tree["a2"].id).hash)
    after = memory.subtree("garden")
    assert [(node.id, node.hash, node.created_at, depth) for node, depth in after] == [
        (node.id, node.hash, node.created_at, depth) for node, depth in before
    ]
    assert memory.marks_of(tree["a"].id) == {"sticky": "pair"}
    assert [version.operation for version in memory.versions(tree["a2"].id)] == ["content", "delete", "restore"]
    assert memory.deletions() == []
    with pytest.raises(NodeNotFound, match="No deleted"):
        memory.restore_deleted(tree["a"].id)


def test_what_comes_back_finds_a_place(memory, tree, texts):
    """Version History: a whole tree comes back; a place that was taken is right before it; a missing parent is named."""
    memory.delete(tree["b"].id)
    again = memory.insert_after(tree["a"].id, "d", MEMORY)
    memory.move(again.id, child_of(tree["a"].id), again.hash)
    other = memory.insert_before(tree["c"].id, "e", MEMORY)
    memory.restore_deleted(tree["b"].id)
    assert sorted(texts("garden")) == ["a", "b", "c", "e"]
    memory.delete(tree["c1"].id)
    memory.delete(tree["c"].id)
    with pytest.raises(NodeNotFound, match=r"parent .* is gone too"):
        memory.restore_deleted(tree["c1"].id)
    before = memory.subtree("garden")
    memory.delete("garden")
    memory.create_root("", ROOT, root_id="garden")
    with pytest.raises(NodeExists):
        memory.restore_deleted("garden")
    memory.delete("garden")
    memory.restore_deleted(other.id)
    assert [node.id for node, _ in memory.subtree("garden")] == [node.id for node, _ in before]
    assert problems(memory.store) == []


def test_what_goes_for_good_is_kept_nowhere(memory, tree):
    """Delete: `for_good` keeps nothing of a node, neither what it said before nor what it was."""
    memory.update_content(tree["b"].id, "second", tree["b"].hash)
    memory.delete(tree["b"].id, for_good=True)
    with memory.store.reading() as rows:
        assert rows.connection.execute("SELECT count(*) FROM history").fetchone() == (0,)
    assert memory.deletions() == []


def test_flags_are_beside_the_node(memory, tree):
    """Expansion: flags such as priority are set, listed and taken away; the node and its hash stay as they are."""
    memory.mark(tree["a"].id, "priority", "2")
    memory.mark(tree["a"].id, "sticky")
    memory.mark(tree["b"].id, "priority", "1")
    memory.mark(tree["b"].id, "priority", "3")
    assert memory.marks_of(tree["a"].id) == {"priority": "2", "sticky": "1"}
    assert memory.marked("priority") == {tree["a"].id: "2", tree["b"].id: "3"}
    memory.unmark(tree["a"].id, "priority")
    memory.unmark(tree["a"].id, "priority")
    assert memory.marked("priority") == {tree["b"].id: "3"}
    assert memory.get(tree["a"].id) == tree["a"]
    for operation in (memory.mark, memory.unmark):
        with pytest.raises(NodeNotFound):
            operation("nowhere", "sticky")
