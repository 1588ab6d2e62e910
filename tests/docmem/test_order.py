"""Spec 2, Node Ordering."""

from __future__ import annotations

import contextlib

import pytest

from infold.docmem import maintenance, order
from infold.errors import OrderExhausted
from tests.docmem.conftest import MEMORY


def insertions(step, state):
    """How often `step` can be repeated before floating point runs out."""
    count = 0
    with contextlib.suppress(OrderExhausted):
        while True:
            state = step(state)
            count += 1
    return count


def test_between_two_nodes_it_is_20_to_80(memory, tree):
    """Node Ordering: weighted interpolation, 20 % of the target and 80 % of the adjacent sibling."""
    a, b = tree["a"], tree["b"]
    assert memory.insert_after(a.id, "x", MEMORY).order_value == pytest.approx(0.2 * 1 + 0.8 * 2)
    memory.delete(memory.children("garden")[1].id)
    assert memory.insert_before(b.id, "y", MEMORY).order_value == pytest.approx(0.2 * 2 + 0.8 * 1)


def test_at_the_ends_it_is_one_away(memory, tree):
    """Node Ordering: with no adjacent sibling the new order is offset by 1.0 from the target."""
    assert memory.insert_after(tree["c"].id, "x", MEMORY).order_value == 4.0
    assert memory.insert_before(tree["a"].id, "y", MEMORY).order_value == 0.0
    assert memory.insert_before(memory.children("garden")[0].id, "z", MEMORY).order_value == -1.0


def test_insertion_moves_no_sibling(memory, tree):
    """Node Ordering: decimal values allow insertion without reindexing."""
    memory.insert_after(tree["a"].id, "x", MEMORY)
    assert [memory.find(tree[name].id) for name in "abc"] == [tree[name] for name in "abc"]


def test_three_times_the_insertions_of_the_midpoint():
    """Node Ordering: approximately three times more sequential insertions than midpoint interpolation."""
    weighted = insertions(lambda last: order.beside(2.0, last, after=False), 1.0)
    midpoint = 52  # bits of a double between 1 and 2
    assert 2.8 < weighted / midpoint < 3.2
    assert weighted == 154  # the figures of docs/docmem.md
    assert insertions(lambda last: order.beside(1.0, last, after=True), 2.0) == 158
    assert insertions(lambda last: order.beside(last, 2.0, after=True), 1.0) == 22
    assert insertions(lambda last: order.beside(last, 1.0, after=False), 2.0) == 23


@pytest.mark.parametrize("pattern", ["before fixed", "after fixed", "after previous", "before previous"])
def test_insertion_never_ends(memory, tree, texts, pattern):
    """Node Ordering: where floating point runs out the siblings are numbered anew in the same step, and it is counted."""
    side, kind = pattern.split()
    insert = memory.insert_after if side == "after" else memory.insert_before
    target = tree["b"].id
    written = []
    for number in range(400):
        node = insert(target, str(number), MEMORY)
        written.append(node.text)
        target = node.id if kind == "previous" else target
    between = written if (side == "after") == (kind == "previous") else written[::-1]
    assert texts("garden") == (["a", "b", *between, "c"] if side == "after" else ["a", *between, "b", "c"])
    assert maintenance.facts(memory.store).rebalances >= 2
    assert maintenance.problems(memory.store) == []


def test_append_behind_the_largest_order(memory, tree, texts, writer_connection):
    """Node Ordering: an order so large that one more makes no difference is numbered anew as well."""
    writer_connection.execute("UPDATE nodes SET order_value = 9007199254740992.0 WHERE id = ?", (tree["c"].id,))
    memory.append("garden", "d", MEMORY)
    assert texts("garden") == ["a", "b", "c", "d"]
    assert [node.order_value for node in memory.children("garden")] == [1.0, 2.0, 3.0, 4.0]
