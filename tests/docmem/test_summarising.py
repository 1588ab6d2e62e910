"""Spec 2, Operations / Summarization; Visible Compression."""

from __future__ import annotations

import pytest

from infold.docmem.node import expected_hashes, node_hash
from infold.docmem.place import after, child_of
from infold.errors import LockConflict, NoParent, NotASummary, NotSummarisable
from tests.docmem.conftest import MEMORY, SUMMARY, fresh


@pytest.fixture
def row(memory, tree):
    """Six leaves below b."""
    return [memory.append(tree["b"].id, f"m{number}", MEMORY) for number in range(6)]


def test_summary_is_the_new_parent(memory, tree, row, texts):
    """Summarization: a summary node with the given content and context becomes the parent of the range; it is returned."""
    summary = memory.summarise(expected_hashes(row[1:4]), "m1 to m3", SUMMARY)
    assert (summary.text, summary.context, summary.parent_id) == ("m1 to m3", SUMMARY, tree["b"].id)
    assert texts(tree["b"].id) == ["m0", "m1 to m3", "m4", "m5"]
    assert texts(summary.id) == ["m1", "m2", "m3"]
    assert memory.find(summary.id) == summary


def test_summary_stands_at_the_midpoint(memory, tree, row):
    """Summarization: the order of the summary is the midpoint between the first and the last node's orders."""
    assert memory.summarise(expected_hashes(row[1:3]), "s", SUMMARY).order_value == 2.5
    assert memory.summarise(expected_hashes(row[3:6]), "s", SUMMARY).order_value == 5.0


def test_memories_are_preserved(memory, tree, row):
    """Visible Compression: original nodes are preserved, with the same ids, texts and times of creation."""
    summary = memory.summarise(expected_hashes(row[:2]), "s", SUMMARY)
    kept = memory.children(summary.id)
    assert [(node.id, node.text, node.created_at) for node in kept] == [(n.id, n.text, n.created_at) for n in row[:2]]
    assert [node.hash for node in kept] == [node_hash(summary.id, MEMORY, n.text, n.order_value) for n in row[:2]]
    assert memory.serialise(tree["b"].id) == "s\n\nm0\n\nm1\n\nm2\n\nm3\n\nm4\n\nm5"


def test_the_midpoint_is_of_the_ends_alone(memory, tree, row):
    """Summarization: what stands between the first and the last node does not move the midpoint."""
    memory.delete(row[2].id)
    assert memory.summarise(expected_hashes([row[0], row[1], row[3]]), "s", SUMMARY).order_value == 2.5


def test_a_summary_leaves_a_trace(memory, tree, row):
    """Visible Compression: explicit and auditable: the history of each node tells when it was folded, and from where."""
    summary = memory.summarise(expected_hashes(row[:2]), "s", SUMMARY)
    (version,) = memory.versions(row[0].id)
    assert (version.operation, version.parent_id, version.hash) == ("summarise", tree["b"].id, row[0].hash)
    assert version.replaced_at >= summary.created_at
    memory.unsummarise(summary.id, summary.hash)
    assert [version.operation for version in memory.versions(row[0].id)] == ["summarise", "unsummarise"]


def test_order_of_naming_does_not_matter(memory, tree, row, texts):
    """Summarization: a contiguous range is one however its nodes are listed."""
    summary = memory.summarise(expected_hashes([row[3], row[2]]), "s", SUMMARY)
    assert texts(summary.id) == ["m2", "m3"]


def test_only_a_contiguous_range(memory, tree, row):
    """Summarization: a range with a gap is refused, naming what stands in it; so is no node at all."""
    with pytest.raises(NotSummarisable, match=row[2].id):
        memory.summarise(expected_hashes([row[1], row[3]]), "s", SUMMARY)
    with pytest.raises(NotSummarisable):
        memory.summarise({}, "s", SUMMARY)


def test_only_leaves_of_one_parent(memory, tree, row):
    """Summarization: all nodes share the same parent and have no children."""
    with pytest.raises(NotSummarisable, match="parent in common"):
        memory.summarise(expected_hashes([row[0], tree["a1"]]), "s", SUMMARY)
    with pytest.raises(NotSummarisable, match="has children"):
        memory.summarise(expected_hashes([tree["a"]]), "s", SUMMARY)
    with pytest.raises(NoParent):
        memory.summarise(expected_hashes([tree["root"]]), "s", SUMMARY)


def test_a_summary_is_told_by_its_context_type(memory, tree, row):
    """Node Types: summary nodes are distinguished from memory nodes by context_type."""
    with pytest.raises(NotSummarisable, match="context type"):
        memory.summarise(expected_hashes(row[:2]), "s", MEMORY)


def test_one_changed_memory_leaves_all_in_place(memory, tree, row):
    """Summarization: each reparent is locked; if any fails, every parent reference is its original one, and no summary is."""
    memory.update_content(row[2].id, "changed", row[2].hash)
    before = memory.subtree("garden")
    with pytest.raises(LockConflict) as conflict:
        memory.summarise(expected_hashes(row[:4]), "s", SUMMARY)
    assert conflict.value.node_id == row[2].id
    assert memory.subtree("garden") == before


