"""The pages of memory trees, by their forms: what a person without a script can do."""

from __future__ import annotations

import re
from itertools import chain

import pytest

import infold
from infold.operations import docmem, docmem_writing
from infold.operations.contract import Nothing
from infold.web.memory_pages import MemoryPages, branch_of

MEMORY = {"context_type": "memory", "context_name": "", "context_value": ""}


@pytest.fixture
def tree(vault):
    """A tree with three memories."""
    create = docmem_writing.DocmemCreateRequest(root="walks", text="Walks", **MEMORY | {"context_type": "root"})
    docmem_writing.docmem_create(vault, create)
    ask = docmem_writing.DocmemAppendRequest
    return [
        docmem_writing.docmem_append(vault, ask(parent="walks", text=text, **MEMORY)).id
        for text in ("Along the river.", "Over the hill.", "Through the wood.")
    ]


def shown(vault):
    """The nodes with their depths, in reading order."""
    nodes = docmem.docmem_show(vault, docmem.DocmemShowRequest(node="walks")).nodes
    return [(node.text, node.depth) for node in nodes]


@pytest.fixture
def change(client, vault):
    """Sends a form of the page of a node, with the hash that the page has."""

    async def sent(action: str, node: str, **fields: str):
        found = vault.docmem.find(node)
        known = {"hash": found.hash} if found else {}
        async with client() as http:
            return await http.post("/memory", data={"action": action, "root": "walks", "node": node, **known, **fields})

    return sent


async def test_a_tree_is_begun_and_opened(client, vault):
    """The form makes it, the page leads there, and shows its nodes with the metadata of spec 2."""
    async with client() as http:
        made = await http.post("/memory", data={"action": "create", "name": "walks", "text": "Walks"})
        page = await http.get(made.headers["location"])
    assert re.search(r"walks root:: \d{4}-\d\d-\d\dT", page.text)
    assert docmem.docmem_roots(vault, Nothing()).trees[0].root.id == "walks"


async def test_a_node_is_edited_and_goes_back(change, client, vault, tree):
    """The text changes, its past is on the page, and a version of it comes back."""
    assert (await change("edit", tree[0], text="Along the stream.")).status_code == 303
    assert vault.docmem.get(tree[0]).text == "Along the stream."
    async with client() as http:
        page = (await http.get(f"/memory?root=walks&node={tree[0]}")).text
    assert "Along the river." in page
    await change("version", tree[0], version=re.search(r'name="version" value="(\d+)"', page)[1])
    assert vault.docmem.get(tree[0]).text == "Along the river."


async def test_who_edits_what_changed_meanwhile_is_told_and_keeps_the_text(change, vault, tree):
    """The page says so with 409, the node stays as it is now, and what was typed is in the box."""
    before = vault.docmem.get(tree[0]).hash
    await change("edit", tree[0], text="First.")
    second = await change("edit", tree[0], text="Second.", hash=before)
    assert second.status_code == 409
    assert ">Second.</textarea>" in second.text
    assert vault.docmem.get(tree[0]).text == "First."


@pytest.mark.parametrize("side, place", [("child", 2), ("before", 1), ("after", 2)])
async def test_nodes_are_added_where_it_says(change, vault, tree, side, place):
    """Below, before and after the node."""
    await change("add", tree[0], new="New.", side=side)
    assert [text for text, _ in shown(vault)][place] == "New."
    assert dict(shown(vault))["New."] == (2 if side == "child" else 1)


async def test_nodes_move_and_are_copied(change, vault, tree):
    """Up, down, below another; a copy is one more."""
    await change("move", tree[0], side="after", target=tree[2])
    assert [text for text, _ in shown(vault)][-1] == "Along the river."
    await change("move", tree[0], side="child", target=tree[1])
    assert dict(shown(vault))["Along the river."] == 2
    await change("copy", tree[2], side="before", target=tree[1])
    assert [text for text, _ in shown(vault)].count("Through the wood.") == 2


async def test_what_is_deleted_comes_back(change, client, vault, tree):
    """The page after it has the button that undoes it, also later in the list of what was deleted."""
    gone = await change("delete", tree[1])
    assert "Over the hill." not in dict(shown(vault))
    async with client() as http:
        page = (await http.get(gone.headers["location"])).text
    assert f'name="node" value="{tree[1]}"' in page
    assert "Bring back" in page
    await change("restore", tree[1])
    assert [text for text, _ in shown(vault)] == ["Walks", "Along the river.", "Over the hill.", "Through the wood."]


async def test_neighbours_fold_below_a_summary_and_unfold(change, vault, tree):
    """From the node through another, in the page's order; unfolding gives back what was there."""
    before = shown(vault)
    following = " ".join(f"{node}={vault.docmem.get(node).hash}" for node in tree)
    await change(
        "fold", tree[0], new="By water and hill.", following=following, through=tree[1], context_type="summary"
    )
    assert [depth for _, depth in shown(vault)] == [0, 1, 2, 2, 1]
    assert [text for text, _ in shown(vault)][1] == "By water and hill."
    (summary,) = docmem.docmem_nodes(vault, docmem.DocmemNodesRequest(context_type="summary")).nodes
    await change("unfold", summary.id)
    assert shown(vault) == before


