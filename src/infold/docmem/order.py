"""Where a node stands among its siblings: numbers, so that one can come between two without moving either.

Pure arithmetic (spec 2, Node Ordering). Numbers are floats, which run out: `docs/docmem.md` says after how many
insertions. Then OrderExhausted is raised, and `place` has the siblings numbered anew.
"""

from __future__ import annotations

from typing import Final

from infold.errors import OrderExhausted

FIRST: Final = 1.0
STEP: Final = 1.0
TARGET_WEIGHT: Final = 0.2
SIBLING_WEIGHT: Final = 0.8


def last(highest: float | None) -> float:
    """The order of a new last child: one more than the highest among its siblings, 1.0 where there are none."""
    return FIRST if highest is None else _moved(highest, STEP)


def beside(target: float, sibling: float | None, *, after: bool) -> float:
    """The order of a node right before or right after `target`, whose neighbour on that side is `sibling`.

    0.2 of the target's and 0.8 of the sibling's; 1.0 away from the target where there is no sibling. Raises
    OrderExhausted where no number is left between the two.
    """
    if sibling is None:
        return _moved(target, STEP if after else -STEP)
    order = TARGET_WEIGHT * target + SIBLING_WEIGHT * sibling
    if not min(target, sibling) < order < max(target, sibling):
        raise OrderExhausted(f"No number is left between the orders {target!r} and {sibling!r}.")
    return order


def middle(first: float, final: float) -> float:
    """The order of a summary: midway between the first and the last of what it stands for."""
    return first + (final - first) / 2


def _moved(order: float, by: float) -> float:
    moved = order + by
    if moved == order:
        raise OrderExhausted(f"No number is left one away from the order {order!r}.")
    return moved
