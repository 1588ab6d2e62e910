"""What the search index has to hear of (spec 2, Vector Database)."""

from __future__ import annotations

import pytest

from infold.docmem import outbox
from infold.errors import LockConflict
from tests.docmem.conftest import MEMORY, ROOT, fresh


def waiting(memory):
    """What the search index has to hear, as (node, root, op)."""
    with memory.store.reading() as rows:
        return [(entry.node_id, entry.root_id, entry.op) for entry in outbox.waiting(rows, 1000)]


def drained(memory):
    """Empties the outbox."""
    with memory.store.writing() as rows:
        outbox.done(rows, outbox.waiting(rows, 1000))


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
