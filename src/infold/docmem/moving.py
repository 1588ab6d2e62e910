"""Nodes moved within their tree and copied anywhere (spec 2, Move, Copy)."""

from __future__ import annotations

from infold.docmem import marks, notes
from infold.docmem.node import Node
from infold.docmem.order import FIRST, STEP
from infold.docmem.place import Place, after, parent_and_order, parent_of
from infold.docmem.rows import Rows
from infold.errors import CrossRootMove, CycleRefused


def move(rows: Rows, node_id: str, place: Place, expected_hash: str) -> Node:
    """The node, with all below it and the notes beside it, at `place`.

    Raises NodeNotFound, LockConflict, NoParent, CrossRootMove; CycleRefused where the place is below or beside itself.
    """
    node = rows.get_locked(node_id, expected_hash)
    target = rows.get(place.target)
    if place.side != "child":
        parent_of(target)
    above = rows.ancestor_ids(target.id)
    if node.id in above:
        raise CycleRefused(
            f"The memory node {node.id!r} cannot move {_in_words(place)}: that is itself or below it.",
            hint="Name a node outside of what is moved.",
        )
    if rows.root_id(node.id) != above[-1]:
        raise CrossRootMove(
            f"{node.id!r} and {target.id!r} are in different trees.",
            hint="Copy it there and delete the original.",
        )
    noted = notes.beside(rows, node)
    moved = last = rows.change(node, "move", place=parent_and_order(rows, place, moving=node.id))
    for note in noted:
        at = parent_and_order(rows, after(last.id), moving=note.id)
        last = rows.change(rows.get(note.id), "move", place=at)
    return rows.get(moved.id) if noted else moved


def copy(rows: Rows, node_id: str, place: Place) -> Node:
    """A deep copy at `place`, in any tree: new ids and times, children numbered 1.0, 2.0, …, readonly and marks kept.

    Gives the copy of the node itself. Raises NodeNotFound, NoParent.
    """
    original = rows.get(node_id)
    sources = [node for node, _depth in rows.tree(original.id)]  # all of them first: the place may be among them
    parent, order_value = parent_and_order(rows, place)
    copies: dict[str | None, Node] = {}
    given: dict[str, float] = {}
    for source in sources:
        if copies:
            parent = copies[source.parent_id].id
            order_value = given.get(parent, FIRST - STEP) + STEP
            given[parent] = order_value
        copies[source.id] = rows.add(parent, source.text, source.context, order_value, readonly=source.readonly)
        rows.copy_marks(source.id, copies[source.id].id)
    about = marks.marked(rows, notes.NOTE_OF)
    for note_id, copied in copies.items():
        if about.get(str(note_id)) in copies:  # a note that was copied with its node is about the copy
            marks.mark(rows, copied.id, notes.NOTE_OF, copies[about[str(note_id)]].id)
    return copies[original.id]


def _in_words(place: Place) -> str:
    return f"below {place.target!r}" if place.side == "child" else f"{place.side} {place.target!r}"
