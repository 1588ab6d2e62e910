"""A part of a tree in the inbox: as paragraphs, once, with a line that says where they are from."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from infold.docmem.importing import import_file
from infold.docmem.node import Context, expected_hashes
from infold.docmem.to_inbox import SENT, send_to_inbox
from infold.errors import ImportRefused, NodeNotFound, NoteUnreadable
from infold.inbox.paragraphs import number_paragraphs
from tests.docmem.conftest import MEMORY, ROOT, SUMMARY, fresh


@pytest.fixture
def inbox(workspace):
    """An inbox with something in it."""
    workspace.inbox.write_text("# Inbox\n\nAlready here.\n")
    return workspace.inbox


def test_texts_become_paragraphs_below_their_origin(memory, workspace, tree, inbox):
    """What was there stays byte for byte; the origin names tree, node and context, and is no paragraph itself."""
    before = inbox.read_text()
    sent = send_to_inbox(memory, workspace, tree["a"].id)
    text = inbox.read_text()
    assert text.startswith(before)
    added = text[len(before) :]
    assert re.fullmatch(
        rf"\n%% From the memory tree garden, node {tree['a'].id} memory:source:walk, \d{{4}}-\d\d-\d\d, "
        r"text [0-9a-f]{16} %%\n\na\n\na1\n\na2\n",
        added,
    )
    assert [found.paragraph.text for found in number_paragraphs(text)] == ["Already here.", "a", "a1", "a2"]
    assert (sent.paragraphs, sent.inbox, sent.is_new) == (3, "inbox.md", True)


def test_the_same_goes_once(memory, workspace, tree, inbox):
    """The same texts are recognised, by the store or by the inbox; changed ones, or `again`, go."""
    first = send_to_inbox(memory, workspace, tree["a"].id)
    text = inbox.read_text()
    second = send_to_inbox(memory, workspace, tree["a"].id)
    assert (second.is_new, second.paragraphs, second.day) == (False, 0, first.day)
    memory.unmark(tree["a"].id, SENT)
    assert not send_to_inbox(memory, workspace, tree["a"].id).is_new
    inbox.write_text("")
    assert send_to_inbox(memory, workspace, tree["a"].id).is_new
    assert not send_to_inbox(memory, workspace, tree["a"].id).is_new
    assert send_to_inbox(memory, workspace, tree["a"].id, again=True).is_new
    memory.update_content(tree["a1"].id, "a one", fresh(memory, tree["a1"].id))
    assert send_to_inbox(memory, workspace, tree["a"].id).is_new
    assert "Already here" in text


def test_what_was_said_goes_not_what_stands_for_it(memory, workspace, inbox, tmp_path):
    """Summaries over their memories, front matter, the name of the tree and empty nodes are left out."""
    root = memory.create_root("The garden", ROOT)
    nodes = [memory.append(root.id, text, MEMORY) for text in ("one", "two", " ")]
    memory.summarise(expected_hashes(nodes[:2]), "both", SUMMARY)
    memory.append(root.id, "alone", Context("summary", "by", "hand"))
    (tmp_path / "a.md").write_text("---\na: b\n---\n# Title\n\nprose\n")
    document = import_file(memory, tmp_path / "a.md").node
    send_to_inbox(memory, workspace, root.id)
    assert inbox.read_text().endswith("%%\n\none\n\ntwo\n\nalone\n")
    send_to_inbox(memory, workspace, document.id)
    assert inbox.read_text().endswith("%%\n\n# Title\n\nprose\n")


def test_an_inbox_keeps_its_line_ends(memory, workspace, tree):
    """CRLF stays CRLF, also in what is added; a missing last line end, a BOM and no inbox at all are no obstacle."""
    workspace.inbox.write_bytes("\ufeffFirst.\r\n- x".encode())
    send_to_inbox(memory, workspace, tree["b"].id)
    data = workspace.inbox.read_bytes()
    assert data.startswith("\ufeffFirst.\r\n- x\r\n\r\n%% From".encode())
    assert data.endswith(b"%%\r\n\r\nb\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    workspace.inbox.unlink()
    send_to_inbox(memory, workspace, tree["a2"].id)
    assert workspace.inbox.read_text().startswith("%% From the memory tree garden")


def test_an_inbox_outside_the_vault(memory, workspace, tree, tmp_path):
    """It is written where it lies, and nothing is left beside it."""
    outside = replace(workspace, inbox=tmp_path / "drop" / "in.md")
    send_to_inbox(memory, outside, tree["b"].id)
    send_to_inbox(memory, outside, tree["a1"].id)
    assert outside.inbox.read_text().count("%% From") == 2
    assert [file.name for file in outside.inbox.parent.iterdir()] == ["in.md"]


@pytest.mark.parametrize("open_end", ["```\ncode\n", "%% remark\n", "<!-- remark\n"])
def test_nothing_is_swallowed_by_what_is_open(memory, workspace, tree, open_end):
    """Where the inbox ends in a block that is never closed, nothing is written and the reason is said."""
    workspace.inbox.write_text(open_end)
    with pytest.raises(ImportRefused, match="never closed"):
        send_to_inbox(memory, workspace, tree["b"].id)
    assert workspace.inbox.read_text() == open_end
    assert SENT not in memory.marks_of(tree["b"].id)


def test_what_cannot_be_sent(memory, workspace, tree, inbox):
    """No node, no text, an inbox that is no text: said, and nothing changed."""
    with pytest.raises(NodeNotFound):
        send_to_inbox(memory, workspace, "nowhere")
    empty = memory.append("garden", "", MEMORY)
    with pytest.raises(ImportRefused, match="no text"):
        send_to_inbox(memory, workspace, empty.id)
    inbox.write_bytes(b"\xff")
    with pytest.raises(NoteUnreadable):
        send_to_inbox(memory, workspace, tree["a"].id)
    assert inbox.read_bytes() == b"\xff"


def test_a_context_cannot_close_the_comment(memory, workspace, inbox):
    """What stands in a context stays within the line."""
    node = memory.create_root("text", Context("%%", "a\nb", "%% x"))
    send_to_inbox(memory, workspace, node.id)
    assert [found.paragraph.text for found in number_paragraphs(inbox.read_text())] == ["Already here.", "text"]
    assert not send_to_inbox(memory, workspace, node.id).is_new
