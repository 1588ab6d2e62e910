"""What a change is: its kind, its files, how it stands. Read from the entries of its journal.

Making one belongs to `durable.changes`, what an integration is to `inbox.run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from infold.durable.records import Planned, Transaction
from infold.durable.undo import UNDO, Conflict, undo_outcome

APPLY: Final = "apply"
MEND: Final = "mend"


class ChangeKind(StrEnum):
    """What a change does."""

    INTEGRATE = "integrate"
    WRITE = "write"
    LOG = "log"
    CREATE = "create"
    RENAME = "rename"
    DELETE = "delete"
    RESTORE = "restore"


class ChangeStatus(StrEnum):
    """Where a change stands."""

    UNFINISHED = "unfinished"  # stopped in the middle; the next start finishes it
    APPLIED = "applied"
    PARTIAL = "partial"  # applied, except in files that somebody changed meanwhile
    UNDONE = "undone"
    PARTLY_UNDONE = "partly-undone"


@dataclass(frozen=True, slots=True)
class Change:
    """One change as it stands; contents by hash, in its folder. `lost`: files that somebody changed meanwhile."""

    id: str
    kind: ChangeKind
    at: str  # ISO 8601, UTC
    summary: str
    status: ChangeStatus
    files: tuple[Planned, ...]
    lost: tuple[str, ...] = ()
    undone_at: str | None = None


@dataclass(frozen=True, slots=True)
class Undone:
    """A change after its undo, the files that are without it again, and what had to stay."""

    change: Change
    restored: tuple[str, ...]
    conflicts: tuple[Conflict, ...]


def when(moment: str | None) -> str:
    """A kept moment as a person reads it."""
    return f"{(moment or '')[:16].replace('T', ' ')} UTC"


def change_of(change_id: str, entries: Sequence[Transaction]) -> Change:
    """The change that these entries of its journal tell of."""
    facts = entries[0].intent.data
    undone = next((entry for entry in reversed(entries) if entry.intent.label == UNDO), None)
    lost = tuple(next((e.intent.data["lost"] for e in reversed(entries) if "lost" in e.intent.data), ()))
    return Change(
        id=change_id,
        kind=ChangeKind(facts["kind"]),
        at=facts["at"],
        summary=facts["summary"],
        status=_status(entries, undone, lost),
        files=_files(entries, lost),
        lost=lost,
        undone_at=undone.intent.data.get("at", facts["at"]) if undone and undone.done else None,
    )


def _files(entries: Sequence[Transaction], lost: Sequence[str]) -> tuple[Planned, ...]:
    """The files as they were in the end: a later entry made the change on what somebody had written meanwhile."""
    files = {file.path: file for file in entries[0].intent.files}
    for entry in entries[1:]:
        if entry.intent.label == MEND and entry.done:
            files |= {file.path: file for file in entry.intent.files if file.path in entry.done.written}
    return tuple(file for path, file in files.items() if path not in lost)


def _status(entries: Sequence[Transaction], undone: Transaction | None, lost: Sequence[str]) -> ChangeStatus:
    if any(entry.done is None for entry in entries):
        return ChangeStatus.UNFINISHED
    if undone is not None:
        return ChangeStatus.PARTLY_UNDONE if undo_outcome(undone)[1] else ChangeStatus.UNDONE
    return ChangeStatus.PARTIAL if lost else ChangeStatus.APPLIED
