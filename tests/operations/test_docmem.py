"""Memory trees as operations: every one of them asked for once, as a face would."""

from __future__ import annotations

import pytest

import infold
from infold.errors import LockConflict, NodeNotFound, UsageError
from infold.operations.table import find_operation, operations

pytestmark = pytest.mark.usefixtures("nowhere")
CONTEXT = {"contextType": "memory", "contextName": "source", "contextValue": "walk"}
FEW = (
    "docmem.summarise_after=6",
    "docmem.summarise_run=2",
    "docmem.keep_recent=1",
    "summary.summary_target_words=[2, 4]",
)


@pytest.fixture
def ask(tmp_path):
    """Asks for an operation by JSON, and gives its answer as JSON."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Beds.md").write_text("# Beds\n\nTwo beds by the wall.\n\n## Peas\n\nPeas climb the wire.\n")
    changes = ["search.embedding=none", *FEW]
    with infold.open(tmp_path / "vault", state=tmp_path / "state", changes=changes) as vault:

        def asked(name, /, **request):
            operation = find_operation(name)
            return operation(vault, operation.request.from_json(request)).as_json()

        yield asked


@pytest.fixture
def tree(ask):
    """A tree of three memories; their ids."""
    root = {"contextType": "root", "contextName": "purpose", "contextValue": "project"}
    ask("docmem_create", root="garden", **root)
    texts = ("The hedge is cut in June. @anna", "Lettuce bolts in July.", "Snails come after rain.")
    added = ask("docmem_append_all", parent="garden", nodes=[{"text": text, **CONTEXT} for text in texts])
    return [node["id"] for node in added["nodes"]]


def present(ask, node):
    """The beginning of a node's present hash, as it is shown."""
    return ask("docmem_find", node=node)["node"]["hash"][:12]


def test_the_operations_of_the_specification_are_there():
    """Spec 2, Operations, by its names."""
    names = (
        "import serialize expand_to_length summarize append insert_before insert_after delete update_content "
        "update_context copy move structure find get_root"
    )
    assert {f"docmem_{name}" for name in names.split()} <= operations().keys()


def test_a_tree_is_read_in_every_way(ask, tree):
    """Roots, one node, the tree with depths, its outline, its document, what fits, by context, its root."""
    (found,) = ask("docmem_roots")["trees"]
    assert (found["root"]["id"], found["nodes"]) == ("garden", 4)
    assert ask("docmem_find", node=tree[1])["node"]["text"] == "Lettuce bolts in July."
    assert ask("docmem_find", node="nobody")["node"] is None
    assert [node["depth"] for node in ask("docmem_show", node="garden")["nodes"]] == [0, 1, 1, 1]
    assert len(ask("docmem_show", node="garden", depth=0)["nodes"]) == 1
    assert ask("docmem_structure", node="garden")["structure"].count("\n") == 3
    assert ask("docmem_serialize", node="garden")["text"].startswith("The hedge")
    fits = ask("docmem_expand_to_length", node="garden", budgetTokens=8)["nodes"]
    assert [(node["depth"], node["id"]) for node in fits] == [(0, "garden"), (1, tree[2])]
    assert {node["id"] for node in ask("docmem_nodes", contextType="memory")["nodes"]} == set(tree)
    assert ask("docmem_get_root", node=tree[2])["id"] == "garden"


def test_memory_is_searched(ask, tree):
    """By words, within a tree, and by tags; a query orders an expansion."""
    (found, *_) = ask("docmem_search", query="lettuce")["results"]
    assert (found["id"], found["root"], found["position"], found["siblings"]) == (tree[1], "garden", 2, 3)
    assert [above["id"] for above in found["above"]] == ["garden"]
    assert ask("docmem_search", query="lettuce", within=tree[0])["results"] == []
    assert [node["id"] for node in ask("docmem_tags", tag="@anna")["nodes"]] == [tree[0]]
    expanded = ask("docmem_expand_to_length", node="garden", budgetTokens=6, query="lettuce")["nodes"]
    assert tree[1] in [node["id"] for node in expanded]
    assert (ask("docmem_index")["sent"], ask("docmem_index")["waiting"]) == (0, 0)


def test_nodes_are_changed_and_what_they_were_comes_back(ask, tree):
    """A change names the hash that was read; its history is listed, a version comes back."""
    before = present(ask, tree[0])
    changed = ask("docmem_update_content", node=tree[0], text="The hedge is cut in May.", expectedHash=before)
    with pytest.raises(LockConflict):
        ask("docmem_update_content", node=tree[0], text="Other.", expectedHash=before)
    again = {**CONTEXT, "contextValue": "call"}
    assert ask("docmem_update_context", node=tree[0], expectedHash=changed["hash"], **again)["contextValue"] == "call"
    versions = ask("docmem_history", node=tree[0])["versions"]
    assert [version["operation"] for version in versions] == ["content", "context"]
    back = ask("docmem_restore_version", node=tree[0], version=1, expectedHash=present(ask, tree[0]))
    assert back["text"] == "The hedge is cut in June. @anna"