def test_summary_is_reversible(memory, tree, row):
    """Visible Compression: summarization is reversible; nodes, order and hashes are what they were."""
    before = [(node.id, node.order_value, node.hash) for node in memory.children(tree["b"].id)]
    summary = memory.summarise(expected_hashes(row[1:5]), "s", SUMMARY)
    back = memory.unsummarise(summary.id, summary.hash)
    assert [node.text for node in back] == ["m1", "m2", "m3", "m4"]
    assert [(node.id, node.order_value, node.hash) for node in memory.children(tree["b"].id)] == before
    assert memory.find(summary.id) is None


def test_reversed_after_much_has_changed(memory, tree, row, texts):
    """Visible Compression: children stand where the summary stands now, in their order, whatever was added meanwhile."""
    summary = memory.summarise(expected_hashes(row[1:3]), "s", SUMMARY)
    for number in range(9):
        memory.append(summary.id, f"late{number}", MEMORY)
    memory.move(summary.id, after(row[4].id), summary.hash)
    below = texts(summary.id)
    memory.unsummarise(summary.id, fresh(memory, summary.id))
    assert texts(tree["b"].id) == ["m0", "m3", "m4", *below, "m5"]


def test_nested_and_empty_summaries_are_reversed(memory, tree, row, texts):
    """Visible Compression: a summary within another comes back whole; from one without children nothing is taken."""
    inner = memory.summarise(expected_hashes(row[1:3]), "inner", SUMMARY)
    outer = memory.append(tree["b"].id, "outer", SUMMARY)
    memory.move(inner.id, child_of(outer.id), inner.hash)
    memory.unsummarise(outer.id, outer.hash)
    assert texts(tree["b"].id) == ["m0", "m3", "m4", "m5", "inner"]
    assert texts(inner.id) == ["m1", "m2"]
    empty = memory.append(tree["b"].id, "empty", SUMMARY)
    with pytest.raises(NotASummary):
        memory.unsummarise(empty.id, empty.hash)
    assert memory.get(empty.id) == empty


def test_only_summaries_are_taken_back(memory, tree, row):
    """Visible Compression: explicit: a node that is no summary, a changed one or a root is not dissolved."""
    with pytest.raises(NotASummary):
        memory.unsummarise(tree["a"].id, tree["a"].hash)
    summary = memory.summarise(expected_hashes(row[1:3]), "s", SUMMARY)
    with pytest.raises(LockConflict):
        memory.unsummarise(summary.id, "not this")
    root = memory.create_root("", SUMMARY)
    with pytest.raises(NoParent):
        memory.unsummarise(root.id, root.hash)


def test_a_summary_can_be_regenerated(memory, tree, row):
    """Database / Updates: a summary's content is updated in place when its children change."""
    summary = memory.summarise(expected_hashes(row[1:3]), "s", SUMMARY)
    again = memory.update_content(summary.id, "better", summary.hash)
    assert (again.text, len(memory.children(summary.id))) == ("better", 2)


def test_notes_come_along(memory, tree, row, texts):
    """Node Types: notes beside what is summarised stand below the summary with it, and come back with it."""
    note = memory.note_beside(row[2].id, "not so")
    summary = memory.summarise(expected_hashes(row[1:3]), "s", SUMMARY)
    assert texts(summary.id) == ["m1", "m2", "not so"]
    memory.unsummarise(summary.id, summary.hash)
    assert texts(tree["b"].id) == ["m0", "m1", "m2", "not so", "m3", "m4", "m5"]
    assert memory.notes_of(row[2].id) == [memory.get(note.id)]


def test_by_hand_groups_are_not_divided_either(memory, tree, row):
    """Sticky Nodes: a node is not parted from one that it sticks to; both together may be summarised."""
    for node in row[1:3]:
        memory.mark(node.id, "sticky", "pair")
    with pytest.raises(NotSummarisable, match="sticks to"):
        memory.summarise(expected_hashes(row[:2]), "s", SUMMARY)
    memory.summarise(expected_hashes(row[:3]), "s", SUMMARY)


def test_what_was_unfolded_can_be_folded_again(memory, tree, row, texts):
    """Visible Compression: a summary that was taken back is kept, with its words, flags, and what stood below it."""
    memory.mark(row[2].id, "priority", "2")
    summary = memory.summarise(expected_hashes(row[1:4]), "the middle", SUMMARY)
    memory.mark(summary.id, "priority", "3")
    memory.unsummarise(summary.id, summary.hash)
    memory.move(row[1].id, after(row[5].id), fresh(memory, row[1].id))
    memory.delete(row[3].id)
    assert memory.restore_deleted(summary.id).text == "the middle"
    assert texts(tree["b"].id) == ["m0", "the middle", "m4", "m5"]
    assert texts(summary.id) == ["m1", "m2"]
    assert memory.marks_of(summary.id)["priority"] == "3"
    assert memory.stale_summaries() == [memory.get(summary.id)]
