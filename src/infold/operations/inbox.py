"""The job: the inbox folded into the notes it belongs in; its runs listed, shown, applied and taken back."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infold import lazy
from infold.app import OpenVault
from infold.durable.change import Change, ChangeKind, ChangeStatus, Undone
from infold.durable.records import Planned
from infold.errors import (
    EditRefused,
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
from infold.operations.contract import Effect, Face, Group, Message, Nothing
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
    waiting: int = 0
    """Paragraphs that wait in the inbox for the next run: more than `integrate.max_paragraphs` were there."""
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
    """A run, or another change, in a line."""

    run: str
    kind: ChangeKind
    status: RunStatus | ChangeStatus
    created_at: str
    """ISO 8601, UTC."""
    summary: str = ""
    """What it did, where it is no integration; the next four are for these."""
    librarian: str = ""
    integrated: int = 0
    """Paragraphs that went into notes; likewise the next two."""
    duplicate: int = 0
    left: int = 0
    notes: int
    """How many notes it changed."""
    usd: float | None = 0.0


class RunListRequest(Message):
    """Which runs."""

    limit: int | None = Field(default=None, ge=1)
    """Only so many, the newest."""


class RunListAnswer(Message):
    """Runs and other changes, the newest first."""

    runs: tuple[RunSummary, ...]


@operation(Group.INBOX, Effect.READS)
def run_list(vault: OpenVault, request: RunListRequest) -> RunListAnswer:
    """List every change, newest first: integrations, writes, logs, new, renamed, deleted and restored notes."""
    return RunListAnswer(runs=tuple(run_summary(change) for change in vault.all_changes()[: request.limit]))


def run_summary(run: Run | Change) -> RunSummary:
    """A run, or another change, in a line."""
    if isinstance(run, Change):
        return RunSummary.of(run, run=run.id, created_at=run.at, notes=len(run.files))
    counts = {kind: sum(p.outcome == kind for p in run.paragraphs) for kind in ("integrated", "duplicate", "left")}
    notes = sum(change.path != run.inbox for change in run.changes)
    return RunSummary.of(run, run=run.id, kind=ChangeKind.INTEGRATE, notes=notes, usd=run.usage.usd, **counts)


class RunRequest(Message):
    """Which run."""

    run: str = _LAST
    """Its id, a unique beginning of it, or `last`; `w-last` is the newest write or log."""


class ChangedFile(Message):
    """A file that a change made, changed, moved or deleted."""

    file: str
    what: Literal["made", "changed", "deleted"]
    moved_from: str | None


class ChangeRecord(Message):
    """A change that is no integration."""

    id: str
    kind: ChangeKind
    status: ChangeStatus
    at: str
    """ISO 8601, UTC."""
    summary: str
    files: tuple[ChangedFile, ...]
    lost: tuple[str, ...]
    """Files that it did not change, because somebody else did at the same moment."""
    undone_at: str | None


class RunShowAnswer(Message):
    """A run, or another change, whole; the other one is null."""

    run: Run | None = None
    """The paragraphs with their texts and ends, the chunks with every edit, the changed notes, what was paid."""
    change: ChangeRecord | None = None


@operation(Group.INBOX, Effect.READS, errors=(RunNotFound,))
def run_show(vault: OpenVault, request: RunRequest) -> RunShowAnswer:
    """Show a run: its chunks, what was looked at, the edits, what stayed in the inbox and why; or another change."""
    found = vault.find_change(request.run)
    if isinstance(found, Run):
        return RunShowAnswer(run=found)
    files = tuple(ChangedFile.of(file, file=file.path, what=_what(file)) for file in found.files)
    return RunShowAnswer(change=ChangeRecord.of(found, files=files))


def _what(file: Planned) -> Literal["made", "changed", "deleted"]:
    return "made" if file.before is None else "deleted" if file.after is None else "changed"


class FileDiff(Message):
    """How one file changes, as a unified diff."""

    file: str
    diff: str


class RunDiffAnswer(Message):
    """What it changed, or would change."""

    run: str
    diffs: tuple[FileDiff, ...]


@operation(Group.INBOX, Effect.READS, errors=(RunNotFound,))
def run_diff(vault: OpenVault, request: RunRequest) -> RunDiffAnswer:
    """Get what a run or another change did as unified diffs, one a file."""
    run = vault.find_change(request.run)
    diffs = vault.diffs(run).items()
    return RunDiffAnswer(run=run.id, diffs=tuple(FileDiff(file=path, diff=text) for path, text in diffs))


class HunkDecision(Message):
    """What is to become of one hunk of `run_review`."""

    number: int
    """The hunk; the negative number of a paragraph that stays, to send it somewhere."""
    verdict: Literal["accept", "skip", "edit", "send"]
    """`edit` puts `text` in, `send` takes it to another note or section."""
    text: str = ""
    """edit: what takes the place of the found text. send: the text, where it is not the paragraphs as they are."""
    file: str = ""
    """send: the note."""
    section: str = ""
    """send: the heading it goes under; the end of the note without one."""


class RunApplyRequest(RunRequest):
    """Which run, and what of it: all, or what is decided."""

    only: tuple[str, ...] = ()
    """Hunks by number, or all of a note by its path: nothing else is applied."""
    leave_out: tuple[str, ...] = ()
    """Hunks that are not, named likewise."""
    decisions: tuple[HunkDecision, ...] = ()
    """Decisions hunk by hunk; the others are accepted."""
    anew: bool = False
    """Ask again for the chunks of notes that changed since, and keep the others; where hunks are decided, or a model is
    paid without a cap, an edit that fits no more only leaves its paragraphs in the inbox."""


@operation(
    Group.INBOX,
    Effect.WRITES,
    is_idempotent=False,
    errors=(RunNotFound, RunStateWrong, NoteChanged, VaultBusy, StateUnwritable, UsageError, EditRefused),
)
def run_apply(vault: OpenVault, request: RunApplyRequest) -> InboxIntegrateAnswer:
    """Apply a dry run that was reviewed: all of it, or what is decided. Refused where a note has changed since."""
    decisions = {
        each.number: lazy.inbox.review.Decision(
            lazy.inbox.review.HunkVerdict(each.verdict), each.text, each.file, each.section
        )
        for each in request.decisions
    }
    return integrate_answer(
        vault.apply(request.run, only=request.only, leave_out=request.leave_out, decisions=decisions, anew=request.anew)
    )


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
    """Take a run or any other change back, by its id; `w-last` is the newest write or log.

    Later changes elsewhere in a note stay; what cannot be taken back is said exactly.
    """
    done = vault.undo(request.run)
    change = done.change if isinstance(done, Undone) else done.run
    gone = {path for path in done.restored if not (vault.workspace.vault / path).exists()}
    return RunUndoAnswer(
        run=change.id,
        status=str(change.status),
        restored=tuple(path for path in done.restored if path not in gone),
        removed=tuple(path for path in done.restored if path in gone),
        conflicts=tuple(KeptText.of(conflict, file=conflict.path) for conflict in done.conflicts),
    )


class RecoverAnswer(Message):
    """What was finished, a sentence a run."""

    finished: tuple[str, ...]


@operation(
    Group.INBOX,
    Effect.WRITES,
    errors=(VaultBusy, StateUnwritable),
    not_in={Face.CLI: "every command that writes does it first"},
)
def run_recover(vault: OpenVault, request: Nothing) -> RecoverAnswer:  # noqa: ARG001 - the signature of operations
    """Bring runs that were killed while they wrote to their end. Every later write does this too."""
    return RecoverAnswer(finished=tuple(vault.recover()))
