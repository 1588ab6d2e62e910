"""Spec 2, Operations / Expand to Length."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.docmem.memory import open_docmem
from infold.errors import NodeNotFound
from tests.docmem.conftest import MEMORY, ROOT


def names(nodes):
    return [node.text for node in nodes]


def test_all_of_it_where_it_fits(memory, tree):
    """Expand to Length, Phase 3: preorder from the starting node, which is included."""
    assert names(memory.expand_to_length("garden", 7)) == ["", "a", "a1", "a2", "b", "c", "c1", "c11"]
    assert names(memory.expand_to_length(tree["c"].id, 100)) == ["c", "c1", "c11"]


@pytest.mark.parametrize(
    "budget, included",
    [
        (0, [""]),
        (1, ["", "c"]),
        (2, ["", "b", "c"]),
        (3, ["", "a", "b", "c"]),
        (4, ["", "a", "b", "c", "c1"]),
        (5, ["", "a", "a2", "b", "c", "c1"]),
        (6, ["", "a", "a1", "a2", "b", "c", "c1"]),
        (7, ["", "a", "a1", "a2", "b", "c", "c1", "c11"]),
    ],
)
def test_levels_from_above_each_from_its_last_node(memory, tree, budget, included):
    """Expand to Length, Phase 1: level by level, the last children first; parents always before their children."""
    assert names(memory.expand_to_length("garden", budget)) == included


def test_the_first_that_does_not_fit_ends_it(memory, tree):
    """Expand to Length, Phase 2: no holes; a shorter node behind one that does not fit is not let in."""
    memory.update_content(tree["b"].id, "b" * 400, tree["b"].hash)
    assert names(memory.expand_to_length("garden", 90)) == ["", "c"]


def test_a_start_that_does_not_fit(memory, tree):
    """Expand to Length, Phase 2: where the starting node itself does not fit, nothing does."""
    memory.update_content(tree["c"].id, "c" * 40, tree["c"].hash)
    assert memory.expand_to_length(tree["c"].id, 9) == []
    assert memory.expand_to_length("garden", -1) == []


def test_expanding_what_is_not_there(memory, tree):
    """Expand to Length: a starting node that is not there is an error."""
    with pytest.raises(NodeNotFound):
        memory.expand_to_length("nowhere", 10)


@settings(max_examples=40, deadline=None)
@given(
    parents=st.lists(st.integers(0, 30), max_size=30),
    lengths=st.lists(st.integers(0, 9), min_size=31, max_size=31),
    budget=st.integers(0, 60),
)
def test_as_the_specification_has_it(tmp_path_factory, parents, lengths, budget):
    """Expand to Length: equal to the three phases written down plainly, for any tree and budget; no orphans."""
    memory = open_docmem(tmp_path_factory.mktemp("expand") / "docmem.sqlite")
    with memory.batch():
        nodes = [memory.create_root("", ROOT)]
        for number, parent in enumerate(parents):
            nodes.append(memory.append(nodes[parent % len(nodes)].id, "x" * (4 * lengths[number]), MEMORY))
    below = {node.id: memory.children(node.id) for node in nodes}
    priority, level = [], [nodes[0]]
    while level:
        priority += level[::-1]
        level = [child for node in level for child in below[node.id]]
    included, total = set(), 0
    for node in priority:
        if total + node.token_count > budget:
            break
        total += node.token_count
        included.add(node.id)

    def render(node):
        return (
            [] if node.id not in included else [node, *(found for child in below[node.id] for found in render(child))]
        )

    assert memory.expand_to_length(nodes[0].id, budget) == render(nodes[0])
    assert all(node.parent_id in included for node in render(nodes[0])[1:])
    memory.close()