def test_nodes_are_moved_copied_noted_and_marked(ask, tree):
    """A place is a side of a target; a note stands behind its node and is found with it; a flag is set and taken away."""
    moved = ask("docmem_move", node=tree[2], side="before", target=tree[0], expectedHash=present(ask, tree[2]))
    assert moved["id"] == tree[2]
    assert ask("docmem_insert_after", target=tree[2], text="Rain.", **CONTEXT)["parentId"] == "garden"
    assert ask("docmem_insert_before", target=tree[2], text="Sun.", **CONTEXT)["parentId"] == "garden"
    assert ask("docmem_copy", node=tree[0], side="child", target="garden")["id"] != tree[0]
    note = ask("docmem_note", node=tree[0], text="By hand.")
    assert ask("docmem_find", node=tree[0])["notes"] == [note]
    assert ask("docmem_mark", node=tree[0], name="priority", value="3")["marks"] == {"priority": "3"}
    assert ask("docmem_unmark", node=tree[0], name="priority")["marks"] == {}


def test_nodes_are_deleted_and_brought_back(ask, tree):
    """A deletion is listed and taken back; not where it was for good."""
    assert ask("docmem_delete", node=tree[0], expectedHash=present(ask, tree[0]))["deleted"] == 1
    (gone,) = ask("docmem_deleted", tree="garden")["deleted"]
    assert (gone["node"], gone["nodes"]) == (tree[0], 1)
    assert ask("docmem_restore_deleted", node=tree[0])["id"] == tree[0]
    ask("docmem_delete", node=tree[0], expectedHash=present(ask, tree[0]), forGood=True)
    with pytest.raises(NodeNotFound):
        ask("docmem_restore_deleted", node=tree[0])


def test_memories_are_folded_and_unfolded(ask, tree):
    """By hand and back; by itself where they have gathered: the answer has the new hashes of what was folded."""
    hashes = [{"id": node, "hash": present(ask, node)} for node in tree[:2]]
    context = {"contextType": "summary", "contextName": "by", "contextValue": "hand"}
    made = ask("docmem_summarize", expectedHashes=hashes, text="Summer.", **context)
    back = ask("docmem_unsummarize", node=made["id"], expectedHash=made["hash"])["nodes"]
    assert [node["id"] for node in back] == tree[:2]
    assert ask("docmem_condense", dryRun=True)["due"] == []
    rest = [
        ask("docmem_append", parent="garden", text=f"Frost came on night {number}.", **CONTEXT) for number in range(6)
    ]
    summary, *_ = [summary for added in rest for summary in added["summaries"]]
    for folded in summary["nodes"]:
        assert ask("docmem_find", node=folded["id"])["node"]["hash"] == folded["hash"]
    due = ask("docmem_condense", dryRun=True)["due"]
    assert len(ask("docmem_condense")["made"]) == len(due)


def test_documents_come_in_and_go_out(ask, tree, tmp_path):
    """A note of the vault that changes, a text, an export, the inbox; the store is whole, and backed up."""
    assert ask("docmem_import", source="Beds.md")["new"]
    assert not ask("docmem_import", source="Beds.md")["new"]
    (tmp_path / "vault" / "Beds.md").write_text(
        "# Beds\n\nThree beds by the wall.\n\n## Peas\n\nPeas climb the wire.\n"
    )
    done = ask("docmem_import", source="Beds.md")
    assert (done["new"], done["nodes"], done["removed"], done["kept"]) == (False, 1, 1, 3)
    text = "# Tools\n\nA spade and a fork.\n"
    made = ask("docmem_import_text", text=text, name="tools.md", target="garden")["node"]
    assert made["parentId"] == "garden"
    with pytest.raises(UsageError):
        ask("docmem_import_text", text=text, name="tools.md", target="garden", root="tools")
    placed = ask("docmem_place", text="Lettuce bolts when July is hot; sow it again in August.", name="lettuce")
    assert placed["imported"] is None
    assert ask("docmem_export", node="garden", form="jsonl")["text"].count("\n") >= 3
    assert ask("docmem_to_inbox", node=tree[0])["paragraphs"] == 1
    assert not ask("docmem_to_inbox", node=tree[0])["sent"]
    checked = ask("docmem_check")
    assert (checked["problems"], checked["trees"]) == ([], 2)
    assert ask("docmem_backup", file=str(tmp_path / "b.sqlite"))["file"] == str(tmp_path / "b.sqlite")
