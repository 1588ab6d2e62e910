"""Trees and nodes are made, changed and deleted (spec 2, Append, Insert, Update, Delete, Readonly Metadata)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infold.docmem import stale
from infold.docmem.ids import checked_root_id, free_id
from infold.docmem.lookup import check_lock
from infold.docmem.node import Context, Node
from infold.docmem.order import FIRST
from infold.docmem.place import Place, after, before, child_of, parent_and_order
from infold.docmem.rows import Rows
from infold.errors import NodeExists, NodeReadonly


@dataclass(frozen=True, slots=True)
class NewNode:
    """A node to be added."""

    text: str
    context: Context
    readonly: bool = False


def create_root(rows: Rows, text: str, context: Context, *, root_id: str | None = None, readonly: bool = False) -> Node:
    """The root of a new tree, with a name of one's own or a random id. Raises NodeIdInvalid, NodeExists."""
    if root_id is None:
        root_id = free_id(rows.has)
    else:
        root_id = checked_root_id(root_id)
        if rows.has(root_id):
            raise NodeExists(f"There is a memory node {root_id!r} already.", hint="Choose another name for the tree.")
    return rows.add(None, text, context, FIRST, readonly=int(readonly), node_id=root_id)


def append(rows: Rows, parent_id: str, text: str, context: Context, *, readonly: bool = False) -> Node:
    """A new last child of a node (spec 2, Append). Raises NodeNotFound."""
    return put(rows, child_of(parent_id), text, context, readonly=readonly)


def append_all(rows: Rows, parent_id: str, nodes: Sequence[NewNode]) -> list[Node]:
    """New last children of a node in their order: all of them, or none. Raises NodeNotFound."""
    return [append(rows, parent_id, node.text, node.context, readonly=node.readonly) for node in nodes]


def insert_before(rows: Rows, target_id: str, text: str, context: Context, *, readonly: bool = False) -> Node:
    """A new sibling right before a node (spec 2, Insert). Raises NodeNotFound, NoParent."""
    return put(rows, before(target_id), text, context, readonly=readonly)


def insert_after(rows: Rows, target_id: str, text: str, context: Context, *, readonly: bool = False) -> Node:
    """A new sibling right after a node (spec 2, Insert). Raises NodeNotFound, NoParent."""
    return put(rows, after(target_id), text, context, readonly=readonly)


def put(rows: Rows, place: Place, text: str, context: Context, *, readonly: bool) -> Node:
    """A new node at `place`. Raises NodeNotFound, NoParent."""
    parent, order_value = parent_and_order(rows, place)
    return rows.add(parent, text, context, order_value, readonly=int(readonly))


def update_content(rows: Rows, node_id: str, text: str, expected_hash: str) -> Node:
    """The node with another text. Raises NodeNotFound, NodeReadonly, LockConflict."""
    node = writable(rows, node_id, expected_hash)
    changed = rows.change(node, "content", text=text)
    if node.is_summary and rows.has_children(node.id):
        stale.written_for_these(rows, changed)
    return changed


def update_context(rows: Rows, node_id: str, context: Context, expected_hash: str) -> Node:
    """The node with another context. Raises NodeNotFound, NodeReadonly, LockConflict."""
    node = writable(rows, node_id, expected_hash)
    return rows.change(node, "context", context=context)


def delete(rows: Rows, node_id: str, expected_hash: str | None = None, *, for_good: bool = False) -> int:
    """Removes a node and all below it, children before parents (spec 2, Delete). Gives how many went.

    Automatic summaries that said what is gone lose their words, until they are made again. `restore_deleted` brings
    nodes back, unless they go `for_good`: then nothing that they or those summaries were is kept. Raises NodeNotFound;
    LockConflict where a hash is given that is not the node's.
    """
    node = rows.get(node_id)
    if expected_hash is not None:
        check_lock(node, expected_hash, rows)
    ids = rows.post_order(node_id)
    deletion = rows.remove(ids, rows.root_id(node_id), "delete")
    for summary in stale.once_above(rows, ids):
        stale.withdraw(rows, summary, deletion)
    if for_good:
        stale.forget(rows, ids)
    return len(ids)


def writable(rows: Rows, node_id: str, expected_hash: str) -> Node:
    """The node, where its text and context may change. Raises NodeNotFound, NodeReadonly, LockConflict."""
    node = rows.get(node_id)
    if node.readonly:
        raise NodeReadonly(
            f"The memory node {node_id!r} is readonly: its text and context stay.",
            hint="Put a note beside it (`infold docmem note`).",
        )
    check_lock(node, expected_hash, rows)
    return node
