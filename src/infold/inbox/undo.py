"""Taking a run back: exact bytes where nothing changed since, a three-way merge of lines where something did.

What cannot be taken back stays as it stands and is named. The inbox comes first, so that no text is ever in neither
place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from infold.durable.change import UNDO, when
from infold.durable.journal import Journal
from infold.durable.merge import merge
from infold.durable.undo import UndoPlan, text_back, undo_data
from infold.errors import NoteChanged, RunStateWrong
from infold.inbox.inbox_text import locate_paragraphs
from infold.inbox.run import NoteChange, ParagraphRecord, Run, RunStatus
from infold.inbox.run_store import RunStore
from infold.inbox.settlement import UndoResult, placed, settle, undo_result
from infold.workspace import Workspace

_ATTEMPTS: Final = 5


def undo(workspace: Workspace, store: RunStore, run: Run) -> UndoResult:
    """Takes `run` back. Needs the vault's lock; raises RunStateWrong where there is nothing to take back (any more)."""
    _check_undoable(run)
    journal = store.journal(run.id, workspace.vault)
    store.mark_pending(run.id)
    for attempt in range(_ATTEMPTS):
        plan = _plan(workspace, journal, run)
        try:
            entry = journal.apply(plan.changes, UNDO, undo_data(plan.restored, plan.conflicts))
            break
        except NoteChanged:
            if attempt == _ATTEMPTS - 1:
                raise
    return undo_result(settle(workspace, store, run.id), entry)


def _check_undoable(run: Run) -> None:
    if run.undone_at is not None:
        raise RunStateWrong(f"Run {run.id} was already undone on {when(run.undone_at)}.")
    if run.status not in (RunStatus.APPLIED, RunStatus.PARTIAL):
        raise RunStateWrong(f"Run {run.id} is {run.status}: there is nothing to take back.")


def _plan(workspace: Workspace, journal: Journal, run: Run) -> UndoPlan:
    plan = UndoPlan()
    for change in sorted(run.changes, key=lambda change: change.path != workspace.inbox_path):
        current = journal.current(change.path)
        if change.path == workspace.inbox_path:
            plan.add(change.path, current, _inbox_back(journal, change, current, placed(run)))
        else:
            wanted, found = text_back(journal.blobs, change.path, change.before, change.after, current)
            plan.add(change.path, current, wanted, found)
    return plan


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
