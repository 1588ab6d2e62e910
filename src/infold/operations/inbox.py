"""The job: the inbox folded into the notes it belongs in; its runs listed, shown, applied and taken back."""

from __future__ import annotations

from typing import Literal

from infold.app import OpenVault
from infold.errors import (
    EnvironmentFault,
    NoteChanged,
    NoteUnreadable,
    RunNotFound,
    RunStateWrong,
    StateUnwritable,
    UsageError,
    VaultBusy,
)
from infold.inbox.run import Run, RunStatus, SkippedFile
from infold.librarian.spend import Usage
from infold.operations.contract import Effect, Group, Message, Nothing
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation

_LAST = "last"


class InboxIntegrateRequest(Spending):
    """How the inbox is to be folded in."""

    dry_run: bool = False
    """Plan only: nothing is written to the vault, and the plan can be applied later."""


class ParagraphOutcome(Message):
    """How a paragraph of the inbox ended."""

    n: int
    outcome: Literal["integrated", "duplicate", "left"]
    chunk: int | None
    reason: str | None
    """Why it stays in the inbox."""


class EditOutcome(Message):
    """An edit of a note, or the mark that a note has a text already."""

    file: str
    kind: Literal["edit", "duplicate"]
    applied: bool


class ChunkOutcome(Message):
    """Paragraphs that belong together, the notes that were looked at for them, and what was edited."""

    id: int
    paragraphs: tuple[int, ...]
    viewed: tuple[str, ...]
    checked_out: tuple[str, ...]
    edits: tuple[EditOutcome, ...]


class InboxIntegrateAnswer(Message):
    """What was done, or planned. With `status` "estimate" nothing was: `quote` says what it would take."""

    run: str | None
    """The id of the run, for `run_show`, `run_apply` and `run_undo`; null where there was nothing to do."""
    status: RunStatus | Literal["estimate"]
    paragraphs: tuple[ParagraphOutcome, ...] = ()
    chunks: tuple[ChunkOutcome, ...] = ()
    usage: Usage = Usage()
    """What was paid: calls, tokens, dollars (null: the price is unknown); `reused` answers cost nothing."""
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    """Files that were passed over, and why."""
    quote: Quote | None = None
    """What it would take, where a model would be paid and nobody agreed yet."""


@operation(
    Group.INBOX,
    Effect.SPENDS,
    takes_long=True,
    is_idempotent=False,
    errors=(EnvironmentFault, NoteUnreadable, UsageError, VaultBusy, NoteChanged),
)
def inbox_integrate(vault: OpenVault, request: InboxIntegrateRequest) -> InboxIntegrateAnswer:
    """Fold the inbox into the notes it belongs in.

    Paragraphs are grouped into chunks; each chunk explores the links from the root note, opens at most three notes and
    is edited into them. What is placed leaves the inbox, the rest stays there with the reason. `run_undo` takes it
    back. Where a model would be paid, the first answer is an estimate with a token.
    """
    quote = quote_first(vault, "inbox_integrate", request, vault.estimate_integration)
    if quote is not None:
        return InboxIntegrateAnswer(run=None, status="estimate", quote=quote)
    caps = {"max_usd": request.max_usd, "max_tokens": request.max_tokens}
    return integrate_answer(vault.integrate(dry_run=request.dry_run, caps=caps))


def integrate_answer(run: Run) -> InboxIntegrateAnswer:
    """A run as it is answered."""
    return InboxIntegrateAnswer.of(
        run,
        run=run.id or None,
        paragraphs=tuple(ParagraphOutcome.of(paragraph) for paragraph in run.paragraphs),
        chunks=tuple(
            ChunkOutcome.of(chunk, edits=tuple(EditOutcome.of(edit) for edit in chunk.edits)) for chunk in run.chunks
        ),
    )


class RunSummary(Message):
    """A run in a line."""

    run: str
    status: RunStatus
    created_at: str
    """ISO 8601, UTC."""
    librarian: str
    integrated: int
    """Paragraphs that went into notes; likewise the next two."""
    duplicate: int
    left: int
    notes: int
    """How many notes it changed."""
    usd: float | None


class RunListRequest(Message):
    """Which runs."""

    limit: int | None = None
    """Only so many, the newest."""


class RunListAnswer(Message):
    """Runs, the newest first."""

    runs: tuple[RunSummary, ...]


