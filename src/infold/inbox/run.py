"""What a run is: the plan, each paragraph's outcome, and the record that reports and undo read.

Pure records. Folders and files of runs belong to `inbox.runs`, pages to `inbox.report`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from infold.librarian.spend import Usage


class RunPart(BaseModel):
    """A frozen record that is kept as JSON, under its own names; in answers to programs the names are camelCase."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)


class RunStatus(StrEnum):
    """Where a run stands."""

    PLANNED = "planned"  # a dry run, or not yet applied
    APPLYING = "applying"  # the journal is open; recovery finishes it
    APPLIED = "applied"
    PARTIAL = "partial"  # applied, with paragraphs left in the inbox
    NOTHING_TO_DO = "nothing-to-do"
    UNDONE = "undone"
    PARTLY_UNDONE = "partly-undone"


class StopReason(StrEnum):
    """Which rule ended an exploration. Reports and evaluations count them by this list."""

    READY = "ready"  # the librarian chose notes, or none, while it might have viewed more
    ROUNDS = "rounds"  # the last round was used
    VIEWS = "views"  # as many notes were viewed as may be
    NOTHING_LEFT = "nothing-left"  # no note was left to view


class EditRecord(RunPart):
    """One edit or duplicate marker of a chunk."""

    file: str
    kind: Literal["edit", "duplicate"]
    find: str
    replace: str | None
    paragraphs: tuple[int, ...]
    applied: bool = False
    reason: str = ""  # why this note and this place, where the librarian says


class ChunkRecord(RunPart):
    """What was done for one chunk."""

    id: int
    paragraphs: tuple[int, ...]
    viewed: tuple[str, ...] = ()
    checked_out: tuple[str, ...] = ()
    stopped: StopReason | None = None  # None where it was never begun
    edits: tuple[EditRecord, ...] = ()
    reason: str | None = None  # why nothing could be done, where that is so
    usage: Usage = Usage()


class ParagraphRecord(RunPart):
    """How a paragraph ended (DESIGN, promise 2). `file` is the edit's note, `quote` what covers a duplicate."""

    n: int
    text: str
    outcome: Literal["integrated", "duplicate", "left"]
    chunk: int | None = None
    file: str | None = None
    quote: str | None = None
    reason: str | None = None


class NoteChange(RunPart):
    """One file that the run changes: content hashes before and after. The run's folder keeps the bytes by hash."""

    path: str  # vault-relative; the inbox may be an absolute path
    before: str
    after: str


class SkippedFile(RunPart):
    """A file that was passed over, and why."""

    path: str
    reason: str


class Run(RunPart):
    """One integration, whole."""

    id: str
    status: RunStatus
    vault: str
    state: str = ""  # the state folder that the run is kept in
    inbox: str
    created_at: str  # ISO 8601, UTC
    librarian: str
    paragraphs: tuple[ParagraphRecord, ...] = ()
    waiting: int = 0  # paragraphs of the inbox that this run did not look at: more than one run takes
    chunks: tuple[ChunkRecord, ...] = ()
    changes: tuple[NoteChange, ...] = ()  # notes in the order they are written, the inbox last
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
    applied_at: str | None = None  # ISO 8601, UTC
    undone_at: str | None = None


def placed(run: Run, *, except_in: Iterable[str] = ()) -> list[ParagraphRecord]:
    """The paragraphs that leave the inbox: all that are not left, without those with an edit in one of these notes."""
    lost = set(except_in)
    held = {
        n
        for chunk in run.chunks
        for edit in chunk.edits
        if edit.kind == "edit" and edit.file in lost
        for n in (edit.paragraphs or chunk.paragraphs)
    }
    return [p for p in run.paragraphs if p.outcome != "left" and p.n not in held]
