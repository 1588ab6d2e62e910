"""A store of memory trees, and a small tree in it."""

from __future__ import annotations

import pytest

from infold.docmem.memory import Docmem, open_docmem
from infold.docmem.node import Context

ROOT = Context("root", "purpose", "document")
MEMORY = Context("memory", "source", "walk")
SUMMARY = Context("summary", "by", "hand")


@pytest.fixture
def memory(tmp_path):
    opened = open_docmem(tmp_path / "docmem.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def tree(memory):
    """A tree by the texts of its nodes: root (a (a1 a2) b c (c1 (c11)))."""
    nodes = {"root": memory.create_root("", ROOT, root_id="garden")}
    for name, parent in (
        ("a", "root"),
        ("b", "root"),
        ("c", "root"),
        ("a1", "a"),
        ("a2", "a"),
        ("c1", "c"),
        ("c11", "c1"),
    ):
        nodes[name] = memory.append(nodes[parent].id, name, MEMORY)
    return nodes


@pytest.fixture
def texts(memory):
    """The texts of the children of a node."""
    return lambda node_id: [node.text for node in memory.children(node_id)]


@pytest.fixture
def writer_connection(memory) -> object:
    """The connection itself, to look at tables or to break them."""
    with memory.store.alone() as connection:
        return connection


def fresh(memory: Docmem, node_id: str) -> str:
    """The present hash of a node."""
    return memory.get(node_id).hash
