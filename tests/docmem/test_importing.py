"""Files and notes as trees (spec 2, Import; Readonly Metadata), and what cannot be one."""

from __future__ import annotations

import json
import os
import tarfile
from dataclasses import replace

import pytest

from infold.docmem import importing, maintenance
from infold.docmem.chats import SESSION
from infold.docmem.exporting import export_text
from infold.docmem.importing import MAX_BYTES, SHA256, SOURCE, import_file, import_note
from infold.docmem.place import after, child_of
from infold.errors import ImportRefused, NodeExists, NodeIdInvalid, NodeNotFound, PathRefused, TextNotStorable
from infold.text import words
from tests.docmem.conftest import ROOT

NOTE = "# Beds\n\nThe bed by the wall.\n\n## Soil\n\nHeavy. Wet.\n"


@pytest.fixture
def note_file(tmp_path):
    """A Markdown file outside the vault."""
    file = tmp_path / "Beds and soils of the garden.md"
    file.write_text(NOTE)
    return file


@pytest.mark.parametrize("name", ["a.md", "a.MARKDOWN", "a.txt", "a", "a.rst"])
def test_uploads_are_readonly(memory, tmp_path, name):
    """Spec 2, Import: "all nodes created from the imported content MUST be marked readonly"."""
    (tmp_path / name).write_text(NOTE)
    done = import_file(memory, tmp_path / name)
    nodes = memory.subtree(done.node.id)
    assert done.nodes == len(nodes) > 3
    assert {node.readonly for node, _ in nodes} == {1}
    assert words(memory.serialise(done.node.id)) == words(NOTE)


def test_toml_is_not_readonly(memory, tree, tmp_path):
    """Spec 2, Import: "When importing nodes from TOML files, all nodes MUST default to not readonly"."""
    (tmp_path / "a.toml").write_text(export_text(memory, tree["a"].id, "toml").replace("readonly = 0\n", ""))
    done = import_file(memory, tmp_path / "a.toml")
    assert {node.readonly for node, _ in memory.subtree(done.node.id)} == {0}


def test_notes_go_beside_what_was_imported(memory, note_file):
    """Spec 2, Readonly Metadata: "MUST create note nodes as siblings after the readonly nodes"."""
    section = memory.children(import_file(memory, note_file).node.id)[0]
    note = memory.note_beside(section.id, "The wall is gone.")
    assert (note.parent_id, note.readonly) == (section.parent_id, 0)


def test_where_it_is_from_is_kept_in_full(memory, note_file):
    """A context's value is cut at 24 characters; the marks of the root have path and hash whole."""
    root = import_file(memory, note_file).node
    assert str(root.context) == "root:markdown:Beds and soils of the…"
    assert memory.marks_of(root.id)[SOURCE] == f"file:{note_file}"
    assert len(memory.marks_of(root.id)[SHA256]) == 64


def test_the_same_is_imported_once(memory, tree, note_file):
    """The same document from the same place is there already; in another place, or `again`, it is not."""
    first = import_file(memory, note_file)
    assert first.is_new
    second = import_file(memory, note_file)
    assert (second.node, second.nodes, second.is_new) == (first.node, 0, False)
    assert import_file(memory, note_file, place=child_of(tree["b"].id)).is_new
    assert not import_file(memory, note_file, place=child_of(tree["b"].id)).is_new
    assert import_file(memory, note_file, again=True).is_new
    note_file.write_text(NOTE + "More.\n")
    assert (import_file(memory, note_file).node.id, len(memory.roots())) == (first.node.id, 3)


def test_a_name_is_not_passed_over(memory, note_file):
    """Root: a document that is there under another name is not said to be imported under this one."""
    first = import_file(memory, note_file, root_id="beds")
    with pytest.raises(ImportRefused, match="'beds' already"):
        import_file(memory, note_file, root_id="other")
    assert import_file(memory, note_file, root_id="beds").node == first.node
    assert import_file(memory, note_file, root_id="other", again=True).node.id == "other"


def test_a_transcript_is_a_conversation(memory, tree, tmp_path):
    """Spec 2, Node Differentiation: a transcript is a chat_session with its messages also without a notebook."""
    talk = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hi."}]
    (tmp_path / "talk.jsonl").write_text("".join(f"{json.dumps(turn)}\n" for turn in talk))
    done = import_file(memory, tmp_path / "talk.jsonl", place=child_of("garden"))
    shown = [f"{node.context} {node.text}".rstrip() for node, _ in memory.subtree(done.node.id)]
    assert shown == ["chat_session:thread:talk", "message:role:user Hello?", "message:role:assistant Hi."]
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(ImportRefused, match="holds no turn"):
        import_file(memory, tmp_path / "rows.jsonl")


def test_a_part_of_a_tree(memory, tree, note_file, texts):
    """At a place, what was imported is one node, a document, with its sections below it."""
    done = import_file(memory, note_file, place=after(tree["a"].id))
    assert (done.node.context_type, done.node.parent_id) == ("document", "garden")
    assert texts("garden") == ["a", "", "b", "c"]
    with pytest.raises(NodeNotFound):
        import_file(memory, note_file, place=child_of("nowhere"))


def test_a_note_of_the_vault(memory, workspace, tmp_path):
    """By its path in the vault; nothing outside it is read, and nothing of it is written."""
    (workspace.vault / "deep").mkdir()
    (workspace.vault / "deep" / "Beds.md").write_text(NOTE)
    root = import_note(memory, workspace, "deep/Beds.md", root_id="beds").node
    assert (root.id, memory.marks_of("beds")[SOURCE]) == ("beds", "vault:deep/Beds.md")
    (tmp_path / "secret.md").write_text("secret")
    (workspace.vault / "link.md").symlink_to(tmp_path / "secret.md")
    for path in ("../secret.md", "link.md", "/etc/passwd", ""):
        with pytest.raises(PathRefused):
            import_note(memory, workspace, path)
    with pytest.raises(ImportRefused, match="not there"):
        import_note(memory, workspace, "deep/none.md")
    assert sorted(path.name for path in workspace.vault.rglob("*")) == ["Beds.md", "deep", "link.md"]


