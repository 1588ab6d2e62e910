"""Taking a change back: exact bytes where nothing changed since, a three-way merge of lines where something did.

What cannot be taken back stays as it stands and is named. Only what is to be done is decided here; doing it belongs to
`durable.changes` and, for an integration and its inbox, to `inbox.undo`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from infold.durable.blobs import Blobs
from infold.durable.journal import Journal
from infold.durable.merge import holds_change, joined, merge
from infold.durable.records import FileChange, Planned, Transaction, moment
from infold.errors import NoteChanged

UNDO: Final = "undo"  # the label of its entries
_ATTEMPTS: Final = 5


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

    def add(
        self,
        path: str,
        current: bytes | None,
        wanted: bytes | None,
        found: Sequence[Conflict] = (),
        *,
        needs_all: bool = False,
    ) -> None:
        """One file: what it is to become, and what of it cannot be taken back."""
        self.conflicts += found
        if not found:
            self.restored.append(path)
        if wanted != current:
            self.changes.append(FileChange(path, current, wanted, needs_all=needs_all or wanted is None))

    def stays(self, path: str, reason: str) -> None:
        """A file that stays as it is."""
        self.conflicts.append(Conflict(path, "", reason))


def carry_out(journal: Journal, plan_without: Callable[[Collection[str]], UndoPlan]) -> Transaction:
    """Takes a change back by entries of its journal, also one that was stopped; gives the last entry.

    `plan_without` gives the plan but for the files that are taken back already. What somebody saves meanwhile is looked
    at again, so that nothing is left half taken back. Raises NoteChanged, with nothing done, where that goes on.
    """
    entry = next((entry for entry in reversed(journal.transactions()) if entry.intent.label == UNDO), None)
    settled: set[str] = set() if entry is None else _settled(journal, entry)
    for attempt in range(_ATTEMPTS):
        if entry is not None and not _open_paths(entry) - settled:
            return entry
        plan = plan_without(settled)
        restored, conflicts = ([], []) if entry is None else _so_far(entry, settled)
        try:
            entry = journal.apply(
                plan.changes, UNDO, undo_data([*restored, *plan.restored], [*conflicts, *plan.conflicts])
            )
        except NoteChanged:
            if attempt == _ATTEMPTS - 1:
                raise
            continue
        settled |= _settled(journal, entry)
    if entry is None:
        raise AssertionError("the loop makes an entry or raises")
    return entry


def undo_plan(journal: Journal, files: Sequence[Planned], settled: Collection[str] = ()) -> UndoPlan:
    """What takes these file changes back, on the files as they are now. What is removed comes last."""
    plan = UndoPlan()
    moved = {file.moved_from: file for file in files if file.moved_from}
    for file in files:
        current = journal.current(file.path)
        if file.moved_from or (file.path in settled and file.path not in moved):
            continue
        if file.path in moved:
            _move_back(plan, journal, file, moved[file.path], is_back=file.path in settled)
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
    return {
        "restored": list(dict.fromkeys(restored)),
        "conflicts": [[c.path, c.text, c.reason] for c in conflicts],
        "at": moment(),
    }


def undo_outcome(entry: Transaction) -> tuple[tuple[str, ...], tuple[Conflict, ...]]:
    """The files that the undo of `entry` put back, and what had to stay."""
    changed = _open_paths(entry)
    conflicts = [Conflict(*fields) for fields in entry.intent.data["conflicts"]]
    conflicts += [Conflict(path, "", "it was changed while this was being undone") for path in changed]
    return tuple(path for path in entry.intent.data["restored"] if path not in changed), tuple(conflicts)


def _unmake(plan: UndoPlan, journal: Journal, file: Planned, current: bytes | None) -> None:
    if current is None or (file.after is not None and current == journal.blobs.get(file.after)):
        plan.add(file.path, current, None)
    else:
        plan.stays(file.path, "it was changed since it was made; it stays")


def _open_paths(entry: Transaction) -> set[str]:
    return {*entry.done.conflicts, *entry.done.withheld} if entry.done else set()


def _settled(journal: Journal, entry: Transaction) -> set[str]:
    """The files that are taken back, also those that somebody changed right after."""
    settled = set(entry.done.written) if entry.done else set()
    for file in entry.intent.files:
        if file.path in _open_paths(entry) and file.before and file.after:
            before, after = journal.blobs.get(file.before), journal.blobs.get(file.after)
            if holds_change(before, after, journal.current(file.path) or b""):
                settled.add(file.path)
    return settled


def _so_far(entry: Transaction, settled: Collection[str]) -> tuple[list[str], list[Conflict]]:
    restored = [path for path in entry.intent.data["restored"] if path in settled]
    return restored, [c for fields in entry.intent.data["conflicts"] if (c := Conflict(*fields)).path in settled]


def _move_back(plan: UndoPlan, journal: Journal, old: Planned, new: Planned, *, is_back: bool) -> None:
    """A moved file gets its name again, with what was written into it since."""
    there = journal.current(new.path)
    if is_back:
        if there is not None and there in (journal.blobs.get(new.after or ""), journal.current(old.path)):
            plan.changes.append(FileChange(new.path, there, None, needs_all=True))
        elif there is not None:
            plan.stays(new.path, "it was changed while this was being undone; it stays")
        return
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
