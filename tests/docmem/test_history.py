"""Spec 2, Additional Features: version history for non-destructive updates; flags beside the properties."""

from __future__ import annotations

import pytest

from infold.docmem.node import Context, expected_hashes
from infold.docmem.place import after
from infold.errors import LockConflict, NodeNotFound, NodeReadonly, VersionNotFound
from tests.docmem.conftest import MEMORY, SUMMARY, fresh

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


def test_what_was_goes_with_the_node(memory, tree):
    """Operations / Delete: what a deleted node said before is gone too, and so are its flags."""
    node = tree["b"]
    memory.update_content(node.id, "second", node.hash)
    memory.mark(node.id, "sticky", "pair")
    memory.delete(node.id)
    assert memory.marked("sticky") == {}
    with memory.store.reading() as rows:
        assert rows.connection.execute("SELECT count(*) FROM history").fetchone() == (0,)


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
