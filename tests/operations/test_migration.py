"""The older layout of an agent's memory, moved into the notebook as one change (spec 3, section 11)."""

from __future__ import annotations

import pytest

import infold
from infold.operations.contract import Nothing
from infold.operations.memory import MemoryGetRequest, memory_get
from infold.operations.migration import NotebookMigrateRequest, notebook_migrate
from infold.operations.notebook import NotebookEditRequest, memory_context, notebook_edit

OLDER = {
    "brain/memory/core/contacts.md": "# Contacts\n\nSarah: 555-1234. See [orders](../../../runtime/standing-orders.md).\n",
    "brain/memory/core/preferences.md": "# Preferences\n\nTea.\n",
    "brain/memory/core/identity.md": "# Identity\n\nNina.\n",
    "runtime/standing-orders.md": "# Orders\n\nNever call before nine.\n",
    "runtime/external-communications.md": "# Outside\n\nBe brief.\n",
    "runtime/reminders.md": "# Reminders\n\nOld.\n",
    "index.md": "# Home\n\n[[brain/memory/core/contacts]] and [[standing-orders]]\n",
}


@pytest.fixture
def vault(tmp_path):
    for path, text in OLDER.items():
        file = tmp_path / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    changes = ["search.embedding=none"]
    with infold.open(tmp_path / "vault", state=tmp_path / "state", changes=changes) as opened:
        yield opened


def files(vault):
    root = vault.workspace.vault
    return {file.relative_to(root).as_posix(): file.read_text() for file in root.rglob("*.md")}


def test_the_notes_move_with_their_links_as_one_change_that_can_be_undone(vault):
    """Folders are made, identity and reminders stay, and one undo brings every byte back."""
    before = files(vault)
    done = notebook_migrate(vault, NotebookMigrateRequest())
    after = files(vault)
    moved = {"contacts", "preferences", "standing-orders", "external-communications"}
    assert {note.new for note in done.moved} == {f"reference/{name}.md" for name in moved}
    assert {path for path in after if path.startswith(("brain/", "runtime/"))} == {
        "brain/memory/core/identity.md",
        "runtime/reminders.md",
    }
    assert done.retired == ("runtime/reminders.md",)
    assert all((vault.workspace.vault / name).is_dir() for name in ("lists", "reference", "knowledge", "daily"))
    assert "[[reference/contacts]]" in after["index.md"]
    assert "(./standing-orders.md)" in after["reference/contacts.md"]
    assert done.links == 2
    vault.undo(done.change)
    assert files(vault) == before


def test_a_second_time_there_is_nothing_to_do(vault):
    """And what lies in its place already is never overwritten."""
    notebook_migrate(vault, NotebookMigrateRequest())
    again = notebook_migrate(vault, NotebookMigrateRequest())
    assert (again.moved, again.left, again.folders, again.change) == ((), (), (), None)
    (vault.workspace.vault / "runtime/standing-orders.md").write_text("# Newer\n")
    third = notebook_migrate(vault, NotebookMigrateRequest())
    assert [(note.path, note.new) for note in third.left] == [
        ("runtime/standing-orders.md", "reference/standing-orders.md")
    ]
    assert "Never call before nine" in files(vault)["reference/standing-orders.md"]


def test_a_dry_run_changes_nothing(vault):
    """It names what would be moved."""
    before = files(vault)
    done = notebook_migrate(vault, NotebookMigrateRequest(dry_run=True))
    assert len(done.moved) == 4
    assert done.change is None
    assert files(vault) == before
    assert not (vault.workspace.vault / "lists").exists()


def test_until_then_reading_falls_back_to_the_old_paths(vault):
    """By its new name, by lines, and in the context that is always loaded; a note in the new place counts first."""
    read = memory_get(vault, MemoryGetRequest(path="reference/standing-orders.md", start_line=3, lines=1))
    assert (read.path, read.text.strip()) == ("runtime/standing-orders.md", "Never call before nine.")
    assert "555-1234" in memory_context(vault, Nothing()).text
    notebook_migrate(vault, NotebookMigrateRequest())
    context = memory_context(vault, Nothing())
    assert [file.path for file in context.files].count("reference/contacts.md") == 1
    assert not any(file.path.startswith("runtime/") for file in context.files)


def test_notes_of_the_older_layout_can_be_edited_where_they_are(vault):
    """Spec 3, section 6: `notebook_edit` goes on for runtime/, with the hash that was read; then they move."""
    place = "runtime/standing-orders.md"
    known = memory_get(vault, MemoryGetRequest(path=place))
    notebook_edit(vault, NotebookEditRequest(path=place, content="# Orders\n\nNever before ten.\n", hash=known.hash))
    notebook_migrate(vault, NotebookMigrateRequest())
    assert "before ten" in files(vault)["reference/standing-orders.md"]
