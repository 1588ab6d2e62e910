"""Siblings folded under a summary, and unfolded again (spec 2, Summarization; Visible Compression).

The words of a summary come from whoever calls; nothing here makes text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infold.docmem import order
from infold.docmem.lookup import check_lock
from infold.docmem.node import SUMMARY, Context, Node, checked_text
from infold.docmem.place import parent_of
from infold.docmem.rows import Rows
from infold.errors import NotASummary, NotSummarisable


def summarise(rows: Rows, expected: Mapping[str, str], text: str, context: Context) -> Node:
    """A summary in the place of neighbouring leaves, which become its children as they are. Gives the summary.

    `expected` has the hash of each node by its id, in any order. Raises NodeNotFound, LockConflict, NotSummarisable;
    NoParent for a root.
    """
    if context.type != SUMMARY:
        raise NotSummarisable(
            f"A summary's context type is {SUMMARY!r}, not {context.type!r}.",
            hint="It is what tells a summary from the memories below it.",
        )
    nodes = _leaves_in_a_row(rows, list(expected))
    for node in nodes:
        check_lock(node, expected[node.id])
    middle = order.middle(nodes[0].order_value, nodes[-1].order_value)
    summary = rows.add(nodes[0].parent_id, checked_text(text), context, middle)
    for node in nodes:
        rows.change(node, "summarise", place=(summary.id, node.order_value))
    return summary


def unsummarise(rows: Rows, summary_id: str, expected_hash: str) -> list[Node]:
    """The children of a summary back in its place, in their order; the summary itself goes. Gives the children.

    Raises NodeNotFound, LockConflict, NotASummary; NoParent for a root.
    """
    summary = rows.get_locked(summary_id, expected_hash)
    if not summary.is_summary:
        raise NotASummary(
            f"The memory node {summary_id!r} is no summary but {summary.context}.",
            hint="`infold docmem delete` removes a node with all below it, `move` takes one out.",
        )
    parent = parent_of(summary)
    children = list(rows.children(summary.id))
    orders = [child.order_value for child in children]
    if not _fit_beside(rows, summary, orders):
        orders = _renumbered(rows, parent, summary, len(children))
    back = [
        rows.change(child, "unsummarise", place=(parent, number))
        for child, number in zip(children, orders, strict=True)
    ]
    rows.remove([summary.id], rows.root_id(parent))
    return back


def _fit_beside(rows: Rows, summary: Node, orders: Sequence[float]) -> bool:
    """Whether these orders lie between the siblings of the summary: they do unless something was added or moved."""
    previous, following = rows.neighbour(summary, after=False), rows.neighbour(summary, after=True)
    return all(
        (previous is None or previous.order_value < number) and (following is None or number < following.order_value)
        for number in orders
    )


def _renumbered(rows: Rows, parent: str, summary: Node, count: int) -> list[float]:
    """Makes room for `count` nodes where the summary stands, and gives their orders."""
    siblings = list(rows.children(parent))
    position = [sibling.id for sibling in siblings].index(summary.id)
    behind = siblings[position + 1 :]
    rows.renumber(
        [
            *((node, number * order.STEP) for number, node in enumerate(siblings[:position], 1)),
            *((node, number * order.STEP) for number, node in enumerate(behind, position + count + 1)),
        ]
    )
    return [number * order.STEP for number in range(position + 1, position + count + 1)]


def _leaves_in_a_row(rows: Rows, node_ids: Sequence[str]) -> list[Node]:
    nodes = sorted((rows.get(node_id) for node_id in node_ids), key=lambda node: (node.order_value, node.id))
    if not nodes:
        raise NotSummarisable("There is nothing to summarise.", hint="Name the nodes that the summary stands for.")
    parent = parent_of(nodes[0])
    for node in nodes:
        if node.parent_id != parent:
            raise NotSummarisable(
                f"{node.id!r} and {nodes[0].id!r} have no parent in common.",
                hint="Summarise the children of one node at a time.",
            )
        if rows.has_children(node.id):
            raise NotSummarisable(
                f"The memory node {node.id!r} has children: only leaves can be summarised.",
                hint="Take back its own summary first, or leave it out of the range.",
            )
    within = rows.between(parent, nodes[0].order_value, nodes[-1].order_value)
    left_out = [node_id for node_id in within if node_id not in set(node_ids)]
    if left_out:
        raise NotSummarisable(
            f"{left_out[0]!r} stands between the nodes to be summarised but is none of them.",
            hint="Summarise a range without gaps.",
        )
    return nodes
