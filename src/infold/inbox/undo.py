"""Taking a run back: exact bytes where nothing changed since, a three-way merge of lines where something did.

What cannot be taken back stays as it stands and is named. The inbox comes first, so that no text is ever in neither
place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from infold.durable.journal import FileChange, Journal
from infold.durable.merge import joined, merge
from infold.errors import NoteChanged, RunStateWrong
from infold.inbox.inbox_text import locate_paragraphs
from infold.inbox.run import NoteChange, ParagraphRecord, Run, RunStatus
from infold.inbox.run_store import RunStore
from infold.inbox.settlement import UNDO, Conflict, UndoResult, placed, settle, undo_data, undo_result
from infold.workspace import Workspace

_ATTEMPTS: Final = 5


def undo(workspace: Workspace, store: RunStore, run: Run) -> UndoResult:
    """Takes `run` back. Needs the vault's lock; raises RunStateWrong where there is nothing to take back (any more)."""
    _check_undoable(run)
    journal = store.journal(run.id, workspace.vault)
    store.mark_pending(run.id)
    for attempt in range(_ATTEMPTS):
        changes, restored, conflicts = _plan(workspace, journal, run)
        try:
            entry = journal.apply(changes, UNDO, undo_data(restored, conflicts))
            break
        except NoteChanged:
            if attempt == _ATTEMPTS - 1:
                raise
    return undo_result(settle(workspace, store, run.id), entry)


def when(moment: str | None) -> str:
    """A kept moment as a person reads it."""
    return f"{(moment or '')[:16].replace('T', ' ')} UTC"


def _check_undoable(run: Run) -> None:
    if run.undone_at is not None:
        raise RunStateWrong(f"Run {run.id} was already undone on {when(run.undone_at)}.")
    if run.status not in (RunStatus.APPLIED, RunStatus.PARTIAL):
        raise RunStateWrong(f"Run {run.id} is {run.status}: there is nothing to take back.")


def _plan(workspace: Workspace, journal: Journal, run: Run) -> tuple[list[FileChange], list[str], list[Conflict]]:
    changes: list[FileChange] = []
    restored: list[str] = []
    conflicts: list[Conflict] = []
    ordered = sorted(run.changes, key=lambda change: change.path != workspace.inbox_path)
    for change in ordered:
        current = journal.current(change.path)
        is_inbox = change.path == workspace.inbox_path
        wanted, found = (
            (_inbox_back(journal, change, current, placed(run)), [])
            if is_inbox
            else _note_back(journal, change, current)
        )
        conflicts += found
        if not found:
            restored.append(change.path)
        if wanted is not None and wanted != current:
            changes.append(FileChange(change.path, current, wanted))
    return changes, restored, conflicts


def _note_back(journal: Journal, change: NoteChange, current: bytes | None) -> tuple[bytes | None, list[Conflict]]:
    before, after = journal.blobs.get(change.before), journal.blobs.get(change.after)
    if current is None:
        return None, [Conflict(change.path, "", "it was deleted since; it is not created again")]
    if current in (before, after):
        return before, []
    merged = merge(after, before, current)
    reason = "this was changed since, in the same lines; it stays as it stands"
    return merged.data, [Conflict(change.path, joined([lines]), reason) for lines in merged.conflicts]


def _inbox_back(
    journal: Journal, change: NoteChange, current: bytes | None, paragraphs: Sequence[ParagraphRecord]
) -> bytes:
    """The inbox with the run's paragraphs in it again: where they stood, else at its end."""
    before, after = journal.blobs.get(change.before), journal.blobs.get(change.after)
    if current is None:
        return _with_paragraphs("", paragraphs).encode()
    if current in (before, after):
        return before
    merged = merge(after, before, current)
    return _with_paragraphs(merged.data.decode("utf-8", errors="surrogateescape"), paragraphs).encode(
        "utf-8", errors="surrogateescape"
    )


def _with_paragraphs(text: str, paragraphs: Sequence[ParagraphRecord]) -> str:
    spans = locate_paragraphs(text, [paragraph.text for paragraph in paragraphs])
    line_end = "\r\n" if "\r\n" in text else "\n"
    for paragraph, span in zip(paragraphs, spans, strict=True):
        if span is None:
            gap = "" if not text.strip() else line_end if text.endswith(("\n", "\r")) else line_end * 2
            text = f"{text}{gap}{paragraph.text}{line_end}"
    return text
