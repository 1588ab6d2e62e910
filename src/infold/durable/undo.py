"""Taking a change back: exact bytes where nothing changed since, a three-way merge of lines where something did.

What cannot be taken back stays as it stands and is named. Only what is to be done is decided here; doing it belongs to
`durable.changes` and, for an integration and its inbox, to `inbox.undo`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from infold.durable.blobs import Blobs
from infold.durable.journal import FileChange, Journal, Planned, Transaction
from infold.durable.merge import joined, merge


@dataclass(frozen=True, slots=True)
class Conflict:
    """What could not be taken back: the text that stays, where, and why."""

    path: str
    text: str
    reason: str


@dataclass(slots=True)
class UndoPlan:
    """The file changes that take a change back, the files that are without it then, and what has to stay."""

    changes: list[FileChange] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)

    def add(self, path: str, current: bytes | None, wanted: bytes | None, found: Sequence[Conflict] = ()) -> None:
        """One file: what it is to become, and what of it cannot be taken back."""
        self.conflicts += found
        if not found:
            self.restored.append(path)
        if wanted != current:
            self.changes.append(FileChange(path, current, wanted, needs_all=wanted is None))

    def stays(self, path: str, reason: str) -> None:
        """A file that stays as it is."""
        self.conflicts.append(Conflict(path, "", reason))


def undo_plan(journal: Journal, files: Sequence[Planned]) -> UndoPlan:
    """What takes these file changes back, on the files as they are now. What is removed comes last."""
    plan = UndoPlan()
    moved = {file.moved_from: file for file in files if file.moved_from}
    for file in files:
        current = journal.current(file.path)
        if file.moved_from:
            continue
        if file.path in moved:
            _move_back(plan, journal, file, moved[file.path])
        elif file.before is None:
            _unmake(plan, journal, file, current)
        elif file.after is None:
            if current is None or current == journal.blobs.get(file.before):
                plan.add(file.path, current, journal.blobs.get(file.before))
            else:
                plan.stays(file.path, "there is a file of that name again; what was deleted is kept with the change")
        else:
            wanted, found = text_back(journal.blobs, file.path, file.before, file.after, current)
            plan.add(file.path, current, wanted, found)
    plan.changes.sort(key=lambda change: change.after is None)
    return plan


def text_back(
    blobs: Blobs, path: str, before: str, after: str, current: bytes | None
) -> tuple[bytes | None, list[Conflict]]:
    """What a changed file becomes when its change, given by hashes, is taken back; and what of it has to stay."""
    old, new = blobs.get(before), blobs.get(after)
    if current is None:
        return None, [Conflict(path, "", "it was deleted since; it is not created again")]
    if current in (old, new):
        return old, []
    merged = merge(new, old, current)
    reason = "this was changed since, in the same lines; it stays as it stands"
    return merged.data, [Conflict(path, joined([lines]), reason) for lines in merged.conflicts]


def undo_data(restored: Sequence[str], conflicts: Iterable[Conflict]) -> dict[str, Any]:
    """What an undo tells its journal entry, so that its result is known whoever finishes it."""
    return {"restored": list(restored), "conflicts": [[c.path, c.text, c.reason] for c in conflicts]}


def undo_outcome(entry: Transaction) -> tuple[tuple[str, ...], tuple[Conflict, ...]]:
    """The files that the undo of `entry` put back, and what had to stay."""
    changed = entry.done.conflicts + entry.done.withheld if entry.done else ()
    conflicts = [Conflict(*fields) for fields in entry.intent.data["conflicts"]]
    conflicts += [Conflict(path, "", "it was changed while this was being undone") for path in changed]
    return tuple(path for path in entry.intent.data["restored"] if path not in changed), tuple(conflicts)


def _unmake(plan: UndoPlan, journal: Journal, file: Planned, current: bytes | None) -> None:
    if current is None or (file.after is not None and current == journal.blobs.get(file.after)):
        plan.add(file.path, current, None)
    else:
        plan.stays(file.path, "it was changed since it was made; it stays")


def _move_back(plan: UndoPlan, journal: Journal, old: Planned, new: Planned) -> None:
    """A moved file gets its name again, with what was written into it since."""
    there = journal.current(new.path)
    if journal.current(old.path) is not None:
        plan.stays(old.path, f"there is a file of that name again; {new.path} stays")
        return
    wanted, found = text_back(journal.blobs, new.path, old.before or "", new.after or "", there)
    if there is None or wanted is None:
        plan.conflicts += found
        return
    plan.changes.append(FileChange(old.path, None, wanted, moved_from=new.path))
    plan.changes.append(FileChange(new.path, there, None, needs_all=True))
    plan.conflicts += found
    plan.restored += [old.path]
