"""Spec 2, Operations: Move, Copy."""

from __future__ import annotations

import pytest

from infold.docmem.node import node_hash
from infold.docmem.place import after, before, child_of
from infold.errors import CrossRootMove, CycleRefused, LockConflict, NodeNotFound, NoParent
from tests.docmem.conftest import MEMORY, ROOT, fresh


def shape(memory, node_id):
    """A subtree as depths and texts."""
    return [(depth, node.text) for node, depth in memory.subtree(node_id)]


def test_move_as_child_is_appended(memory, tree, texts):
    """Operations / Move: as child, after all existing children; order as for append; all below comes along."""
    moved = memory.move(tree["c"].id, child_of(tree["a"].id), tree["c"].hash)
    assert texts(tree["a"].id) == ["a1", "a2", "c"]
    assert (moved.order_value, moved.parent_id) == (3.0, tree["a"].id)
    assert shape(memory, moved.id) == [(0, "c"), (1, "c1"), (2, "c11")]
    assert memory.find(moved.id) == moved


def test_move_beside(memory, tree, texts):
    """Operations / Move: as sibling before or after the target, order by the rules of insert."""
    first = memory.move(tree["c"].id, before(tree["b"].id), tree["c"].hash)
    assert texts("garden") == ["a", "c", "b"]
    assert first.order_value == pytest.approx(1.2)
    second = memory.move(tree["a2"].id, after(tree["b"].id), tree["a2"].hash)
    assert texts("garden") == ["a", "c", "b", "a2"]
    assert second.order_value == 3.0


def test_move_among_its_own_siblings(memory, tree, texts):
    """Operations / Move: the node that moves is no neighbour of itself."""
    memory.move(tree["a"].id, after(tree["b"].id), tree["a"].hash)
    assert texts("garden") == ["b", "a", "c"]
    memory.move(tree["b"].id, child_of("garden"), tree["b"].hash)
    assert texts("garden") == ["a", "c", "b"]
    last = memory.move(tree["b"].id, child_of("garden"), fresh(memory, tree["b"].id))
    assert texts("garden") == ["a", "c", "b"]
    assert last.order_value == memory.get(tree["c"].id).order_value + 1.0


def test_a_move_counts_no_distance_to_itself(memory, tree):
    """Operations / Move: the order before a node is between it and the sibling that stays, by the rules of insert."""
    moved = memory.move(tree["b"].id, before(tree["c"].id), tree["b"].hash)
    assert moved.order_value == pytest.approx(0.2 * 3.0 + 0.8 * 1.0)


def test_move_sets_hash_and_time(memory, tree, monkeypatch):
    """Operations / Move: updated_at is the current time and the hash that of the new place."""
    monkeypatch.setattr("infold.docmem.rows.now", lambda: "2030-01-01T00:00:00.000Z")
    moved = memory.move(tree["b"].id, child_of(tree["a"].id), tree["b"].hash)
    assert moved.updated_at == "2030-01-01T00:00:00.000Z"
    assert moved.created_at == tree["b"].created_at
    assert moved.hash == node_hash(tree["a"].id, MEMORY, "b", 3.0)


def test_move_expects_a_hash(memory, tree):
    """Operations / Move: optimistic locking; with another hash nothing moves."""
    before_move = memory.structure("garden")
    with pytest.raises(LockConflict):
        memory.move(tree["b"].id, child_of(tree["a"].id), tree["a"].hash)
    assert memory.structure("garden") == before_move


@pytest.mark.parametrize("node, target", [("c", "c"), ("c", "c1"), ("c", "c11"), ("root", "a")])
@pytest.mark.parametrize("side", [child_of, before, after])
def test_cycles_are_refused(memory, tree, node, target, side):
    """Operations / Move: a node cannot come below or beside itself or any of its descendants."""
    with pytest.raises(CycleRefused):
        memory.move(tree[node].id, side(tree[target].id), tree[node].hash)
    assert len(memory.subtree("garden")) == 8


def test_move_stays_in_its_tree(memory, tree):
    """Operations / Move: source and target must share the same root."""
    other = memory.create_root("", ROOT, root_id="other")
    inner = memory.append(other.id, "x", MEMORY)
    for place in (child_of(other.id), child_of(inner.id), after(inner.id)):
        with pytest.raises(CrossRootMove):
            memory.move(tree["a"].id, place, tree["a"].hash)


def test_nothing_moves_beside_a_root(memory, tree):
    """Operations / Move, Copy: the target of a sibling move or copy must have a parent."""
    for side in (before, after):
        with pytest.raises(NoParent):
            memory.move(tree["a"].id, side("garden"), tree["a"].hash)
        with pytest.raises(NoParent):
            memory.copy(tree["a"].id, side("garden"))


def test_copy_is_deep_and_new(memory, tree):
    """Operations / Copy: all descendants, the same relative structure, new ids for each; the original stays."""
    original = memory.structure("garden")
    copied = memory.copy(tree["c"].id, child_of(tree["a"].id))
    assert shape(memory, copied.id) == [(0, "c"), (1, "c1"), (2, "c11")]
    old = {node.id for node, _depth in memory.subtree(tree["c"].id)}
    assert old.isdisjoint(node.id for node, _depth in memory.subtree(copied.id))
    memory.delete(copied.id)
    assert memory.structure("garden") == original