async def test_flags_and_context_are_set(change, vault, tree):
    """Priority and group are flags, and go when they are emptied; the context is three fields."""
    await change("mark", tree[0], priority="2", sticky="river")
    assert vault.docmem.marks_of(tree[0]) == {"priority": "2", "sticky": "river"}
    await change("mark", tree[0], priority="", sticky="river")
    assert vault.docmem.marks_of(tree[0]) == {"sticky": "river"}
    await change("context", tree[0], context_type="memory", context_name="by", context_value="Ada")
    assert str(vault.docmem.get(tree[0]).context) == "memory:by:Ada"


async def test_what_is_readonly_gets_a_note(change, client, vault):
    """An imported text cannot be edited on its page; a note beside it can be made."""
    async with client() as http:
        made = await http.post("/memory", data={"action": "import", "name": "beds.md", "text": "# Beds\n\nPeas."})
        page = (await http.get(made.headers["location"])).text
    root = re.search(r"root=([^&]+)&", made.headers["location"])[1]
    assert "Readonly" in page
    assert 'value="edit"' not in page
    peas = next(node for node, _ in vault.docmem.subtree(root) if node.text == "Peas.")
    await change("note", peas.id, new="And beans.")
    assert [note.text for note in vault.docmem.notes_of(peas.id)] == ["And beans."]


async def test_a_tree_is_searched_read_and_taken_along(client, tree):
    """A search within; the document in each mode, as far as the budget goes; TOML as a file."""
    async with client() as http:
        found = (await http.get("/memory?root=walks&q=hill")).text
        assert re.search(r"\d found", found)
        for mode in ("with", "without", "instead", "mixed"):
            page = (await http.get(f"/memory/document?node=walks&summaries={mode}&budget=8")).text
            assert "of 8 tokens" in page
            assert "Along the river." not in page
        file = await http.get("/memory/export?node=walks&form=toml")
    assert file.headers["content-disposition"] == 'attachment; filename="walks.toml"'
    assert "Over the hill." in file.text
    assert tree


async def test_a_wrong_change_is_told(change, tree):
    """One that there is none of, and one into the node itself."""
    assert (await change("explode", tree[0])).status_code == 400
    assert (await change("move", tree[0], side="child", target=tree[0])).status_code >= 400


def test_of_a_large_tree_the_upper_levels_are_shown(vault):
    """What is left out is counted where it would stand, and can be opened from there."""
    create = docmem_writing.DocmemCreateRequest(root="big", text="", **MEMORY)
    docmem_writing.docmem_create(vault, create)
    for part in range(3):
        made = docmem_writing.docmem_append(
            vault, docmem_writing.DocmemAppendRequest(parent="big", text=f"part {part}", **MEMORY)
        )
        many = tuple(docmem_writing.NodeToAdd(text=f"{part} {n}", **MEMORY) for n in range(5))
        docmem_writing.docmem_append_all(vault, docmem_writing.DocmemAppendAllRequest(parent=made.id, nodes=many))
    nodes = docmem.docmem_show(vault, docmem.DocmemShowRequest(node="big")).nodes
    top = branch_of(nodes, most=10)
    assert [(len(part.children), part.hidden) for part in top.children] == [(0, 5)] * 3
    whole = branch_of(nodes, most=100)
    assert [(len(part.children), part.hidden) for part in whole.children] == [(5, 0)] * 3


async def test_a_tree_with_very_many_nodes_right_below_is_shown_in_pages(folder, tmp_path):
    """Every node is on one page, with what is below it; the page of a node that is opened is the one it is on."""
    with infold.open(folder, state=tmp_path / "state", changes=["docmem.summarise=manual"]) as vault:
        docmem_writing.docmem_create(vault, docmem_writing.DocmemCreateRequest(root="wide", text="", **MEMORY))
        many = tuple(docmem_writing.NodeToAdd(text=f"bed {n}.", **MEMORY) for n in range(450))
        docmem_writing.docmem_append_all(vault, docmem_writing.DocmemAppendAllRequest(parent="wide", nodes=many))
        last = docmem.docmem_show(vault, docmem.DocmemShowRequest(node="wide")).nodes[-1]
        below = docmem_writing.DocmemAppendRequest(parent=last.id, text="the deep one.", **MEMORY)
        docmem_writing.docmem_append(vault, below)
        pages = MemoryPages(vault)
        shown = [await pages.memory({"root": "wide", "page": str(number)}) for number in (1, 2, 3)]
        opened = await pages.memory({"root": "wide", "node": last.id})
    texts = [bytes(page.body).decode() for page in shown]
    listed = [re.findall(r'class="says">(bed \d+)\.', text) for text in texts]
    assert [len(part) for part in listed] == [200, 200, 50]
    assert [*chain.from_iterable(listed)] == [f"bed {n}" for n in range(450)]
    assert ["the deep one." in text for text in texts] == [False, False, True]
    assert b"401 to 450 of 450" in opened.body
    assert b'aria-current="true"' in opened.body
