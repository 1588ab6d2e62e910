"""Trees and nodes are made, changed and deleted (spec 2, Append, Insert, Update, Delete, Readonly Metadata)."""

from __future__ import annotations

from infold.docmem.ids import checked_root_id, free_id
from infold.docmem.lookup import check_lock
from infold.docmem.node import NOTE, Context, Node, checked_text
from infold.docmem.order import FIRST
from infold.docmem.place import Place, after, parent_and_order
from infold.docmem.rows import Rows
from infold.errors import NodeExists, NodeReadonly


def create_root(rows: Rows, text: str, context: Context, *, root_id: str | None, readonly: bool) -> Node:
    """The root of a new tree. Raises NodeIdInvalid, NodeExists."""
    if root_id is None:
        root_id = free_id(rows.has)
    else:
        root_id = checked_root_id(root_id)
        if rows.has(root_id):
            raise NodeExists(f"There is a memory node {root_id!r} already.", hint="Choose another name for the tree.")
    return rows.add(None, checked_text(text), context, FIRST, readonly=int(readonly), node_id=root_id)


def put(rows: Rows, place: Place, text: str, context: Context, *, readonly: bool) -> Node:
    """A new node at `place`. Raises NodeNotFound, NoParent."""
    parent, order_value = parent_and_order(rows, place)
    return rows.add(parent, checked_text(text), context, order_value, readonly=int(readonly))


def note_beside(rows: Rows, node_id: str, text: str, name: str, value: str) -> Node:
    """A note node as a sibling after a node, behind the notes that it has already."""
    target = rows.get(node_id)
    following = rows.neighbour(target, after=True)
    while following is not None and following.is_note:
        target, following = following, rows.neighbour(following, after=True)
    return put(rows, after(target.id), text, Context(NOTE, name, value), readonly=False)


def update_content(rows: Rows, node_id: str, text: str, expected_hash: str) -> Node:
    """The node with another text. Raises NodeNotFound, NodeReadonly, LockConflict."""
    node = writable(rows, node_id, expected_hash)
    return rows.change(node, "content", text=checked_text(text))


def update_context(rows: Rows, node_id: str, context: Context, expected_hash: str) -> Node:
    """The node with another context. Raises NodeNotFound, NodeReadonly, LockConflict."""
    node = writable(rows, node_id, expected_hash)
    return rows.change(node, "context", context=context)


def delete(rows: Rows, node_id: str, expected_hash: str | None) -> int:
    """Removes a node and all below it, children before parents. Gives how many went.

    Raises NodeNotFound; LockConflict where a hash is given that is not the node's.
    """
    node = rows.get(node_id)
    if expected_hash is not None:
        check_lock(node, expected_hash)
    root = rows.root_id(node_id)
    ids = rows.post_order(node_id)
    rows.remove(ids, root)
    return len(ids)


def writable(rows: Rows, node_id: str, expected_hash: str) -> Node:
    """The node, where its text and context may change. Raises NodeNotFound, NodeReadonly, LockConflict."""
    node = rows.get(node_id)
    if node.readonly:
        raise NodeReadonly(
            f"The memory node {node_id!r} is readonly: its text and context stay.",
            hint="Put a note beside it (`infold docmem note`).",
        )
    check_lock(node, expected_hash)
    return node
