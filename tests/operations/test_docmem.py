"""Memory trees as operations: every one of them asked for once, as a face would."""

from __future__ import annotations

import pytest

import infold
from infold.errors import LockConflict, NodeNotFound, UsageError
from infold.operations.table import find_operation

pytestmark = pytest.mark.usefixtures("nowhere")
CONTEXT = {"type": "memory", "name": "source", "value": "walk"}


@pytest.fixture
def ask(tmp_path):
    """Asks for an operation by JSON, and gives its answer as JSON."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Beds.md").write_text("# Beds\n\nTwo beds by the wall.\n\n## Peas\n\nPeas climb the wire.\n")
    changes = ["search.embedding=none"]
    with infold.open(tmp_path / "vault", state=tmp_path / "state", changes=changes) as vault:

        def asked(name, /, **request):
            operation = find_operation(name)
            return operation(vault, operation.request.from_json(request)).as_json()

        yield asked


@pytest.fixture
def tree(ask):
    """A tree of three memories; their ids."""
    ask("docmem_create", name="garden", context={"type": "root", "name": "purpose", "value": "project"})
    texts = ("The hedge is cut in June. @anna", "Lettuce bolts in July.", "Snails come after rain.")
    added = ask("docmem_append", parent="garden", nodes=[{"text": text, "context": CONTEXT} for text in texts])
    return [node["id"] for node in added["nodes"]]


def test_a_tree_is_read_in_every_way(ask, tree):
    """Roots, one node, the tree with depths, its outline, its document, what fits, by context, its root."""
    (root,) = ask("docmem_roots")["roots"]
    assert (root["id"], root["nodes"], root["readonly"]) == ("garden", 4, False)
    assert ask("docmem_get", node=tree[1])["node"]["text"] == "Lettuce bolts in July."
    assert ask("docmem_get", node="nobody") == {"node": None, "marks": {}}
    assert [node["depth"] for node in ask("docmem_tree", node="garden")["nodes"]] == [0, 1, 1, 1]
    assert len(ask("docmem_tree", node="garden", depth=0)["nodes"]) == 1
    assert ask("docmem_structure", node="garden")["structure"].count("\n") == 3
    assert ask("docmem_serialize", node="garden")["text"].startswith("The hedge")
    assert len(ask("docmem_expand", node="garden", tokens=8)["nodes"]) == 2
    assert [node["id"] for node in ask("docmem_find", type="memory", within="garden")["nodes"]] == tree
    assert ask("docmem_root", node=tree[2])["node"]["id"] == "garden"


def test_memory_is_searched(ask, tree):
    """By words, within a tree, and by tags; a query orders an expansion."""
    (found, *_) = ask("docmem_search", query="lettuce")["results"]
    assert (found["id"], found["root"], found["position"], found["siblings"]) == (tree[1], "garden", 2, 3)
    assert ask("docmem_search", query="lettuce", within=tree[0])["results"] == []
    assert [node["id"] for node in ask("docmem_tagged", tag="@anna")["nodes"]] == [tree[0]]
    expanded = ask("docmem_expand", node="garden", tokens=6, query="lettuce")["nodes"]
    assert tree[1] in [node["id"] for node in expanded]
    assert ask("docmem_index")["sent"] == 0


def test_nodes_are_changed_and_what_they_were_comes_back(ask, tree):
    """Text and context in one step, against the hash that was read; history; a version restored."""
    before = ask("docmem_get", node=tree[0])["node"]
    changed = ask("docmem_update", node=tree[0], text="The hedge is cut in May.", context={**CONTEXT, "value": "call"})
    assert (changed["node"]["text"], changed["node"]["contextValue"]) == ("The hedge is cut in May.", "call")
    with pytest.raises(LockConflict):
        ask("docmem_update", node=tree[0], text="Other.", hash=before["hash"])
    with pytest.raises(UsageError):
        ask("docmem_update", node=tree[0])
    assert [version["operation"] for version in ask("docmem_history", node=tree[0])["versions"]] == [
        "content",
        "context",
    ]
    back = ask("docmem_restore", node=tree[0], version=1)
    assert back["node"]["text"] == before["text"]


def test_nodes_are_moved_copied_noted_and_marked(ask, tree):
    """One place exactly; a note stands behind its node; a flag is set and taken away."""
    assert ask("docmem_move", node=tree[2], before=tree[0])["node"]["id"] == tree[2]
    assert ask("docmem_insert", text="Rain.", context=CONTEXT, after=tree[2])["node"]["parentId"] == "garden"
    with pytest.raises(UsageError):
        ask("docmem_move", node=tree[2], before=tree[0], after=tree[1])
    assert ask("docmem_copy", node=tree[0], to="garden")["node"]["id"] != tree[0]
    assert ask("docmem_note", node=tree[0], text="By hand.")["node"]["contextType"] == "note"
    assert ask("docmem_mark", node=tree[0], name="priority", value="3")["marks"] == {"priority": "3"}
    assert ask("docmem_mark", node=tree[0], name="priority", value=None)["marks"] == {}


def test_nodes_are_deleted_brought_back_and_forgotten(ask, tree):
    """A deletion can be taken back until the node is forgotten for good."""
    assert ask("docmem_delete", node=tree[0])["deleted"] == 1
    assert ask("docmem_restore", node=tree[0])["node"]["id"] == tree[0]
    ask("docmem_forget", node=tree[0])
    with pytest.raises(NodeNotFound):
        ask("docmem_restore", node=tree[0])


def test_memories_are_folded_and_unfolded(ask, tree):
    """By hand, and by the librarian where they have gathered; a dry run says what is due."""
    made = ask("docmem_summarize", nodes=tree[:2], text="Summer.", name="by", value="hand")["node"]
    assert made["contextType"] == "summary"
    assert [node["id"] for node in ask("docmem_unsummarize", node=made["id"])["nodes"]] == tree[:2]
    assert ask("docmem_condense", dryRun=True)["due"] == []
    assert ask("docmem_condense")["made"] == []


def test_documents_come_in_and_go_out(ask, tree):
    """A note of the vault once, a text, an export, the inbox; the store is whole."""
    assert ask("docmem_import", note="Beds.md")["new"]
    assert not ask("docmem_import", note="Beds.md")["new"]
    made = ask("docmem_import", text="# Tools\n\nA spade and a fork.\n", title="tools.md", to="garden")["node"]
    assert made["parentId"] == "garden"
    with pytest.raises(UsageError):
        ask("docmem_import", note="Beds.md", text="both")
    placed = ask("docmem_place", text="Lettuce bolts when July is hot; sow it again in August.", title="lettuce")
    assert placed["target"] is None or placed["target"]["id"]
    assert ask("docmem_export", node="garden", format="jsonl")["text"].count("\n") >= 3
    assert ask("docmem_to_inbox", node=tree[0])["paragraphs"] == 1
    assert not ask("docmem_to_inbox", node=tree[0])["sent"]
    checked = ask("docmem_check")
    assert (checked["problems"], checked["trees"]) == ([], 2)
