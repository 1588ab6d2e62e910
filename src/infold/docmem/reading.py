"""Trees read: as a document, as an outline, by their parts (spec 2, Serialization, Structure, Find, Get Root)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from infold.docmem import queries
from infold.docmem.focus import Summaries
from infold.docmem.lookup import node_of
from infold.docmem.node import Node
from infold.docmem.rows import Rows

_SEPARATOR: Final = "\n\n"


def serialise(rows: Rows, node_id: str, summaries: Summaries = "with") -> str:
    """The texts below a node in reading order, two line ends between them; empty ones are left out.

    Summaries stand over their children (`with`), are left out (`without`), or stand for them (`instead`). Raises
    NodeNotFound.
    """
    rows.get(node_id)
    texts = rows.texts(node_id) if summaries == "with" else _texts(rows, node_id, summaries)
    next(texts)  # the starting node itself
    return _SEPARATOR.join(text for text in texts if text and not text.isspace())


def structure(rows: Rows, node_id: str) -> str:
    """The nodes from this one down without their texts, a line each, two spaces of indent a level.

    Raises NodeNotFound.
    """
    rows.get(node_id)
    return "\n".join(f"{'  ' * depth}- {line}" for depth, line in rows.outline(node_id))


def with_context(rows: Rows, within: str | None, wanted: Sequence[str | None]) -> list[Node]:
    """The nodes whose type, name and value are those wanted, None being any (spec 2, Node Differentiation).

    From a node down in reading order, or in all trees, oldest first. Raises NodeNotFound.
    """
    if within is None:
        return [node_of(row) for row in rows.connection.execute(queries.OF_CONTEXT, wanted)]
    rows.get(within)
    return [
        node
        for node, _depth in rows.tree(within)
        if all(
            field is None or field == has
            for field, has in zip(wanted, (node.context_type, node.context_name, node.context_value), strict=True)
        )
    ]


def get_root(rows: Rows, node_id: str) -> Node:
    """The root of the tree of a node. Raises NodeNotFound where a node of the chain is missing."""
    return rows.get(rows.root_id(node_id))


def ancestors(rows: Rows, node_id: str) -> list[Node]:
    """The nodes above this one, its parent first, the root last. Raises NodeNotFound as `get_root` does."""
    return [rows.get(above) for above in rows.ancestor_ids(node_id)[1:]]


def _texts(rows: Rows, node_id: str, summaries: Summaries) -> Iterator[str]:
    """The texts in reading order, that of the starting node first, without summaries or without what they stand for."""
    folded: int | None = None  # the depth of the summary that stands for what is read now
    for node, depth in rows.tree(node_id):
        if folded is not None and depth > folded:
            continue
        folded = None
        is_summary = node.is_summary and depth > 0
        if is_summary and summaries == "instead":
            folded = depth
        if not (is_summary and summaries == "without"):
            yield node.text