def test_what_a_name_of_a_note_means(workspace, tmp_path, monkeypatch):
    """A path in the vault with or without `.md`, or any path to a file of it; else nothing."""
    (workspace.vault / "deep").mkdir()
    (workspace.vault / "deep" / "Beds.md").write_text(NOTE)
    (tmp_path / "other.md").write_text(NOTE)
    (workspace.vault / "deep" / "list.txt").write_text("no note")
    monkeypatch.chdir(workspace.vault / "deep")
    for name in ("deep/Beds", "deep/Beds.md", "Beds.md", str(workspace.vault / "deep" / "Beds.md")):
        assert importing.note_named(workspace, name) == "deep/Beds.md"
    for name in ("Beds", "../../other.md", str(tmp_path / "other.md"), "", "..", "deep", "list.txt"):
        assert importing.note_named(workspace, name) is None


@pytest.mark.parametrize(
    "name, data, said",
    [
        ("a.md", b"ok\n\xff\n", "not UTF-8: byte 3, line 2"),
        ("a.txt", b"ok\0", "binary: a NUL byte at 2"),
        ("a.md", "ok".encode("utf-16"), "UTF-16"),
        ("a.toml", b'text = "\xff"', "not UTF-8"),
        ("a.toml", b'[[nodes]]\ntext = "\\ud800"', "a.toml is no TOML"),
        ("a.md", b"", "holds no text"),
        ("a.txt", b"\xef\xbb\xbf \n\r\n", "holds no text"),
        ("a.txt", b"x" * (MAX_BYTES + 1), "at most 33,554,432"),
    ],
)
def test_what_cannot_be_read_is_refused(memory, tmp_path, name, data, said):
    """The message says where in the file; nothing is in the store."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ImportRefused, match=said):
        import_file(memory, tmp_path / name)
    assert memory.roots() == []


def test_what_is_no_file_is_refused_at_once(memory, tmp_path):
    """A folder, a pipe that nobody writes to, a device without end, a file that is not there."""
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path, tmp_path / "pipe", tmp_path / "none.md", tmp_path / ("x" * 300)):
        with pytest.raises(ImportRefused):
            import_file(memory, file)
    assert memory.roots() == []


def test_nothing_is_half_imported(memory, note_file, monkeypatch):
    """One import is one transaction: a fault at the last node leaves no node, no mark, nothing waiting."""
    real = importing.plant  # type: ignore[attr-defined]

    def fails(*args: object, **given: object) -> object:
        real(*args, **given)  # type: ignore[arg-type]
        raise TextNotStorable("half a character")

    monkeypatch.setattr(importing, "plant", fails)
    with pytest.raises(TextNotStorable):
        import_file(memory, note_file)
    assert memory.roots() == []
    assert (memory.marked(SOURCE), maintenance.facts(memory.store).waiting) == ({}, 0)


def test_names_of_trees_are_checked(memory, note_file):
    """A name that is taken, or cannot name a tree, stops the import."""
    memory.create_root("", ROOT, root_id="beds")
    with pytest.raises(NodeExists):
        import_file(memory, note_file, root_id="beds")
    with pytest.raises(NodeIdInvalid):
        import_file(memory, note_file, root_id="../beds")
    assert len(memory.roots()) == 1


def test_a_file_cannot_claim_to_be_a_session(memory, tmp_path):
    """A tree that came from a file is indexed: it is no view of a transcript, whatever its marks say."""
    (tmp_path / "a.toml").write_text(
        f'[[nodes]]\ntext = "x"\ncontext_type = "root"\ncontext_name = ""\ncontext_value = ""\n'
        f'marks = {{ {SESSION} = "sessions/a.jsonl", priority = "2" }}\n'
    )
    node = import_file(memory, tmp_path / "a.toml").node
    assert memory.marks_of(node.id) == {"priority": "2"}


def test_hard_inputs_become_trees_or_are_named(memory, workspace, shared_data, tmp_path):
    """Every note of the shared collection is a tree with each of its words, or refused with the reason."""
    with tarfile.open(shared_data / "markdown" / "nasty.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    hard = replace(workspace, vault=tmp_path / "nasty-synth")
    refused = {}
    for file in sorted(hard.vault.glob("*.md")):
        try:
            root = import_note(memory, hard, file.name).node
        except ImportRefused as error:
            refused[file.name] = str(error)
            continue
        assert words(memory.serialise(root.id)) == words(file.read_bytes().decode().replace("\ufeff", "")), file.name
        assert len(root.context_value) <= 24
    assert set(refused) == {"invalid-utf8.md", "nul.md", "one-line-5MB.md", "utf16le-bom.md"}
    assert maintenance.problems(memory.store) == []


def test_trees_of_any_depth(memory, tmp_path):
    """A chain of two thousand nodes is exported and imported like any other tree."""
    with memory.batch():
        node = memory.create_root("0", ROOT, root_id="deep")
        for number in range(1, 2000):
            node = memory.append(node.id, str(number), ROOT)
    (tmp_path / "deep.toml").write_text(export_text(memory, "deep", "toml"))
    assert import_file(memory, tmp_path / "deep.toml", root_id="again").nodes == 2000
    assert memory.serialise("again") == memory.serialise("deep")
