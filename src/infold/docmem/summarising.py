"""Siblings folded under a summary, and unfolded again (spec 2, Summarization; Visible Compression).

The words of a summary come from whoever calls; nothing here makes text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infold.docmem import marks, notes, order, stale
from infold.docmem.budgeted_expansion import STICKY
from infold.docmem.lookup import Lookup, check_lock
from infold.docmem.node import SUMMARY, Context, Node, checked_text
from infold.docmem.place import parent_of
from infold.docmem.rows import Rows
from infold.errors import NotASummary, NotSummarisable


def summarise(rows: Rows, expected: Mapping[str, str], text: str, context: Context) -> Node:
    """A summary in the place of neighbouring leaves, which become its children as they are. Gives the summary.

    `expected` has the hash of each node by its id, in any order; notes beside them come along. Raises NodeNotFound,
    LockConflict, NotSummarisable; NoParent for a root.
    """
    if context.type != SUMMARY:
        raise NotSummarisable(
            f"A summary's context type is {SUMMARY!r}, not {context.type!r}.",
            hint="It is what tells a summary from the memories below it.",
        )
    nodes = _leaves_in_a_row(rows, list(expected))
    for node in nodes:
        check_lock(node, expected[node.id], rows)
    middle = order.middle(nodes[0].order_value, nodes[-1].order_value)
    noted = {note.id: note for node in nodes for note in notes.beside(rows, node) if note.id not in expected}
    summary = rows.add(nodes[0].parent_id, checked_text(text), context, middle)
    for node in (*nodes, *noted.values()):
        rows.change(node, "summarise", place=(summary.id, node.order_value))
    stale.written_for_these(rows, summary)
    return summary


def unsummarise(rows: Rows, summary_id: str, expected_hash: str) -> list[Node]:
    """The children of a summary back in its place, in their order; the summary itself goes. Gives the children.

    `restore_deleted` folds them again. Raises NodeNotFound, LockConflict, NotASummary; NoParent for a root.
    """
    summary = rows.get_locked(summary_id, expected_hash)
    if not summary.is_summary:
        raise NotASummary(
            f"The memory node {summary_id!r} is no summary but {summary.context}.",
            hint="`infold docmem delete` removes a node with all below it, `move` takes one out.",
        )
    parent = parent_of(summary)
    children = list(rows.children(summary.id))
    if not children:
        raise NotASummary(
            f"Nothing stands below {summary_id!r}: there is nothing that it could be taken from.",
            hint="`infold docmem delete` removes it.",
        )
    orders = [child.order_value for child in children]
    if not _fit_beside(rows, summary, orders):
        orders = _renumbered(rows, parent, summary, len(children))
    deletion = rows.next_deletion()
    back = [
        rows.change(child, "unsummarise", place=(parent, number), deletion=deletion)
        for child, number in zip(children, orders, strict=True)
    ]
    rows.remove([summary.id], rows.root_id(parent), "unsummarise", deletion)
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
    chosen = set(node_ids)
    _check_groups(rows, nodes, chosen)
    with_notes = chosen | {note.id for node in nodes for note in notes.beside(rows, node)}
    within = rows.between(parent, nodes[0].order_value, nodes[-1].order_value)
    left_out = [node_id for node_id in within if node_id not in with_notes]
    if left_out:
        raise NotSummarisable(
            f"{left_out[0]!r} stands between the nodes to be summarised but is none of them.",
            hint="Summarise a range without gaps.",
        )
    return nodes


def _check_groups(rows: Lookup, nodes: Sequence[Node], chosen: set[str]) -> None:
    """Raises NotSummarisable where one would be parted from a sibling that it sticks to."""
    for node in nodes:
        group = marks.marks_of(rows, node.id).get(STICKY)
        for other in marks.marked_with(rows, STICKY, group) if group is not None else ():
            sibling = rows.find(other)
            if other not in chosen and sibling is not None and sibling.parent_id == node.parent_id:
                raise NotSummarisable(
                    f"{node.id!r} sticks to {other!r} (group {group!r}), which is none of the nodes to be summarised.",
                    hint="Name it too, or `infold docmem unmark` one of them.",
                )
