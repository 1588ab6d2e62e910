"""The notebook's folders made, and the files of the older layout moved into them (spec 3, section 11)."""

from __future__ import annotations

from infold import lazy
from infold.app import OpenVault
from infold.errors import NoteChanged, NoteUnreadable, PathRefused, StateUnwritable, VaultBusy
from infold.operations.contract import Effect, Group, Message
from infold.operations.table import operation


class NotebookMigrateRequest(Message):
    """Whether to do it."""

    dry_run: bool = False
    """Only say what would be done."""


class MovedNote(Message):
    """A note, and where it belongs."""

    path: str
    new: str


class NotebookMigrateAnswer(Message):
    """What was done."""

    message: str
    folders: tuple[str, ...]
    """Folders that were made; an undo leaves them, empty."""
    moved: tuple[MovedNote, ...]
    left: tuple[MovedNote, ...]
    """Notes that stay where they are, because there is one in their new place already."""
    retired: tuple[str, ...]
    """Notes of the older layout that have no place in the notebook; they stay."""
    links: int
    """How many links follow the notes."""
    change: str | None
    """What takes the moves back; null where nothing was moved."""


@operation(Group.VAULT, Effect.WRITES, errors=(NoteChanged, PathRefused, NoteUnreadable, VaultBusy, StateUnwritable))
def notebook_migrate(vault: OpenVault, request: NotebookMigrateRequest) -> NotebookMigrateAnswer:
    """Make the notebook's folders, and move the notes of an older layout into them, as one change with one undo.

    Every link that led to a moved note leads to it still. Until then such notes are read where they are.
    """
    root, params = vault.workspace.vault, vault.params.notebook
    made = [
        folder
        for folder in lazy.notebook.older_layout.folders(params)
        if not lazy.vault.files.safe_path(root, folder).is_dir()
    ]
    with vault.catalogued() as catalogue:
        here = {note.path for note in catalogue.notes()}
        known = {old: new for old, new in lazy.notebook.older_layout.moves(params).items() if old in here}
        free = {old: new for old, new in known.items() if not lazy.vault.files.safe_path(root, new).exists()}
        links, change = 0, None
        if free:
            summary = f"{len(free)} notes of the older layout moved into the notebook"
            plan, planned = lazy.knowledge.note_changes.NoteChanges(vault.workspace, catalogue).plan_moves(
                free, summary
            )
            links = len(plan.rewritten)
            change = None if request.dry_run else planned.apply().id
    if not request.dry_run:
        for folder in made:
            lazy.durable.files.Disk().make_folder(lazy.vault.files.safe_path(root, folder))
    would = "would be " if request.dry_run else ""
    return NotebookMigrateAnswer(
        message=f"{len(free)} notes {would}moved, {len(made)} folders {would}made.",
        folders=tuple(made),
        moved=tuple(MovedNote(path=old, new=new) for old, new in free.items()),
        left=tuple(MovedNote(path=old, new=new) for old, new in known.items() if old not in free),
        retired=tuple(path for path in lazy.notebook.older_layout.RETIRED if path in here),
        links=links,
        change=change,
    )
