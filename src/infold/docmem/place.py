"""Where a node is put: as the last child of another, or right before or after one (spec 2, Insert, Copy, Move)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from infold.docmem import order
from infold.docmem.node import Node
from infold.docmem.rows import Rows
from infold.errors import ArgumentInvalid, NoParent, OrderExhausted

Side = Literal["child", "before", "after"]
SIDES: Final[tuple[Side, ...]] = get_args(Side)


@dataclass(frozen=True, slots=True)
class Place:
    """A position beside or below the node `target`."""

    side: Side
    target: str

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise ArgumentInvalid(f"side is {self.side!r}, which is none of {', '.join(SIDES)}.")
        if not isinstance(self.target, str):
            raise ArgumentInvalid(f"target is {repr(self.target)[:60]}, and no id.", hint="Give the node's id.")


def child_of(node_id: str) -> Place:
    """The place after all children of a node."""
    return Place("child", node_id)


def before(node_id: str) -> Place:
    """The place right before a node."""
    return Place("before", node_id)


def after(node_id: str) -> Place:
    """The place right after a node."""
    return Place("after", node_id)


def parent_and_order(rows: Rows, place: Place, *, moving: str | None = None) -> tuple[str, float]:
    """The parent and the order that a node has at `place`; `moving` is a node that leaves where it stands now.

    Where no number is left, the siblings are numbered anew first. Raises NodeNotFound or NoParent.
    """
    if place.side == "child":
        parent = rows.get(place.target).id
        return parent, _roomy(rows, parent, lambda: order.last(rows.highest_order(parent, without=moving)))
    parent = parent_of(rows.get(place.target))
    return parent, _roomy(rows, parent, lambda: _beside(rows, place, moving))


def parent_of(target: Node) -> str:
    """The parent of a node. Raises NoParent for a root."""
    if target.parent_id is None:
        raise NoParent(
            f"{target.id!r} is the root of its tree: nothing stands before or after it.",
            hint="Append below it instead, or name another node.",
        )
    return target.parent_id


def _beside(rows: Rows, place: Place, moving: str | None) -> float:
    target = rows.get(place.target)
    is_after = place.side == "after"
    sibling = rows.neighbour(target, after=is_after, without=moving)
    return order.beside(target.order_value, None if sibling is None else sibling.order_value, after=is_after)


def _roomy(rows: Rows, parent: str, find: Callable[[], float]) -> float:
    try:
        return find()
    except OrderExhausted:
        rows.renumber([(child, number * order.STEP) for number, child in enumerate(rows.children(parent), 1)])
        return find()