@operation(Group.INBOX, Effect.READS)
def run_list(vault: OpenVault, request: RunListRequest) -> RunListAnswer:
    """List the runs, newest first."""
    known = sorted(vault.runs.list(), key=lambda run: run.id, reverse=True)
    return RunListAnswer(runs=tuple(run_summary(run) for run in known[: request.limit]))


def run_summary(run: Run) -> RunSummary:
    """A run in a line."""
    counts = {kind: sum(p.outcome == kind for p in run.paragraphs) for kind in ("integrated", "duplicate", "left")}
    notes = sum(change.path != run.inbox for change in run.changes)
    return RunSummary.of(run, run=run.id, notes=notes, usd=run.usage.usd, **counts)


class RunRequest(Message):
    """Which run."""

    run: str = _LAST
    """Its id, a unique beginning of it, or `last`."""


class RunShowAnswer(Message):
    """A run, whole."""

    run: Run
    """The paragraphs with their texts and ends, the chunks with every edit, the changed notes, what was paid."""


@operation(Group.INBOX, Effect.READS, errors=(RunNotFound,))
def run_show(vault: OpenVault, request: RunRequest) -> RunShowAnswer:
    """Show a run: its chunks, what was looked at, the edits, what stayed in the inbox and why."""
    return RunShowAnswer(run=vault.find_run(request.run))


class FileDiff(Message):
    """How one file changes, as a unified diff."""

    file: str
    diff: str


class RunDiffAnswer(Message):
    """What a run changes, or would change."""

    run: str
    diffs: tuple[FileDiff, ...]


@operation(Group.INBOX, Effect.READS, errors=(RunNotFound,))
def run_diff(vault: OpenVault, request: RunRequest) -> RunDiffAnswer:
    """Get a run's changes as unified diffs, one a file."""
    run = vault.find_run(request.run)
    diffs = vault.runs.diffs(run).items()
    return RunDiffAnswer(run=run.id, diffs=tuple(FileDiff(file=path, diff=text) for path, text in diffs))


@operation(
    Group.INBOX,
    Effect.WRITES,
    is_idempotent=False,
    errors=(RunNotFound, RunStateWrong, NoteChanged, VaultBusy, StateUnwritable),
)
def run_apply(vault: OpenVault, request: RunRequest) -> InboxIntegrateAnswer:
    """Apply a dry run that was reviewed. Refused where a note has changed since."""
    return integrate_answer(vault.apply(request.run))


class KeptText(Message):
    """What could not be taken back: the text that stays, and why."""

    file: str
    text: str
    reason: str


class RunUndoAnswer(Message):
    """What was taken back."""

    run: str
    status: str
    restored: tuple[str, ...]
    """Files that are without the change again."""
    removed: tuple[str, ...] = ()
    """Files that the change had made, and that are gone again."""
    conflicts: tuple[KeptText, ...] = ()


@operation(
    Group.INBOX,
    Effect.WRITES,
    is_idempotent=False,
    errors=(RunNotFound, RunStateWrong, NoteChanged, VaultBusy, StateUnwritable),
)
def run_undo(vault: OpenVault, request: RunRequest) -> RunUndoAnswer:
    """Take a run back, or a write of the notebook by its id (`w-…`, `w-last`).

    Later changes elsewhere in a note stay; what cannot be taken back is said exactly.
    """
    if request.run.startswith("w-"):
        back = vault.take_back(request.run)
        gone = (back.path,)
        return RunUndoAnswer(
            run=request.run,
            status="undone",
            restored=() if back.is_removed else gone,
            removed=gone if back.is_removed else (),
        )
    done = vault.undo(request.run)
    return RunUndoAnswer(
        run=done.run.id,
        status=str(done.run.status),
        restored=done.restored,
        conflicts=tuple(KeptText.of(conflict, file=conflict.path) for conflict in done.conflicts),
    )


class RecoverAnswer(Message):
    """What was finished, a sentence a run."""

    finished: tuple[str, ...]


@operation(Group.INBOX, Effect.WRITES, errors=(VaultBusy, StateUnwritable))
def run_recover(vault: OpenVault, request: Nothing) -> RecoverAnswer:  # noqa: ARG001 - the signature of operations
    """Bring runs that were killed while they wrote to their end. Every later write does this too."""
    return RecoverAnswer(finished=tuple(vault.recover()))
