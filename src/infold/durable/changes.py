"""The one way to write into a vault: a change is planned, shown, journaled, applied, and can be taken back.

    changes = Changes(workspace)
    plan = changes.plan(Kind.RENAME, [
        FileChange("new.md", None, text, moved_from="old.md"),     # made
        FileChange("links.md", before, after),                     # its links rewritten
        FileChange("old.md", text, None, needs_all=True),          # gone only when all else stands
    ], "old.md is new.md")
    print("".join(plan.diffs().values()))
    change = plan.apply()                                          # NoteChanged where a file is not `before` any more
    changes.undo(change.id)

A `FileChange` says what a file must hold (`before`, None: must not exist) and what it gets (`after`, None: goes). All
of a change is done, whenever the process is killed: the next `held` or `recover` finishes it. What somebody saves at
the same moment is never lost: a change of one file that meets it raises NoteChanged and leaves nothing behind, one of
several is merged line by line and names in `Change.lost` what could not be. Everything that was replaced or deleted is
kept by content in the change's folder, so that `undo`, `plan_restore` and `diffs` need nothing else.

Integrations are changes with a record, a report and an inbox of their own: `inbox.runs`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Final, Self

from infold.durable.change import APPLY, MEND, Change, ChangeKind, Undone, change_of, when
from infold.durable.change_store import SMALL, ChangeStore, by_time
from infold.durable.journal import Journal
from infold.durable.locks import WAIT_SECONDS, vault_lock
from infold.durable.records import FileChange, Transaction
from infold.durable.undo import UNDO, carry_out, undo_outcome, undo_plan
from infold.durable.unfinished import is_unfinished
from infold.durable.unified import unified
from infold.errors import InfoldError, NoteChanged, RunNotFound, RunStateWrong, StateUnwritable
from infold.workspace import Workspace

_log: Final = logging.getLogger(__name__)

MOST_SMALL: Final = 500  # writes and logs that are kept; everything else stays
LAST_SMALL: Final = f"{SMALL}last"
_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A change that can be looked at before it is made."""

    changes: Changes
    kind: ChangeKind
    files: tuple[FileChange, ...]
    summary: str

    def diffs(self) -> dict[str, str]:
        """The unified diff of each file, by path."""
        return {file.path: unified(_text(file.before), _text(file.after), file.path) for file in self.files}

    def apply(self) -> Change:
        """Makes it. Raises NoteChanged where a file is not as planned, VaultBusy, PathRefused, StateUnwritable."""
        return self.changes.apply(self)


