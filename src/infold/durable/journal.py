"""A set of file changes, written ahead: all of them happen, whenever the process is killed.

Contents are stored first, then an intent record, then each file is changed, then a record says it is done. An intent
without that record is finished by `recover`. A file that is not what the intent expects was changed by a person since:
it is left alone and named. How a file changes while an editor may be saving it belongs to `durable.replacing`; what a
change is, and what becomes of conflicts, to `durable.changes`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from infold.durable.blobs import Blobs
from infold.durable.files import Disk, together, unwritable
from infold.durable.records import Done, FileChange, Intent, JournalRecord, Kept, Planned, Transaction
from infold.durable.replacing import Replacement
from infold.durable.steps import FileStep, Outcome, hash_of, rounds
from infold.errors import InfoldError, NoteChanged, PathRefused, RunStateWrong, StateUnwritable

FORMAT: Final = 2  # of intents; 1 knew no deletions, no folders, and no version
_INTENT: Final = ".intent.json"
_DONE: Final = ".done.json"
_R = TypeVar("_R", bound=JournalRecord)


class Journal:
    """The journal in `folder` of changes to files below `root`. Whoever uses it holds the vault's lock."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._folder = folder
        self._root = root
        self._disk = Disk()
        self.blobs = Blobs(folder / "blobs", self._disk)

    def apply(self, changes: Sequence[FileChange], label: str, data: dict[str, Any] | None = None) -> Transaction:
        """Makes all changes, durably.

        Raises NoteChanged, with the paths, where a file is not as expected; PathRefused and StateUnwritable before
        anything is written where that can be known. A StateUnwritable in the middle leaves the transaction open, for
        `recover`.
        """
        changed = tuple(change.path for change in changes if self.current(change.path) != change.before)
        if changed:
            raise NoteChanged(f"Changed since it was read: {', '.join(changed)}.", paths=changed)
        for change in changes:
            self._check_writable(self._target(change.path))
        return self._roll_forward(self._begin(changes, label, data))

    def _begin(self, changes: Sequence[FileChange], label: str, data: dict[str, Any] | None) -> Transaction:
        hashes = iter(self.blobs.put_all(data for c in changes for data in (c.before, c.after) if data is not None))
        planned = tuple(
            Planned(
                path=change.path,
                before=None if change.before is None else next(hashes),
                after=None if change.after is None else next(hashes),
                needs_all=change.needs_all,
                moved_from=change.moved_from,
            )
            for change in changes
        )
        number = len(self._numbers()) + 1
        intent = Intent(
            format=FORMAT, label=label, files=planned, folders=self._missing_folders(changes), data=data or {}
        )
        self._disk.make_folder(self._records)
        self._disk.write_whole(self._records / f"{number:04d}{_INTENT}", intent.model_dump_json(indent=1).encode())
        return Transaction(number, intent, None)

    def recover(self) -> list[Transaction]:
        """Finishes what was begun and not finished, and gives what it finished."""
        return [self._roll_forward(entry) for entry in self.transactions() if entry.done is None]

    def withdraw(self) -> bool:
        """Takes an only, open entry back, after a fault in the middle: the files as before, and no journal any more.

        False where that cannot be: then it stays open, for `recover`.
        """
        entries = self.transactions()
        if len(entries) > 1 or (entries and entries[0].done is not None):
            return False
        try:
            for entry in entries:
                self._roll_back(entry.intent)
        except InfoldError:
            return False
        shutil.rmtree(self._folder, ignore_errors=True)
        return not self._folder.exists()

    def transactions(self) -> list[Transaction]:
        """All that was ever begun, in order. Raises RunStateWrong where a record is damaged."""
        entries = []
        for number in self._numbers():
            intent = self._read(Intent, f"{number:04d}{_INTENT}")
            entries.append(Transaction(number, intent, self._done(number)))
        return entries

    def current(self, path: str) -> bytes | None:
        """The bytes a file has now, None where there is none."""
        return self._at(path).current()

    def remove_folders(self, folders: Sequence[str]) -> None:
        """Removes those of `folders` that are empty: what a change had made goes with it."""
        for folder in sorted(folders, key=len, reverse=True):
            try:
                self._target(folder).rmdir()
            except OSError:  # not empty, or gone
                continue

    @cached_property
    def _real_root(self) -> Path:
        return self._root.resolve()

    @property
    def _records(self) -> Path:
        return self._folder / "journal"

    def _numbers(self) -> list[int]:
        return sorted(int(path.name.removesuffix(_INTENT)) for path in self._records.glob(f"[0-9]*{_INTENT}"))

    def _read(self, kind: type[_R], name: str) -> _R:
        path = self._records / name
        try:
            return kind.model_validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError) as error:
            raise RunStateWrong(f"The journal record {path} cannot be read: {error}") from error
        except OSError as error:
            raise StateUnwritable(f"{path} cannot be read: {error.strerror or error}.") from error

    def _write_done(self, number: int, done: Done) -> None:
        record = done.model_dump_json(indent=1).encode()
        self._disk.write_whole(self._records / f"{number:04d}{_DONE}", record, is_durable=False)

    def _done(self, number: int) -> Done | None:
        """How it ended; None also where a power cut tore the record: then what it says is found out again."""
        try:
            return self._read(Done, f"{number:04d}{_DONE}")
        except RunStateWrong:
            return None

    def _missing_folders(self, changes: Sequence[FileChange]) -> tuple[str, ...]:
        missing: dict[str, None] = {}
        for change in changes:
            if change.after is None or Path(change.path).is_absolute():
                continue
            for folder in list(Path(change.path).parents)[:-1]:
                if not (self._root / folder).is_dir():
                    missing[folder.as_posix()] = None
        return tuple(missing)

    def _roll_forward(self, entry: Transaction) -> Transaction:
        outcome = Outcome()
        for files in rounds(entry.intent.files, self._target):
            if files[0].needs_all and outcome.conflicts:
                self._tidy(files[0], self._at(files[0].path))
                outcome.withheld.append(files[0].path)
            else:
                self._bring_about(files, outcome)
        done = outcome.done()
        self._write_done(entry.number, done)
        return Transaction(entry.number, entry.intent, done)

    def _bring_about(self, files: Sequence[Planned], outcome: Outcome) -> None:
        """Gives files their new bytes, unless they have them; one that is neither as before nor as after conflicts.

        All new bytes lie ready, durably, before the first file gets them; then the folders are synced, each once.
        """
        folders: dict[Path, None] = {}
        steps = [FileStep(file, self._at(file.path, folders.setdefault)) for file in files]
        try:
            for step in steps:
                self._tidy(step.file, step.place)
                step.current = step.place.current()
            together([partial(self._prepare, step) for step in steps if step.is_put])
            for step in steps:
                (outcome.written if step.carried_out() else outcome.conflicts).append(step.file.path)
        finally:
            for step in steps:
                step.place.without_part()
        together([partial(self._disk.sync_folder, folder) for folder in folders])
        for step in steps:
            kept = self.blobs.put_all(step.place.kept)
            outcome.kept += [Kept(path=step.file.path, content=name) for name in kept]

    def _prepare(self, step: FileStep) -> None:
        file = step.file
        self._disk.make_folder(step.place.folder)
        step.after = self.blobs.get(file.after or "")
        step.place.prepare(step.after, self._target(file.moved_from) if file.moved_from else None)

    def _roll_back(self, intent: Intent) -> None:
        for file in intent.files:
            place = self._at(file.path)
            self._tidy(file, place)
            current = place.current()
            if hash_of(current) == file.after and file.after != file.before:
                if file.before is not None:
                    place.put(current, self.blobs.get(file.before))
                elif current is not None:
                    place.take_away(current)
        self.remove_folders(intent.folders)

    def _tidy(self, file: Planned, place: Replacement) -> None:
        if not place.is_left():
            return
        before, after = (None if name is None else self.blobs.get(name) for name in (file.before, file.after))
        place.tidy(before, after)

    def _at(self, path: str, sync: Callable[[Path], object] | None = None) -> Replacement:
        return Replacement(self._disk, self._target(path), sync)

    def _target(self, path: str) -> Path:
        """The real file behind a path: a symlink inside the root is written through, one that leads out is refused."""
        if not path or "\0" in path or ".." in Path(path).parts:
            raise PathRefused(f"{path!r} is not a path within the vault.")
        target = (self._root / path).resolve()
        if not Path(path).is_absolute() and not target.is_relative_to(self._real_root):
            raise PathRefused(f"{path} leads out of the vault, to {target}.")
        return target

    def _check_writable(self, target: Path) -> None:
        folder = target.parent
        if folder.is_dir():
            with unwritable(target):
                if not os.access(folder, os.W_OK | os.X_OK) or (target.exists() and not os.access(target, os.W_OK)):
                    raise PermissionError(13, "Permission denied")
