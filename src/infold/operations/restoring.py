"""Earlier bytes of a note brought back, from the change that deleted or replaced them."""

from __future__ import annotations

from typing import Final

from infold.app import OpenVault
from infold.durable.changes import Changes
from infold.errors import (
    NoteChanged,
    NoteExists,
    NoteNotFound,
    PathRefused,
    RunNotFound,
    RunStateWrong,
    StateUnwritable,
    UsageError,
    VaultBusy,
)
from infold.notebook.names import page_path
from infold.operations.contract import Effect, Group, Message
from infold.operations.table import operation
from infold.vault.names import is_note_name

_ERRORS: Final = (
    RunNotFound,
    RunStateWrong,
    NoteExists,
    NoteNotFound,
    NoteChanged,
    PathRefused,
    UsageError,
    VaultBusy,
    StateUnwritable,
)


class KnowledgeRestoreRequest(Message):
    """Which earlier bytes, and where they are to stand."""

    change: str
    """The id of the change that deleted or replaced them, as `run_list` has it."""
    note: str | None = None
    """The note, by its path then; null where the change deleted or replaced only one."""
    to: str | None = None
    """The path to bring it back at; null is its own."""
    replace: bool = False
    """Put it in place of a note that is there now. Without it, that note stays and is named."""
    dry_run: bool = False
    """Only say what would be done."""


class KnowledgeRestoreAnswer(Message):
    """The note that is back."""

    message: str
    path: str
    change: str | None
    """What takes it back again; null in a dry run."""
    diffs: dict[str, str]
    """In a dry run: what would be written, by file."""


@operation(Group.KNOWLEDGE, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def knowledge_restore(vault: OpenVault, request: KnowledgeRestoreRequest) -> KnowledgeRestoreAnswer:
    """Bring back what a note was before a change: a deleted note, also under another name, or an earlier version.

    Where its own name is still free, `run_undo` of the change does the same with all else the change did.
    """
    changes = Changes(vault.workspace)
    path = _path_in(changes, request)
    target = page_path(vault.workspace.vault, request.to or path)
    plan = changes.plan_restore(request.change, path, target)
    # Asked of the plan, which is applied to these bytes or not at all: a note made meanwhile is not replaced either.
    if not request.replace and any(file.before is not None for file in plan.files):
        raise NoteExists(
            f"There is a note {target} already.",
            hint="Give another path to bring it back at, or say that it is to be replaced.",
        )
    change = None if request.dry_run else plan.apply().id
    done = "would be" if request.dry_run else "is"
    return KnowledgeRestoreAnswer(
        message=f"{target} {done} as {path} was before {request.change}.",
        path=target,
        change=change,
        diffs=plan.diffs() if request.dry_run else {},
    )


def _path_in(changes: Changes, request: KnowledgeRestoreRequest) -> str:
    """The path that the change knows the note by."""
    change = changes.find(request.change)
    paths = [file.path for file in change.files if file.before is not None]
    wanted = request.note
    if wanted is not None:
        paths = [path for path in paths if path == (wanted if is_note_name(wanted) else f"{wanted}.md")]
    if len(paths) == 1:
        return paths[0]
    if paths:
        raise UsageError(f"{change.id} is about {len(paths)} notes: {', '.join(paths)}.", hint="Name one of them.")
    said = f"no {wanted}" if wanted is not None else "nothing"
    raise NoteNotFound(f"{change.id} deleted or replaced {said}.", hint=f"`infold show {change.id}` lists its files.")
