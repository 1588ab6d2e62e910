"""Taking a run back: exact bytes where nothing changed since, a three-way merge of lines where something did.

What cannot be taken back stays as it stands and is named. The inbox comes first, and notes follow only when it stands,
so that no text is ever in neither place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from infold.durable.change import when
from infold.durable.journal import Journal
from infold.durable.merge import merge
from infold.durable.records import Transaction
from infold.durable.undo import UndoPlan, carry_out, text_back
from infold.errors import RunStateWrong
from infold.inbox.inbox_text import locate_paragraphs
from infold.inbox.run import NoteChange, ParagraphRecord, Run, RunStatus, placed
from infold.workspace import Workspace


def undo_run_in(workspace: Workspace, journal: Journal, run: Run) -> Transaction:
    """Takes a run back, or goes on with that where it was stopped; gives the entry that says how it ended."""
    return carry_out(journal, lambda settled: _plan(workspace, journal, run, settled))


def check_undoable(run: Run) -> None:
    """Raises RunStateWrong where there is nothing to take back (any more)."""
    if run.undone_at is not None:
        raise RunStateWrong(f"Run {run.id} was already undone on {when(run.undone_at)}.")
    if run.status not in (RunStatus.APPLIED, RunStatus.PARTIAL):
        raise RunStateWrong(f"Run {run.id} is {run.status}: there is nothing to take back.")


def _plan(workspace: Workspace, journal: Journal, run: Run, settled: Collection[str]) -> UndoPlan:
    plan = UndoPlan()
    for change in sorted(run.changes, key=lambda change: change.path != workspace.inbox_path):
        if change.path in settled:
            continue
        current = journal.current(change.path)
        if change.path == workspace.inbox_path:
            plan.add(change.path, current, _inbox_back(journal, change, current, placed(run)))
        else:
            wanted, found = text_back(journal.blobs, change.path, change.before, change.after, current)
            plan.add(change.path, current, wanted, found, needs_all=True)
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
