"""Runs: planned and kept, applied in one journal, finished after a stop, taken back.

The vault's lock is taken here. What happens to files belongs to `durable.journal`, how a stopped run ends to
`inbox.settlement`, taking back to
`inbox.undo`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Final

from infold.durable.change import APPLY, when
from infold.durable.changes import Changes
from infold.durable.journal import Journal
from infold.durable.locks import WAIT_SECONDS, vault_lock
from infold.durable.records import FileChange
from infold.durable.undo import undo_outcome
from infold.durable.unfinished import is_unfinished
from infold.errors import NoteChanged, RunStateWrong
from infold.inbox.run import NoteChange, Run, RunStatus, placed
from infold.inbox.run_store import RunStore
from infold.inbox.settlement import UndoResult, settle, without_paragraphs
from infold.inbox.undo import check_undoable, undo_run_in
from infold.text import counted
from infold.workspace import Workspace

_ATTEMPTS: Final = 5


def save_planned(workspace: Workspace, run: Run, files: Mapping[str, tuple[bytes | None, bytes]]) -> Run:
    """Keeps a plan so that applying it later makes exactly these files, and gives it with its id.

    `files` are (before, after) by path, notes in the order they are to be written; the inbox, as `workspace.inbox_path`
    names it, goes last and may be left out where it does not change.
    """
    store = RunStore(workspace.runs)
    run_id = run.id or store.new_id()
    blobs = store.blobs(run_id)
    inbox = workspace.inbox_path
    order = sorted(files, key=lambda path: path == inbox)
    changes = tuple(
        NoteChange(path=path, before=blobs.put(files[path][0] or b""), after=blobs.put(files[path][1]))
        for path in order
        if files[path][0] != files[path][1]
    )
    store.keep_inbox(run_id, (files[inbox][0] if inbox in files else None) or b"")
    run = run.model_copy(update={"id": run_id, "status": RunStatus.PLANNED, "changes": changes})
    store.save(run)
    _report(store, run)
    return run


def apply_run(workspace: Workspace, run_id: str, wait_seconds: float = WAIT_SECONDS) -> Run:
    """Writes a plan to the vault, all of it or nothing, whenever the process is stopped.

    A note saved within the last `integrate.quiet_seconds` is waited for. An inbox that changed since the plan loses the
    run's paragraphs and nothing else. Raises NoteChanged, with the paths, where a note is not what the plan saw;
    RunStateWrong where the run is not planned (any more); VaultBusy; StateUnwritable.
    """
    store = RunStore(workspace.runs)
    with vault_lock(workspace, wait_seconds):
        _recover(workspace, store)
        run = store.load(run_id)
        if run.status is not RunStatus.PLANNED:
            moment = run.undone_at or run.applied_at
            done = f"{'undone' if run.undone_at else 'applied'} on {when(moment)}" if moment else str(run.status)
            raise RunStateWrong(f"Run {run_id} is not a plan any more: {done}.")
        notes = [change.path for change in run.changes if change.path != workspace.inbox_path]
        _wait_until_quiet(workspace, notes)
        run = _apply(workspace, store, run)
    _report(store, run)
    return run


def undo_run(workspace: Workspace, run_id: str) -> UndoResult:
    """Takes a run back, later changes elsewhere in its notes kept; what has to stay is named in the result.

    Raises RunStateWrong for a run that was not applied, or was taken back already; VaultBusy; StateUnwritable.
    """
    store = RunStore(workspace.runs)
    with vault_lock(workspace):
        _recover(workspace, store)
        run = store.load(run_id)
        check_undoable(run)
        store.mark_pending(run.id)
        outcome = undo_outcome(undo_run_in(workspace, store.journal(run.id, workspace.vault), run))
        result = UndoResult(settle(workspace, store, run.id), *outcome)
    _report(store, result.run)
    return result


def recover(workspace: Workspace, wait_seconds: float = WAIT_SECONDS) -> list[str]:
    """Finishes what stopped processes left, and says what, a sentence a change. Cheap where there is nothing."""
    store = RunStore(workspace.runs)
    if not is_unfinished(workspace):
        return []
    with vault_lock(workspace, wait_seconds):
        return _recover(workspace, store)


def _recover(workspace: Workspace, store: RunStore) -> list[str]:
    said = Changes(workspace).recover()
    for run_id in store.pending():
        if not (store.path(run_id) / "run.json").exists():
            continue
        was = store.load(run_id)
        run = settle(workspace, store, run_id)
        if run.status is not was.status:
            said.append(_sentence(run))
            _report(store, run)
    return said


def _sentence(run: Run) -> str:
    if run.status is RunStatus.PLANNED:
        return f"Run {run.id} was stopped before it had changed anything; it is planned, as it was."
    if run.undone_at is not None:
        return f"The undo of run {run.id} was stopped; it is finished now: the run is {run.status}."
    notes = sum(change.path != run.inbox for change in run.changes)
    left = sum(p.outcome == "left" for p in run.paragraphs)
    rest = f", {counted(left, 'paragraph')} left in the inbox" if left else ""
    return f"Run {run.id} was stopped while it was being applied; it is finished now: {notes} notes changed{rest}."


def _apply(workspace: Workspace, store: RunStore, run: Run) -> Run:
    journal = store.journal(run.id, workspace.vault)
    for attempt in range(_ATTEMPTS):
        changes, warnings = _file_changes(workspace, journal, run)
        said = tuple(dict.fromkeys((*run.warnings, *warnings)))
        applying = run.model_copy(update={"status": RunStatus.APPLYING, "warnings": said})
        store.mark_pending(run.id)
        store.save(applying)
        try:
            journal.apply(changes, APPLY)
            break
        except NoteChanged as error:
            store.save(run)
            store.clear_pending(run.id)
            if error.paths != (workspace.inbox_path,) or attempt == _ATTEMPTS - 1:
                raise NoteChanged(
                    f"Changed since the run was planned: {', '.join(error.paths)}.",
                    hint="`infold integrate` plans anew with the notes as they are now.",
                    paths=error.paths,
                ) from error
    return settle(workspace, store, run.id)


def _file_changes(workspace: Workspace, journal: Journal, run: Run) -> tuple[list[FileChange], list[str]]:
    """The plan's changes; that of the inbox made anew where the inbox is not what the plan saw."""
    changes: list[FileChange] = []
    warnings: list[str] = []
    for change in run.changes:
        before, after = journal.blobs.get(change.before), journal.blobs.get(change.after)
        is_inbox = change.path == workspace.inbox_path
        if is_inbox:
            current = journal.current(change.path)
            if current is None:
                warnings.append(f"The inbox {change.path} was deleted since the run was planned.")
                continue
            if current != before:
                before = current
                after, gone = without_paragraphs(current, placed(run))
                warnings += [
                    f"Paragraph {p.n} was changed in the inbox since; it stays there as it stands." for p in gone
                ]
        if before != after:
            changes.append(FileChange(change.path, before, after, needs_all=is_inbox))
    return changes, warnings


def _wait_until_quiet(workspace: Workspace, paths: Iterable[str]) -> None:
    """Lets a person who is saving these notes right now finish; whether they changed is checked afterwards."""
    quiet = workspace.params.integrate.quiet_seconds
    for path in paths:
        try:
            age = time.time() - (workspace.vault / path).stat().st_mtime
        except OSError:
            continue
        if 0 <= age < quiet:
            time.sleep(quiet - age)


def _report(store: RunStore, run: Run) -> None:
    from infold.inbox.report import write_report

    write_report(store.path(run.id), run)
