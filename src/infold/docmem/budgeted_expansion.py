"""What of a tree fits a budget when not all nodes count alike: relevance, priorities, groups, summaries (spec 2).

The rules of `expanding` hold: a parent comes before its children, and the first that does not fit ends it. Without
marks and without a question the result is the specification's. On top of that:

- *priority* marks: higher numbers come first, and so does what stands above them; without a mark it is 0.
- *relevance*: among nodes of one priority those that answer a question come first, and what stands above them.
- *sticky* marks: children of one parent with the same value come together or not at all.
- *summaries*: `with` keeps them as headers over their children; `without` leaves them out and gives their children;
  `instead` gives them in place of their children; `mixed` puts all children in a summary's place where all of them fit,
  best first, and leaves the summary where they do not: it stands for them, so that the others go on.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal, get_args

from infold.docmem import marks
from infold.docmem.lookup import Lookup
from infold.docmem.node import Node

SummaryUse = Literal["with", "without", "instead"]
Resolution = Literal["with", "without", "instead", "mixed"]
RESOLUTIONS: Final[tuple[Resolution, ...]] = get_args(Resolution)
PRIORITY: Final = "priority"
STICKY: Final = "sticky"

_Weight = tuple[float, float]  # priority, relevance: more is earlier
_Key = tuple[float, float, int, int, int]


def expand(
    rows: Lookup,
    node_id: str,
    budget_tokens: int,
    *,
    relevance: Mapping[str, float] | None = None,
    summaries: Resolution = "with",
) -> list[Node]:
    """The node and what below it fits `budget_tokens`, in reading order; never more tokens. Raises NodeNotFound.

    The starting node is given as it is, also where it is a summary.
    """
    start = rows.get(node_id)
    if start.token_count > budget_tokens:
        return []
    expansion = _Expansion(rows, start, budget_tokens - start.token_count, summaries, relevance or {})
    expansion.run()
    return expansion.rendered()


@dataclass(slots=True)
class _Unit:
    """What comes together or not at all, and the rest of the children that it was taken from."""

    nodes: list[Node]
    rest: Iterator[list[Node]] | None = None
    swapped: Node | None = None  # the summary that the nodes take the place of


class _Expansion:
    """One expansion while it runs."""

    def __init__(
        self, rows: Lookup, start: Node, left: int, summaries: Resolution, relevance: Mapping[str, float]
    ) -> None:
        self._rows, self._start, self._left, self._summaries = rows, start, left, summaries
        self._weights, self._weighed = _weights(rows, start.id, relevance)
        self._group_of = marks.marked(rows, STICKY)
        self._members: dict[str, list[str]] = {}
        for member, group in self._group_of.items():
            self._members.setdefault(group, []).append(member)
        self._queue: list[tuple[_Key, int, _Unit]] = []
        self._number = count()
        self._included: dict[str, Node] = {start.id: start}
        self._hidden: set[str] = set()

    def run(self) -> None:
        """Lets in unit after unit until one does not fit."""
        self._open(self._start, depth=1)
        is_full = False
        while self._queue:
            key, _, unit = heapq.heappop(self._queue)
            if unit.swapped is not None:
                self._swap(unit, key)
                continue
            if is_full or not self._take(unit.nodes):
                if self._summaries != "mixed":
                    return
                is_full = True
                continue
            self._push_next(unit.rest, key)
            for node in unit.nodes:
                self._open(node, key[2] + 1)

    def rendered(self) -> list[Node]:
        """What was let in, in reading order."""
        below: dict[str | None, list[Node]] = {}
        for node in self._included.values():
            if node.id != self._start.id:
                below.setdefault(node.parent_id, []).append(node)
        found: list[Node] = []
        waiting = [self._start]
        while waiting:
            node = waiting.pop()
            if node.id not in self._hidden:
                found.append(node)
            children = below.get(node.id, [])
            waiting.extend(sorted(children, key=lambda child: (child.order_value, child.id), reverse=True))
        return found

    def _open(self, node: Node, depth: int) -> None:
        """Puts the children of a node that was let in into the queue."""
        is_summary = node.is_summary and node.id != self._start.id and bool(node.text.strip())
        if is_summary and self._summaries == "instead":
            return
        if is_summary and self._summaries == "mixed":
            self._queue_swap(node, depth)
            return
        weighed = self._weighed.get(node.id, [])
        rank = next(self._number)
        early = [child for child in (self._rows.find(child_id) for child_id in weighed) if child is not None]
        taken: set[str] = set()
        for child in sorted(early, key=lambda child: (child.order_value, child.id), reverse=True):
            if child.id not in taken:
                unit = self._with_group(child)
                taken.update(member.id for member in unit)
                weight = max(self._weights.get(member.id, (0.0, 0.0)) for member in unit)
                self._push(_Unit(unit), (-weight[0], -weight[1], depth, rank, 0))
        self._push_next(self._in_turn(node, taken), (-0.0, -0.0, depth, rank, 0))

    def _in_turn(self, parent: Node, taken: set[str]) -> Iterator[list[Node]]:
        """The other children, newest first, those of one group together; read as far as one iterates."""
        for child in self._rows.children(parent.id, newest_first=True):
            if child.id not in taken:
                unit = self._with_group(child)
                taken.update(member.id for member in unit)
                yield unit

    def _with_group(self, node: Node) -> list[Node]:
        """A node and the siblings that it sticks to, newest first."""
        group = self._group_of.get(node.id)
        if group is None:
            return [node]
        others = (self._rows.find(other) for other in self._members[group])
        members = [other for other in others if other is not None and other.parent_id == node.parent_id]
        return sorted(members, key=lambda member: (member.order_value, member.id), reverse=True)

    def _push_next(self, rest: Iterator[list[Node]] | None, key: _Key) -> None:
        nodes = next(rest, None) if rest is not None else None
        if nodes is not None:
            self._push(_Unit(nodes, rest), (-0.0, -0.0, key[2], key[3], key[4] + 1))

    def _push(self, unit: _Unit, key: _Key) -> None:
        heapq.heappush(self._queue, (key, next(self._number), unit))

    def _take(self, nodes: list[Node]) -> bool:
        cost = sum(self._cost(node) for node in nodes)
        if cost > self._left:
            return False
        self._left -= cost
        for node in nodes:
            self._included[node.id] = node
            if self._is_left_out(node):
                self._hidden.add(node.id)
        return True

    def _is_left_out(self, node: Node) -> bool:
        return self._summaries == "without" and node.is_summary

    def _cost(self, node: Node) -> int:
        return 0 if self._is_left_out(node) else node.token_count

    def _queue_swap(self, summary: Node, depth: int) -> None:
        """Notes that all children of a summary may take its place; not where they cannot fit in any case."""
        room = self._left + summary.token_count
        children: list[Node] = []
        for child in self._rows.children(summary.id, newest_first=True):
            room -= child.token_count
            if room < 0:
                return
            children.append(child)
        if children:
            weight = max(self._weights.get(child.id, (0.0, 0.0)) for child in children)
            key = (-weight[0], -weight[1], depth, next(self._number), 0)
            self._push(_Unit(children, swapped=summary), key)

    def _swap(self, unit: _Unit, key: _Key) -> None:
        summary = unit.swapped
        cost = sum(node.token_count for node in unit.nodes) - (summary.token_count if summary else 0)
        if summary is None or cost > self._left:
            return
        self._left -= cost
        self._hidden.add(summary.id)
        for node in unit.nodes:
            self._included[node.id] = node
        for node in unit.nodes:
            self._open(node, key[2] + 1)


def _weights(
    rows: Lookup, start_id: str, relevance: Mapping[str, float]
) -> tuple[dict[str, _Weight], dict[str, list[str]]]:
    """Priority and relevance of each node that has any and of all above it, up to the start; and who is below whom."""
    own: dict[str, _Weight] = {
        node_id: (_number(value), 0.0) for node_id, value in marks.marked(rows, PRIORITY).items()
    }
    for node_id, score in relevance.items():
        own[node_id] = (own.get(node_id, (0.0, 0.0))[0], score)
    weights: dict[str, _Weight] = {}
    below: dict[str, list[str]] = {}
    for node_id, weight in sorted(own.items()):
        if not rows.has(node_id):
            continue
        chain = rows.ancestor_ids(node_id)
        if start_id not in chain:
            continue
        part = chain[: chain.index(start_id)]
        for child, parent in zip(part, chain[1:], strict=False):
            # What is above something unimportant is not unimportant itself.
            priority, score = weight if child == node_id else (max(weight[0], 0.0), weight[1])
            known = weights.get(child)
            if known is None:
                below.setdefault(parent, []).append(child)
                known = (priority, score)
            weights[child] = (max(known[0], priority), max(known[1], score))
    return weights, below


def _number(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        return 0.0
    return number if number == number else 0.0  # noqa: PLR0124 - what is no number equals nothing