def test_copy_is_put_by_the_rules_of_insert(memory, tree, texts):
    """Operations / Copy: as last child, before or after a target, with the positioning rules of insert."""
    assert memory.copy(tree["b"].id, child_of(tree["a"].id)).order_value == 3.0
    assert memory.copy(tree["c"].id, before(tree["b"].id)).order_value == pytest.approx(1.2)
    assert memory.copy(tree["a1"].id, after(tree["c"].id)).order_value == 4.0
    assert texts("garden") == ["a", "c", "b", "c", "a1"]


def test_copied_children_are_numbered_in_sequence(memory, tree):
    """Operations / Copy: children use sequential order 1.0, 2.0, …, keeping relative order, not the original values."""
    memory.insert_before(tree["a2"].id, "between", MEMORY)
    memory.insert_before(tree["a1"].id, "first", MEMORY)
    copied = memory.copy(tree["a"].id, child_of("garden"))
    children = memory.children(copied.id)
    assert [(node.text, node.order_value) for node in children] == [
        ("first", 1.0), ("a1", 2.0), ("between", 3.0), ("a2", 4.0),
    ]  # fmt: skip


def test_copy_has_times_of_its_own_and_keeps_readonly(memory, tree, monkeypatch):
    """Operations / Copy: timestamps are the current time; the readonly flag is preserved."""
    stone = memory.append(tree["b"].id, "carved", MEMORY, readonly=True)
    monkeypatch.setattr("infold.docmem.rows.now", lambda: "2030-01-01T00:00:00.000Z")
    copied = [node for node, _depth in memory.subtree(memory.copy(tree["b"].id, child_of("garden")).id)]
    assert {moment for node in copied for moment in (node.created_at, node.updated_at)} == {"2030-01-01T00:00:00.000Z"}
    assert [node.readonly for node in copied] == [0, 1]
    assert memory.find(stone.id).readonly == 1


def test_copy_across_trees(memory, tree):
    """Operations / Copy: may operate across different trees."""
    memory.create_root("", ROOT, root_id="other")
    copied = memory.copy("garden", child_of("other"))
    assert memory.serialise("other") == memory.serialise("garden")
    assert memory.get_root(copied.id).id == "other"


def test_copy_into_itself_ends(memory, tree):
    """Operations / Copy: a copy below the original is a copy of what was there before, once."""
    memory.copy(tree["c"].id, child_of(tree["c11"].id))
    assert shape(memory, tree["c"].id) == [(0, "c"), (1, "c1"), (2, "c11"), (3, "c"), (4, "c1"), (5, "c11")]


def test_marks_go_with_a_copy(memory, tree):
    """Operations / Copy: flags of a node are flags of its copy."""
    memory.mark(tree["c1"].id, "sticky", "pair")
    copied = memory.copy(tree["c"].id, child_of("garden"))
    assert memory.marks_of(memory.children(copied.id)[0].id) == {"sticky": "pair"}


def test_move_and_copy_of_what_is_not_there(memory, tree):
    """Operations / Move, Copy: a source or target that is not there is named."""
    for operation in (
        lambda: memory.move("nowhere", child_of("garden"), ""),
        lambda: memory.move(tree["a"].id, child_of("nowhere"), tree["a"].hash),
        lambda: memory.copy("nowhere", child_of("garden")),
        lambda: memory.copy(tree["a"].id, child_of("nowhere")),
    ):
        with pytest.raises(NodeNotFound, match="nowhere"):
            operation()


def test_notes_move_with_their_node(memory, tree, texts):
    """Node Types: notes beside a node follow it in their order; one that stands elsewhere stays there, and is its note."""
    stone = memory.append("garden", "stone", MEMORY, readonly=True)
    first, second, third = (memory.note_beside(stone.id, text) for text in ("n1", "n2", "n3"))
    memory.move(third.id, child_of(tree["b"].id), third.hash)
    memory.insert_after(stone.id, "between", MEMORY)
    memory.move(stone.id, after(tree["a"].id), stone.hash)
    assert texts("garden") == ["a", "stone", "n1", "n2", "b", "c", "between"]
    assert {note.id for note in memory.notes_of(stone.id)} == {first.id, second.id, third.id}
    copied = memory.copy("garden", child_of(memory.create_root("", ROOT).id))
    again = next(node for node, _ in memory.subtree(copied.id) if node.text == "stone")
    assert sorted(note.text for note in memory.notes_of(again.id)) == ["n1", "n2", "n3"]
    assert {note.id for note in memory.notes_of(stone.id)} == {first.id, second.id, third.id}


def test_a_note_about_a_root_stands_below_it(memory, tree, texts):
    """Node Types: nothing stands beside a root, so that what there is to say about a readonly one is its last child."""
    note = memory.note_beside("garden", "all of it")
    assert texts("garden") == ["a", "b", "c", "all of it"]
    assert memory.notes_of("garden") == [note]
