"""Expanding with priorities, relevance, groups and summaries (spec 2, Future Requirements / Expansion)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.docmem.budgeted_expansion import RESOLUTIONS
from infold.docmem.memory import open_docmem
from infold.docmem.node import expected_hashes
from tests.docmem.conftest import MEMORY, ROOT, SUMMARY


def names(nodes):
    return [node.text for node in nodes]


@pytest.fixture
def folded(memory, tree):
    """The tree whose a1 and a2 stand below a summary of the text `ab`, eight characters long."""
    children = memory.children(tree["a"].id)
    return memory.summarise(expected_hashes(children), "ab" * 4, SUMMARY)


def test_without_marks_it_is_the_specifications(memory, tree):
    """Expand to Length: with no marks, no question and summaries kept, the result is that of the three phases."""
    for budget in range(9):
        assert memory.expand("garden", budget) == memory.expand_to_length("garden", budget)


def test_a_priority_comes_first_with_what_is_above_it(memory, tree):
    """Future Requirements / Expansion: priority flags order the expansion; no node comes without its parent."""
    memory.mark(tree["a1"].id, "priority", "2")
    assert names(memory.expand("garden", 2)) == ["", "a", "a1"]
    memory.mark(tree["c"].id, "priority", "-1")
    assert names(memory.expand("garden", 4)) == ["", "a", "a1", "a2", "b"]


def test_a_low_priority_comes_last(memory, tree):
    """Future Requirements / Expansion: less than none is later than all others, and says nothing of its parent."""
    memory.mark(tree["a2"].id, "priority", "-1")
    assert names(memory.expand("garden", 6)) == ["", "a", "a1", "b", "c", "c1", "c11"]


def test_relevance_comes_after_priority_and_before_the_rest(memory, tree):
    """Future Requirements / Expansion: semantic prioritization; relevant nodes first, ancestors before descendants."""
    found = {tree["c11"].id: 0.9, tree["a2"].id: 0.5}
    assert names(memory.expand("garden", 3, relevance=found)) == ["", "c", "c1", "c11"]
    assert names(memory.expand("garden", 5, relevance=found)) == ["", "a", "a2", "c", "c1", "c11"]
    memory.mark(tree["b"].id, "priority", "1")
    assert names(memory.expand("garden", 1, relevance=found)) == ["", "b"]


def test_what_is_relevant_elsewhere_does_not_count(memory, tree):
    """Future Requirements / Expansion: a score of a node that is gone, or not below the start, changes nothing."""
    found = {"nowhere": 1.0, tree["b"].id: 1.0}
    assert memory.expand(tree["c"].id, 2, relevance=found) == memory.expand_to_length(tree["c"].id, 2)


def test_a_group_comes_whole_or_not_at_all(memory, tree):
    """Open Questions / Sticky Nodes: nodes that stick together are expanded together."""
    for name in ("a", "b", "c"):
        memory.mark(tree[name].id, "sticky", "trio")
    assert names(memory.expand("garden", 2)) == [""]
    assert names(memory.expand("garden", 3)) == ["", "a", "b", "c"]


def test_summaries_with_without_and_instead(memory, tree, folded):
    """Open Questions / Summary Behavior on Expansion: kept as headers, left out, or given for their children."""
    assert memory.serialise("garden").split("\n\n") == ["a", "abababab", "a1", "a2", "b", "c", "c1", "c11"]
    assert memory.serialise("garden", "without").split("\n\n") == ["a", "a1", "a2", "b", "c", "c1", "c11"]
    assert memory.serialise("garden", "instead").split("\n\n") == ["a", "abababab", "b", "c", "c1", "c11"]
    for mode in ("with", "without", "instead"):
        texts = [node.text for node in memory.expand("garden", 99, summaries=mode)[1:]]
        assert "\n\n".join(texts) == memory.serialise("garden", mode)


def test_a_summary_itself_is_opened_in_every_mode(memory, folded):
    """Open Questions / Summary Behavior on Expansion: what one starts from is shown as it is, with its children."""
    assert names(memory.expand(folded.id, 9, summaries="instead")) == ["abababab", "a1", "a2"]
    assert memory.serialise(folded.id, "instead") == "a1\n\na2"
    assert memory.serialise(folded.id, "without") == "a1\n\na2"


def test_a_summary_stands_for_children_that_do_not_fit(memory, tree, folded):
    """Future Requirements / Expansion: mixed resolution; children take a summary's place when all of them fit."""
    memory.update_content(tree["a1"].id, "a1" * 8, memory.get(tree["a1"].id).hash)
    assert names(memory.expand("garden", 7, summaries="mixed")) == ["", "a", "abababab", "b", "c", "c1", "c11"]
    assert names(memory.expand("garden", 10, summaries="mixed")) == ["", "a", "a1" * 8, "a2", "b", "c", "c1", "c11"]
    assert names(memory.expand("garden", 9, summaries="mixed")) == ["", "a", "abababab", "b", "c", "c1", "c11"]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000), size=st.integers(1, 40), budget=st.integers(0, 80), mode=st.sampled_from(RESOLUTIONS)
)
def test_no_budget_is_passed_and_no_node_is_an_orphan(tmp_path_factory, seed, size, budget, mode):
    """Expand to Length: for any tree, marks and scores: within the budget, in reading order, each with its parent.

    A group is whole or absent; where a summary is left out, something above the node is shown; twice gives the same.
    """
    memory = open_docmem(tmp_path_factory.mktemp("focus") / "docmem.sqlite")
    chance = random.Random(seed)
    with memory.batch():
        nodes = [memory.create_root("", ROOT)]
        for _ in range(size):
            context = SUMMARY if chance.random() < 0.3 else MEMORY
            nodes.append(memory.append(chance.choice(nodes).id, "x" * chance.randrange(36), context))
        for node in nodes[1:]:
            if chance.random() < 0.2:
                memory.mark(node.id, "priority", str(chance.randrange(-2, 3)))
            if chance.random() < 0.2:
                memory.mark(node.id, "sticky", str(chance.randrange(2)))
    relevance = {node.id: chance.random() for node in nodes if chance.random() < 0.3}
    found = memory.expand(nodes[0].id, budget, relevance=relevance, summaries=mode)
    assert found == memory.expand(nodes[0].id, budget, relevance=relevance, summaries=mode)
    ids = [node.id for node in found]
    shown = set(ids)
    assert sum(node.token_count for node in found) <= budget
    assert len(shown) == len(ids)
    assert ids == [node.id for node, _ in memory.subtree(nodes[0].id) if node.id in shown]
    by_id = {node.id: node for node in nodes}
    for node in found[1:]:
        above = by_id[node.parent_id]
        while mode in {"without", "mixed"} and above.is_summary and above.id not in shown:
            above = by_id[above.parent_id]
        assert above.id in shown
    if mode == "without":
        assert not any(node.is_summary for node in found[1:])
    sticky = memory.marked("sticky")
    for node in found if mode != "without" else ():
        group = [
            other.id
            for other in nodes
            if other.parent_id == node.parent_id and other.id in sticky and sticky[other.id] == sticky.get(node.id)
        ]
        assert all(other in shown or mode == "mixed" for other in group)
    memory.close()
