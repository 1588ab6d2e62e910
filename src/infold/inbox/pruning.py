"""Old changes forgotten, to get their room back: the contents they keep, their plans and their reports.

A change keeps all that its own undo needs in its own folder, so that one that goes takes nothing from those that stay.
What is not finished is never old.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from infold.durable.change import Change
from infold.durable.change_store import ChangeStore
from infold.durable.changes import Changes
from infold.inbox.all_changes import all_changes
from infold.inbox.run import Run
from infold.workspace import Workspace


@dataclass(frozen=True, slots=True)
class OldChange:
    """A change that is older than what is kept, and the room that it takes."""

    change: Run | Change
    bytes_on_disk: int


def old_changes(workspace: Workspace, days: int, keep: int, now: datetime | None = None) -> list[OldChange]:
    """The changes made more than `days` ago, newest first, but for the newest `keep` and what is not finished."""
    store = ChangeStore(workspace.runs)
    unfinished = set(store.pending())
    before = (now or datetime.now(UTC)) - timedelta(days=days)
    old = (each for each in all_changes(workspace)[keep:] if _made_at(each) < before and each.id not in unfinished)
    return [OldChange(each, _size(store.path(each.id))) for each in old]


def prune(workspace: Workspace, days: int, keep: int, now: datetime | None = None) -> list[OldChange]:
    """Forgets them: they can be neither shown nor taken back any more. Raises VaultBusy, StateUnwritable."""
    with Changes(workspace).held():
        gone = old_changes(workspace, days, keep, now)
        store = ChangeStore(workspace.runs)
        for each in gone:
            store.drop(each.change.id)
    return gone


def room(old: Sequence[OldChange]) -> int:
    """The bytes that they take."""
    return sum(each.bytes_on_disk for each in old)


def _made_at(change: Run | Change) -> datetime:
    made = datetime.fromisoformat(change.created_at if isinstance(change, Run) else change.at)
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
