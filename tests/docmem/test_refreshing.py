"""A changed document brought up to date in its tree (spec 2, Import; Node Types: notes stay with what they are about)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.docmem.importing import import_file
from infold.docmem.maintenance import problems
from infold.docmem.memory import open_docmem
from infold.docmem.node import expected_hashes
from tests.docmem.conftest import MEMORY, SUMMARY

BEFORE = (
    "# Beds\n\nThe wall is old.\n\n- Sun until noon\n- Heavy soil\n\n## Tools\n\nA rake. A spade.\n\n# Rain\n\nNone.\n"
)
AFTER = (
    "# Beds\n\nNew first.\n\nThe wall is old.\n\n- Sun until noon\n- Light soil\n\n"
    "# Rain\n\n## Tools\n\nA rake. A hoe. A spade.\n\nNone.\n"
)


@pytest.fixture
def beds(memory, tmp_path):
    """Writes the document and imports it: gives what was done."""

    def beds(text):
        (tmp_path / "beds.md").write_text(text)
        return import_file(memory, tmp_path / "beds.md")

    return beds


def by_text(memory, root_id):
    """The nodes of a tree by their texts."""
    return {node.text: node for node, _ in memory.subtree(root_id)}


def test_what_is_the_same_stays(memory, beds):
    """Import: a document that changed is one tree still; equal texts keep ids, flags, notes and versions, and move along."""
    root = beds(BEFORE).node
    old = by_text(memory, root.id)
    memory.mark(old["A rake."].id, "priority", "2")
    note = memory.note_beside(old["The wall is old."].id, "It fell.")
    about_soil = memory.note_beside(old["- Heavy soil"].id, "Sandy below.")
    mine = memory.append(old["## Tools"].id, "A barrow, too.", MEMORY)
    done = beds(AFTER)
    new = by_text(memory, root.id)
    assert (done.node.id, done.is_new, done.nodes, done.removed, len(memory.roots())) == (root.id, False, 3, 1, 1)
    for text in (
        "# Beds",
        "The wall is old.",
        "- Sun until noon",
        "A rake.",
        "A spade.",
        "None.",
        "## Tools",
        "# Rain",
    ):
        assert new[text].id == old[text].id, text
    assert memory.marks_of(old["A rake."].id)["priority"] == "2"
    assert [found.id for found in memory.notes_of(old["The wall is old."].id)] == [note.id]
    assert memory.find(mine.id).text == "A barrow, too."
    assert memory.find(about_soil.id).text == "Sandy below."
    below = [node.text for node, _ in memory.subtree(root.id) if node.readonly and node.text]
    assert "\n\n".join(below) == AFTER.strip().replace(
        "A rake. A hoe. A spade.", "A rake.\n\nA hoe.\n\nA spade."
    ).replace("noon\n- L", "noon\n\n- L")
    assert [str(new[text].context) for text in ("The wall is old.", "None.")] == [
        "memory:paragraph:L5",
        "memory:paragraph:L16",
    ]
    assert memory.restore_deleted(old["- Heavy soil"].id).text == "- Heavy soil"
    assert problems(memory.store) == []


def test_summaries_stay_over_what_is_the_same(memory, beds):
    """Import; Summarization: what was folded stays folded; what is new among it comes below the summary, which is stale."""
    root = beds("One.\n\nTwo.\n\nThree.\n\nFour.\n").node
    folded = memory.summarise(expected_hashes(memory.children(root.id)[1:3]), "Two and three.", SUMMARY)
    beds("Zero.\n\nOne.\n\nTwo.\n\nTwo and a half.\n\nThree.\n\nFour.\n\nFive.\n")
    assert [node.text for node in memory.children(root.id)] == ["Zero.", "One.", "Two and three.", "Four.", "Five."]
    assert [node.text for node in memory.children(folded.id)] == ["Two.", "Two and a half.", "Three."]
    assert [node.id for node in memory.stale_summaries()] == [folded.id]


LINES = st.lists(
    st.sampled_from(["# A", "## B", "# C", "One. Two.", "Three.", "- x\n  - y", "- z", "```\nq\n```"]), max_size=9
)


@settings(max_examples=40, deadline=None)
@given(LINES, LINES, st.integers(0, 20))
def test_after_any_change_the_tree_is_that_of_the_document(first, second, where):
    """Import: whatever changed, the tree is as a new import of the document gives it, with what others added still in it."""
    with tempfile.TemporaryDirectory() as folder, open_docmem(Path(folder) / "d.sqlite") as memory:
        file = Path(folder) / "a.md"

        def imported(lines, **how):
            file.write_text("Start\n\n" + "\n\n".join(lines))
            return import_file(memory, file, **how).node

        root = imported(first)
        nodes = memory.subtree(root.id)
        mine = memory.note_beside(nodes[where % len(nodes)][0].id, "mine")
        imported(second)
        assert memory.find(mine.id) is not None
        memory.delete(mine.id)
        anew = imported(second, again=True)
        shown = [
            [(str(node.context), node.text, depth) for node, depth in memory.subtree(top.id)[1:]]
            for top in (root, anew)
        ]
        assert shown[0] == shown[1]
        assert problems(memory.store) == []
