"""Spec 2, Operations: Serialization, Structure, Find, Get Root of Node; Tree as Document."""

from __future__ import annotations

import pytest

from infold.docmem.node import Context
from infold.docmem.place import before
from infold.errors import NodeNotFound
from tests.docmem.conftest import MEMORY


def test_serialise_is_depth_first_in_order(memory, tree):
    """Operations / Serialization: depth-first, by order_value, joined by double newlines, without the starting node."""
    assert memory.serialise("garden") == "a\n\na1\n\na2\n\nb\n\nc\n\nc1\n\nc11"
    assert memory.serialise(tree["c"].id) == "c1\n\nc11"
    assert memory.serialise(tree["b"].id) == ""


def test_reading_order_follows_the_tree(memory, tree):
    """Tree as Document: the reading order is determined by traversal order, not by when a node was made."""
    memory.move(tree["c"].id, before(tree["a"].id), tree["c"].hash)
    memory.insert_before(tree["c1"].id, "new", MEMORY)
    assert memory.serialise("garden") == "c\n\nnew\n\nc1\n\nc11\n\na\n\na1\n\na2\n\nb"


def test_blank_texts_are_left_out_and_their_children_are_not(memory, tree):
    """Operations / Serialization: nodes with empty or whitespace-only text are excluded; texts are given unchanged."""
    memory.update_content(tree["c"].id, " \t\n\u00a0", tree["c"].hash)
    memory.update_content(tree["a"].id, "", tree["a"].hash)
    memory.update_content(tree["b"].id, "  b\n", tree["b"].hash)
    assert memory.serialise("garden") == "a1\n\na2\n\n  b\n\n\nc1\n\nc11"


def test_structure(memory, tree):
    """Operations / Structure: a dash, full metadata, two spaces a level, the start at depth 0, preorder, no text."""
    lines = memory.structure("garden").split("\n")
    order = ["root", "a", "a1", "a2", "b", "c", "c1", "c11"]
    depths = [0, 1, 2, 2, 1, 1, 2, 3]
    assert lines == [f"{'  ' * depth}- {memory.get(tree[name].id)}" for name, depth in zip(order, depths, strict=True)]
    a1 = tree["a1"]
    assert lines[2] == f"    - {a1.id} memory:source:walk {a1.updated_at}"
    assert memory.structure(tree["c1"].id).split("\n")[1].startswith(f"  - {tree['c11'].id} ")


def test_find(memory, tree):
    """Operations / Find: the full node by its id, or None."""
    assert memory.find(tree["c11"].id) == tree["c11"]
    assert memory.find("nowhere") is None


def test_get_root(memory, tree):
    """Operations / Get Root of Node: up the parent chain to the node whose parent_id is null."""
    assert memory.get_root(tree["c11"].id) == tree["root"]
    assert memory.get_root("garden") == tree["root"]
    assert [node.text for node in memory.ancestors(tree["c11"].id)] == ["c1", "c", ""]


def test_get_root_fails_on_a_broken_chain(memory, tree, writer_connection):
    """Operations / Get Root of Node: fails if any node in the chain is not found, and names it."""
    writer_connection.execute("DELETE FROM nodes WHERE id = ?", (tree["c"].id,))
    with pytest.raises(NodeNotFound, match=tree["c"].id):
        memory.get_root(tree["c11"].id)
    with pytest.raises(NodeNotFound, match="nowhere"):
        memory.get_root("nowhere")


def test_reading_what_is_not_there(memory, tree):
    """Operations: reading below a node that is not there is an error, not an empty document."""
    for operation in (
        memory.serialise,
        memory.structure,
        memory.children,
        memory.subtree,
        memory.ancestors,
        memory.get,
    ):
        with pytest.raises(NodeNotFound, match="nowhere"):
            operation("nowhere")


def test_deep_trees_are_read(memory, tree):
    """Tree as Document: serialization is accomplished through tree traversal: a chain of 3,000 nodes is no deeper than any other."""
    with memory.batch():
        node = tree["b"]
        for number in range(3000):
            node = memory.append(node.id, str(number), MEMORY)
    assert memory.serialise(tree["b"].id).count("\n\n") == 2999
    assert memory.get_root(node.id).id == "garden"
    assert memory.delete(tree["b"].id) == 3001


def test_nodes_by_their_context(memory, tree):
    """Node Differentiation: context metadata enables querying by purpose, source or role, and tells nodes apart."""
    note = memory.note_beside(tree["a1"].id, "n", name="by", value="owner")
    other = memory.create_root("", Context("root", "purpose", "book"))
    assert memory.with_context("note") == [note]
    assert {node.id for node in memory.with_context(context_name="purpose")} == {"garden", other.id}
    assert memory.with_context("root", "purpose", "book") == [other]
    assert memory.with_context("root", "purpose", "walk") == []
    assert memory.with_context(context_value="walk", within=tree["c"].id) == [tree["c"], tree["c1"], tree["c11"]]
    assert [node.text for node in memory.with_context(within=tree["a"].id)] == ["a", "a1", "n", "a2"]
    with pytest.raises(NodeNotFound):
        memory.with_context("note", within="nowhere")


def test_serialised_with_without_and_instead_of_summaries(memory, tree):
    """Open Questions / Summary Behavior on Expansion: modes that keep summaries, skip them, or stop at them."""
    inner = memory.summarise({tree["c11"].id: tree["c11"].hash}, "sum", Context("summary", "", ""))
    below = memory.append(tree["c11"].id, "below", MEMORY)
    assert memory.serialise(tree["c"].id) == "c1\n\nsum\n\nc11\n\nbelow"
    assert memory.serialise(tree["c"].id, "without") == "c1\n\nc11\n\nbelow"
    assert memory.serialise(tree["c"].id, "instead") == "c1\n\nsum"
    assert memory.serialise(inner.id, "instead") == f"c11\n\n{below.text}"
