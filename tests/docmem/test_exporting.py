"""Trees written out: as a document, as lines of JSON (TOML: test_toml_trees)."""

from __future__ import annotations

import json

import pytest

from infold.docmem.exporting import export_text, form_of
from infold.docmem.node import PROPERTIES
from infold.errors import NodeNotFound


def test_markdown_is_the_serialised_document(memory, tree):
    """Spec 2, Serialization: what is below the node, in reading order; nothing where there is nothing."""
    assert export_text(memory, "garden", "markdown") == memory.serialise("garden") + "\n"
    assert export_text(memory, tree["b"].id, "markdown") == ""


def test_json_has_every_property_a_node_a_line(memory, tree):
    """Spec 2, Required Properties, by their names; depth and marks beside them."""
    memory.mark(tree["a"].id, "priority", "2")
    lines = [json.loads(line) for line in export_text(memory, "garden", "jsonl").splitlines()]
    assert [line["text"] for line in lines] == ["", "a", "a1", "a2", "b", "c", "c1", "c11"]
    assert list(lines[0])[: len(PROPERTIES)] == list(PROPERTIES)
    assert (lines[1]["marks"], lines[7]["depth"]) == ({"priority": "2"}, 3)


@pytest.mark.parametrize("form", ["markdown", "toml", "jsonl"])
def test_there_must_be_a_node(memory, form):
    """No form of nothing."""
    with pytest.raises(NodeNotFound):
        export_text(memory, "nowhere", form)


def test_the_name_of_a_file_says_the_form():
    """By suffix, in any case; Markdown where it says nothing."""
    names = ["a.toml", "a.JSONL", "a.ndjson", "a.md", "a", ""]
    assert [form_of(name) for name in names] == ["toml", "jsonl", "jsonl", "markdown", "markdown", "markdown"]
