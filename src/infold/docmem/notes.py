"""Notes beside nodes: what there is to say about a node that is readonly (spec 2, Node Types, Readonly Metadata).

A note is bound to its node by the mark `note_of`, wherever either stands. What moves or folds the node takes its notes
along where they stand beside it.
"""

from __future__ import annotations

from typing import Final

from infold.docmem import marks
from infold.docmem.lookup import Lookup
from infold.docmem.node import NOTE, Context, Node
from infold.docmem.place import after, child_of, parent_and_order
from infold.docmem.rows import Rows

NOTE_OF: Final = "note_of"  # the mark of a note: the id of the node that it is about


def note_beside(rows: Rows, node_id: str, text: str, *, name: str = "", value: str = "") -> Node:
    """A note as a sibling after a node, behind its earlier notes; that of a root is its last child.

    Raises NodeNotFound.
    """
    node = rows.get(node_id)
    last = next(reversed(beside(rows, node)), node)
    parent, order_value = parent_and_order(rows, after(last.id) if node.parent_id is not None else child_of(node.id))
    note = rows.add(parent, text, Context(NOTE, name, value), order_value)
    marks.mark(rows, note.id, NOTE_OF, node.id)
    return note


def notes_of(rows: Lookup, node_id: str) -> list[Node]:
    """The notes about a node, wherever they stand. Raises NodeNotFound."""
    rows.get(node_id)
    bound = [rows.get(note) for note in marks.marked_with(rows, NOTE_OF, node_id)]
    return sorted(bound, key=lambda note: (note.parent_id or "", note.order_value))


def beside(rows: Lookup, node: Node) -> list[Node]:
    """The notes about a node that are its siblings, in order."""
    bound = (rows.find(note) for note in marks.marked_with(rows, NOTE_OF, node.id))
    found = [note for note in bound if note is not None and note.parent_id == node.parent_id]
    return sorted(found, key=lambda note: note.order_value)
