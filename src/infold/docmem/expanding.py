"""What of a tree fits a budget of tokens: upper levels before lower, later nodes before earlier (spec 2, Expand).

Three phases, as the specification has them: who comes first, who is in, and in which order they are read. Nodes are
read level by level and no further than the budget goes, so that a large tree costs no more than a small one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from infold.docmem.lookup import Lookup
from infold.docmem.node import Node


def expand_to_length(rows: Lookup, node_id: str, budget_tokens: int) -> list[Node]:
    """The node and as much below it as `budget_tokens` allows, in preorder. Raises NodeNotFound."""
    included = within_budget(by_priority(rows, rows.get(node_id)), budget_tokens)
    return in_reading_order(included)


def by_priority(rows: Lookup, start: Node) -> Iterator[Node]:
    """Phase 1: level by level, each from its last node to its first; read as far as one iterates."""
    level = [start]
    yield start
    while level:
        below: list[Node] = []
        for parent in level:  # the last parent first, and of each the last child
            for child in rows.children(parent.id, newest_first=True):
                below.append(child)
                yield child
        level = below


def within_budget(nodes: Iterable[Node], budget_tokens: int) -> list[Node]:
    """Phase 2: nodes until the first that does not fit; none behind it is let in, however short."""
    included: list[Node] = []
    total = 0
    for node in nodes:
        total += node.token_count
        if total > budget_tokens:
            break
        included.append(node)
    return included


def in_reading_order(included: list[Node]) -> list[Node]:
    """Phase 3: the nodes in preorder; they come as phase 2 leaves them, the starting node first."""
    below: dict[str | None, list[Node]] = {}
    for node in included[1:]:
        below.setdefault(node.parent_id, []).append(node)
    rendered: list[Node] = []
    waiting = included[:1]
    while waiting:
        node = waiting.pop()
        rendered.append(node)
        waiting.extend(below.get(node.id, []))  # last child first, so that the first child is taken next
    return rendered