class Changes:
    """All changes of a vault but its integrations."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._store = ChangeStore(workspace.runs)

    @contextmanager
    def held(self, wait_seconds: float = WAIT_SECONDS) -> Iterator[Self]:
        """The vault, held for this caller, with everything finished that a stopped process left. Raises VaultBusy."""
        with vault_lock(self._workspace, wait_seconds):
            self._recover()
            yield self

    def plan(self, kind: ChangeKind, files: Sequence[FileChange], summary: str) -> PlannedChange:
        """A change of these files, in this order. `summary` says in a line what it does."""
        return PlannedChange(self, kind, tuple(files), summary)

    def plan_restore(self, name: str, path: str, to: str | None = None) -> PlannedChange:
        """The bytes that `path` had before a change, at `to` or in its own place again."""
        change = self.find(name)
        before = next((file.before for file in change.files if file.path == path), None)
        if before is None:
            raise RunStateWrong(f"{change.id} replaced or deleted no {path}.", hint=f"`infold show {change.id}`")
        target = to or path
        current = self._journal(change.id).current(target)
        files = [FileChange(target, current, self._store.blobs(change.id).get(before))]
        return self.plan(ChangeKind.RESTORE, files, f"{target} as it was before {change.id}")

    def apply(self, plan: PlannedChange) -> Change:
        """Makes a change. Raises as `PlannedChange.apply` says, and then nothing is changed."""
        with self.held():
            moment = datetime.now(UTC)
            change_id = self._store.new_id(moment, SMALL if plan.kind in (ChangeKind.WRITE, ChangeKind.LOG) else "")
            journal = self._journal(change_id)
            self._store.mark_pending(change_id)
            facts = {"kind": str(plan.kind), "at": moment.isoformat(timespec="seconds"), "summary": plan.summary}
            try:
                entry = journal.apply(plan.files, APPLY, facts)
            except InfoldError:
                if journal.withdraw():
                    self._store.clear_pending(change_id)
                raise
            if entry.done and entry.done.conflicts and not entry.done.written and not entry.done.kept:
                self._store.drop(change_id)
                paths = entry.done.conflicts
                raise NoteChanged(f"Changed meanwhile: {', '.join(paths)}.", hint="Do it again.", paths=paths)
            entries = [entry, *self._mend(journal, entry)]
            _log.info("change %s: %s of %d files", change_id, plan.kind, len(plan.files))
            with suppress(StateUnwritable):  # all is written; what is left of this, the next start does
                self._store.clear_pending(change_id)
                self._store.forget_oldest(MOST_SMALL)
            return change_of(change_id, entries)

    def undo(self, name: str) -> Undone:
        """Takes a change back, what was written elsewhere in its files since kept; what has to stay is named.

        Raises RunNotFound; RunStateWrong where it was taken back already; VaultBusy; StateUnwritable.
        """
        with self.held():
            change = self.find(name)
            if change.undone_at is not None:
                raise RunStateWrong(f"{change.id} was already undone on {when(change.undone_at)}.")
            journal = self._journal(change.id)
            self._store.mark_pending(change.id)
            try:
                entry = self._undo(journal, change)
            except NoteChanged:
                self._store.clear_pending(change.id)
                raise
            self._store.clear_pending(change.id)
            return Undone(self.load(change.id), *undo_outcome(entry))

    def recover(self) -> list[str]:
        """Finishes what stopped processes left, and says what, a sentence each. Cheap where there is nothing."""
        if not is_unfinished(self._workspace):
            return []
        with vault_lock(self._workspace):
            return self._recover()

    def newest_first(self) -> list[Change]:
        """All changes that can be read, newest first."""
        found = [change for name in self._store.ids() if (change := self._loaded(name)) is not None]
        return sorted(found, key=lambda change: by_time(change.id), reverse=True)

    def load(self, change_id: str) -> Change:
        """The change of that id. Raises RunNotFound, RunStateWrong where its record is damaged."""
        entries = self._journal(change_id).transactions()
        if not entries or "kind" not in entries[0].intent.data:
            raise RunNotFound(f"There is no change {change_id}.", hint="`infold runs` lists them.")
        return change_of(change_id, entries)

    def find(self, name: str) -> Change:
        """The change of that id or unique beginning; for `w-last` the newest write that stands.

        Raises as `load` does.
        """
        ids = [change_id for change_id in self._store.ids() if not (self._store.path(change_id) / "run.json").exists()]
        if name == LAST_SMALL:
            small = (self._loaded(change_id) for change_id in reversed(ids) if change_id.startswith(SMALL))
            found = [change.id for change in islice((c for c in small if c and c.undone_at is None), 1)]
        else:
            found = [i for i in ids if i == name] or [i for i in ids if i.startswith(name)]
        if len(found) != 1:
            which = f"{len(found)} changes begin with {name!r}" if found else f"There is no change {name!r}"
            raise RunNotFound(f"{which}.", hint="`infold runs` lists them; the newest 500 writes are kept.")
        return self.load(found[0])

    def diffs(self, change: Change) -> dict[str, str]:
        """The unified diff of each file that a change changed, by path."""
        blobs = self._store.blobs(change.id)
        texts = [[name and _text(blobs.get(name)) for name in (file.before, file.after)] for file in change.files]
        return {
            file.path: unified(before, after, file.path)
            for file, (before, after) in zip(change.files, texts, strict=True)
        }

    def _journal(self, change_id: str) -> Journal:
        return self._store.journal(change_id, self._workspace.vault)

    def _loaded(self, name: str) -> Change | None:
        try:
            return self.load(name)
        except (RunNotFound, RunStateWrong):
            return None

    def _undo(self, journal: Journal, change: Change) -> Transaction:
        files = [file for file in change.files if file.path not in change.lost]
        entry = carry_out(journal, lambda settled: undo_plan(journal, files, settled))
        journal.remove_folders(journal.transactions()[0].intent.folders)
        return entry

    def _recover(self) -> list[str]:
        """What integrations left is only brought to its end in the vault; their records belong to `inbox.runs`."""
        said = []
        for change_id in self._store.pending():
            journal = self._journal(change_id)
            try:
                finished = journal.recover()
                entries = journal.transactions()
            except RunStateWrong as damage:
                said.append(f"{change_id} was stopped and cannot be finished: {damage}")
                continue
            if (self._store.path(change_id) / "run.json").exists():
                continue
            if not entries:
                self._store.drop(change_id)
                continue
            if entries[-1].intent.label == UNDO:
                self._undo(journal, change_of(change_id, entries))
            else:
                self._mend(journal, entries[-1])
            self._store.clear_pending(change_id)
            said += [_sentence(change_id, entries)] if finished else []
        return said

    def _mend(self, journal: Journal, entry: Transaction) -> list[Transaction]:
        """Makes the changes that `entry` could not make, on the files as they are now; what cannot be is named."""
        mended: list[Transaction] = []
        for _ in range(_ATTEMPTS):
            if entry.done is None or not (entry.done.conflicts or entry.done.withheld):
                break
            changes, lost = _mending(journal, entry)
            with suppress(NoteChanged):
                entry = journal.apply(changes, MEND, {"lost": lost})
                mended.append(entry)
        return mended


def _mending(journal: Journal, entry: Transaction) -> tuple[list[FileChange], list[str]]:
    from infold.durable.merge import holds_change, merge

    done = entry.done
    open_paths = {*done.conflicts, *done.withheld} if done else set()
    lost: list[str] = list(entry.intent.data.get("lost", []))
    changes: list[FileChange] = []
    for file in entry.intent.files:
        if file.path not in open_paths:
            continue
        current = journal.current(file.path)
        before, after = (None if name is None else journal.blobs.get(name) for name in (file.before, file.after))
        if before is None or current is None:
            lost.append(file.path)
        elif after is None:
            if current == before and not any(path in lost for path in _made(entry)):
                changes.append(FileChange(file.path, current, None))
            else:
                lost.append(file.path)
        elif not holds_change(before, after, current):
            merged = merge(before, after, current)
            if merged.conflicts or merged.data == current:
                lost.append(file.path)
            else:
                changes.append(FileChange(file.path, current, merged.data))
    return changes, lost


def _made(entry: Transaction) -> list[str]:
    return [file.path for file in entry.intent.files if file.before is None]


def _sentence(change_id: str, entries: Sequence[Transaction]) -> str:
    what = "The undo of " if entries[-1].intent.label == UNDO else "The change "
    return f"{what}{change_id} ({entries[0].intent.data.get('summary', '')}) was stopped; it is finished now."


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", errors="replace")
