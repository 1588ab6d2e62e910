"""Trees read: as a document, as an outline, by their parts (spec 2, Serialization, Structure, Find, Get Root)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from infold.docmem import queries
from infold.docmem.budgeted_expansion import SummaryUse
from infold.docmem.lookup import Lookup, node_of
from infold.docmem.node import Node

_SEPARATOR: Final = "\n\n"


def serialise(rows: Lookup, node_id: str, summaries: SummaryUse = "with") -> str:
    """The texts below a node in reading order, two line ends between them; empty ones are left out.

    Summaries stand over their children (`with`), are left out (`without`), or stand for them (`instead`). Raises
    NodeNotFound.
    """
    rows.get(node_id)
    texts = rows.texts(node_id) if summaries == "with" else _texts(rows, node_id, summaries)
    next(texts)  # the starting node itself
    return _SEPARATOR.join(text for text in texts if text and not text.isspace())


def structure(rows: Lookup, node_id: str) -> str:
    """The nodes from this one down without their texts, a line each, two spaces of indent a level.

    Raises NodeNotFound.
    """
    rows.get(node_id)
    return "\n".join(f"{'  ' * depth}- {line}" for depth, line in rows.outline(node_id))


def with_context(
    rows: Lookup,
    context_type: str | None = None,
    context_name: str | None = None,
    context_value: str | None = None,
    *,
    within: str | None = None,
) -> list[Node]:
    """The nodes with these context fields, None being any (spec 2, Node Differentiation).

    From a node down in reading order, or in all trees, oldest first. Raises NodeNotFound.
    """
    wanted = (context_type, context_name, context_value)
    if within is None:
        return [node_of(row) for row in rows.connection.execute(queries.OF_CONTEXT, wanted)]
    return [
        node
        for node, _depth in subtree(rows, within)
        if all(
            field is None or field == has
            for field, has in zip(wanted, (node.context_type, node.context_name, node.context_value), strict=True)
        )
    ]


def roots(rows: Lookup) -> list[Node]:
    """The root of every tree, oldest first."""
    return list(rows.children(None))


def children(rows: Lookup, node_id: str) -> list[Node]:
    """The children of a node in order. Raises NodeNotFound."""
    return list(rows.children(rows.get(node_id).id))


def subtree(rows: Lookup, node_id: str) -> list[tuple[Node, int]]:
    """The node and all below it with their depths, in reading order. Raises NodeNotFound."""
    return list(rows.tree(rows.get(node_id).id))


def size(rows: Lookup, node_id: str) -> int:
    """How many nodes there are from a node down, itself included. Raises NodeNotFound."""
    return rows.size(rows.get(node_id).id)


def get_root(rows: Lookup, node_id: str) -> Node:
    """The root of the tree of a node. Raises NodeNotFound where a node of the chain is missing."""
    return rows.get(rows.root_id(node_id))


def ancestors(rows: Lookup, node_id: str) -> list[Node]:
    """The nodes above this one, its parent first, the root last. Raises NodeNotFound as `get_root` does."""
    return [rows.get(above) for above in rows.ancestor_ids(node_id)[1:]]


def _texts(rows: Lookup, node_id: str, summaries: SummaryUse) -> Iterator[str]:
    """The texts in reading order, that of the starting node first, without summaries or without what they stand for."""
    folded: int | None = None  # the depth of the summary that stands for what is read now
    for node, depth in rows.tree(node_id):
        if folded is not None and depth > folded:
            continue
        folded = None
        is_summary = node.is_summary and depth > 0 and bool(node.text.strip())  # without words it stands for nothing
        if is_summary and summaries == "instead":
            folded = depth
        if not (is_summary and summaries == "without"):
            yield node.text
