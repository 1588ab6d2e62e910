"""How a run that was begun is brought to its end, by whoever comes next: the process that began it, or the next start.

Everything here can be stopped at any moment and done again. A note that a person changed in between is merged with the
run's change line by line; where that cannot be, its text stands and the paragraphs stay in the inbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infold.durable.change import APPLY, MEND
from infold.durable.journal import Journal
from infold.durable.merge import holds_change, merge
from infold.durable.records import FileChange, Transaction, moment
from infold.durable.undo import UNDO, Conflict, undo_outcome
from infold.errors import NoteChanged
from infold.inbox.inbox_text import locate_paragraphs, remove_paragraphs
from infold.inbox.run import ChunkRecord, NoteChange, ParagraphRecord, Run, RunStatus, placed
from infold.inbox.run_store import RunStore
from infold.inbox.undo import undo_run_in
from infold.text import content_hash
from infold.workspace import Workspace

_ATTEMPTS: Final = 5
_CHANGED_MEANWHILE: Final = "was changed while the run was being applied"


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The run after its undo, the files that are without it again, and what had to stay."""

    run: Run
    restored: tuple[str, ...]
    conflicts: tuple[Conflict, ...]


def settle(workspace: Workspace, store: RunStore, run_id: str) -> Run:
    """Finishes what the journal of a run holds, and its record. Needs the vault's lock."""
    run = store.load(run_id)
    journal = store.journal(run_id, workspace.vault)
    journal.recover()
    entries = journal.transactions()
    if run.status is RunStatus.APPLYING:
        applied = [entry for entry in entries if entry.intent.label in (APPLY, MEND)]
        run = _applied(workspace, journal, run, applied) if applied else _not_begun(run)
        store.save(run)
    if run.undone_at is None and any(entry.intent.label == UNDO for entry in entries):
        conflicts = undo_outcome(undo_run_in(workspace, journal, run))[1]
        status = RunStatus.PARTLY_UNDONE if conflicts else RunStatus.UNDONE
        run = run.model_copy(update={"status": status, "undone_at": moment()})
        store.save(run)
    store.clear_pending(run_id)
    return run


def without_paragraphs(current: bytes, paragraphs: Sequence[ParagraphRecord]) -> tuple[bytes, list[ParagraphRecord]]:
    """An inbox without these paragraphs, found by their text, and those that do not stand there any more."""
    text = current.decode("utf-8", errors="surrogateescape")
    spans = locate_paragraphs(text, [paragraph.text for paragraph in paragraphs])
    gone = [paragraph for paragraph, span in zip(paragraphs, spans, strict=True) if span is None]
    rest = remove_paragraphs(text, [span for span in spans if span])
    return rest.encode("utf-8", errors="surrogateescape"), gone


def _not_begun(run: Run) -> Run:
    return run.model_copy(update={"status": RunStatus.PLANNED})


def _applied(workspace: Workspace, journal: Journal, run: Run, entries: list[Transaction]) -> Run:
    while entries[-1].done and (entries[-1].done.conflicts or entries[-1].done.withheld):
        entries.append(_mend(workspace, journal, run, entries[-1]))
    lost: list[str] = entries[-1].intent.data.get("lost", [])
    stay = {p.n for p in run.paragraphs} - {p.n for p in placed(run, except_in=lost)}
    paragraphs = tuple(_left(p, lost) if p.n in stay and p.outcome != "left" else p for p in run.paragraphs)
    is_partial = run.waiting > 0 or any(p.outcome == "left" for p in paragraphs)
    return run.model_copy(
        update={
            "status": RunStatus.PARTIAL if is_partial else RunStatus.APPLIED,
            "paragraphs": paragraphs,
            "chunks": tuple(_with_applied(chunk, lost) for chunk in run.chunks),
            "changes": _changes(entries, lost),
            "warnings": run.warnings + tuple(f"{path} {_CHANGED_MEANWHILE}; its edits were not made." for path in lost),
            "applied_at": moment(),
        }
    )


def _left(paragraph: ParagraphRecord, lost: Sequence[str]) -> ParagraphRecord:
    reason = f"{', '.join(lost)} {_CHANGED_MEANWHILE}"
    return paragraph.model_copy(update={"outcome": "left", "reason": reason, "file": None, "quote": None})


def _with_applied(chunk: ChunkRecord, lost: Sequence[str]) -> ChunkRecord:
    if chunk.reason is not None:
        return chunk
    edits = tuple(
        edit.model_copy(update={"applied": edit.kind == "edit" and edit.file not in lost}) for edit in chunk.edits
    )
    return chunk.model_copy(update={"edits": edits})


def _changes(entries: Sequence[Transaction], lost: Sequence[str]) -> tuple[NoteChange, ...]:
    """The changes that were made in the end; a note whose later form holds ours keeps the first entry's."""
    changes: dict[str, NoteChange] = {}
    for entry in entries:
        for file in entry.intent.files:
            is_made = entry.done is not None and file.path in entry.done.written
            if file.after is not None and (is_made or file.path not in changes):
                changes.pop(file.path, None)
                before = content_hash(b"") if file.before is None else file.before
                changes[file.path] = NoteChange(path=file.path, before=before, after=file.after)
    return tuple(change for path, change in changes.items() if path not in lost)


def _mend(workspace: Workspace, journal: Journal, run: Run, entry: Transaction) -> Transaction:
    """Makes the changes that `entry` could not make, on the files as they are now; tries again where they move."""
    for attempt in range(_ATTEMPTS):
        changes, lost = _mending(workspace, journal, run, entry)
        try:
            return journal.apply(changes, MEND, {"lost": lost})
        except NoteChanged:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the loop returns or raises")


def _mending(
    workspace: Workspace, journal: Journal, run: Run, entry: Transaction
) -> tuple[list[FileChange], list[str]]:
    done = entry.done
    open_paths = set(done.conflicts + done.withheld) if done else set()
    lost: list[str] = list(entry.intent.data.get("lost", []))
    changes: list[FileChange] = []
    for file in entry.intent.files:
        if file.path not in open_paths or file.path == workspace.inbox_path or not (file.before and file.after):
            continue
        current = journal.current(file.path)
        if current is None:
            lost.append(file.path)
            continue
        before, after = journal.blobs.get(file.before), journal.blobs.get(file.after)
        if holds_change(before, after, current):
            continue  # it was written, and a person went on from there
        merged = merge(before, after, current)
        if merged.conflicts:
            lost.append(file.path)
        elif merged.data != current:
            changes.append(FileChange(file.path, current, merged.data))
    current = journal.current(workspace.inbox_path)
    if workspace.inbox_path in open_paths and current is not None:
        after, _ = without_paragraphs(current, placed(run, except_in=lost))
        if after != current:
            changes.append(FileChange(workspace.inbox_path, current, after, needs_all=True))
    return changes, lost
