"""A set of file changes, written ahead: all of them happen, whenever the process is killed.

Contents are stored first, then an intent record, then each file is replaced, then a record says it is done. An intent
without that record is finished by `recover`. A file that is not what the intent expects was changed by a person since:
it is left alone and named. What a run is, and what becomes of conflicts, belongs to `inbox.runs`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from infold.durable.blobs import Blobs
from infold.durable.files import Disk, unwritable
from infold.errors import NoteChanged, PathRefused, RunStateWrong, StateUnwritable
from infold.text import content_hash

_INTENT: Final = ".intent.json"
_DONE: Final = ".done.json"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file to change: the bytes it must have now (None: it must not exist) and those it gets.

    `path` is relative to the journal's root, or absolute. With `needs_all` it is written only when every change before
    it stands: so text leaves the inbox only when it is in the notes.
    """

    path: str
    before: bytes | None
    after: bytes
    needs_all: bool = False


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


_R = TypeVar("_R", bound=_Record)


class Planned(_Record):
    """A file change as the journal keeps it: contents by hash."""

    path: str
    before: str | None
    after: str
    needs_all: bool = False


class Intent(_Record):
    """What is about to be done, and whatever its owner wants to know when it is."""

    label: str
    files: tuple[Planned, ...]
    data: dict[str, Any] = {}


class Done(_Record):
    """How it ended: the files that have their new bytes, those a person changed, those withheld because of that."""

    written: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Transaction:
    """One entry of the journal; `done` is None while it is open."""

    number: int
    intent: Intent
    done: Done | None


class Journal:
    """The journal in `folder` of changes to files below `root`. Whoever uses it holds the vault's lock."""

    def __init__(self, folder: Path, root: Path, disk: Disk | None = None) -> None:
        self._folder = folder
        self._root = root
        self._disk = disk or Disk()
        self.blobs = Blobs(folder / "blobs", self._disk)

    def apply(self, changes: Sequence[FileChange], label: str, data: dict[str, Any] | None = None) -> Transaction:
        """Makes all changes, durably.

        Raises NoteChanged, with the paths, where a file is not as expected; PathRefused and StateUnwritable before
        anything is written where that can be known. A StateUnwritable in the middle leaves the transaction open, for
        `recover`.
        """
        changed = tuple(change.path for change in changes if self._current(change.path) != change.before)
        if changed:
            raise NoteChanged(f"Changed since it was read: {', '.join(changed)}.", paths=changed)
        for change in changes:
            self._check_writable(self._target(change.path))
        planned = tuple(
            Planned(
                path=change.path,
                before=None if change.before is None else self.blobs.put(change.before),
                after=self.blobs.put(change.after),
                needs_all=change.needs_all,
            )
            for change in changes
        )
        number = len(self._numbers()) + 1
        intent = Intent(label=label, files=planned, data=data or {})
        self._disk.make_folder(self._records)
        self._disk.write_whole(self._records / f"{number:04d}{_INTENT}", intent.model_dump_json(indent=1).encode())
        return self._roll_forward(Transaction(number, intent, None))

    def recover(self) -> list[Transaction]:
        """Finishes what was begun and not finished, and gives what it finished."""
        return [self._roll_forward(entry) for entry in self.transactions() if entry.done is None]

    def transactions(self) -> list[Transaction]:
        """All that was ever begun, in order. Raises RunStateWrong where a record is damaged."""
        entries = []
        for number in self._numbers():
            intent = self._read(Intent, f"{number:04d}{_INTENT}")
            has_ended = (self._records / f"{number:04d}{_DONE}").exists()
            done = self._read(Done, f"{number:04d}{_DONE}") if has_ended else None
            entries.append(Transaction(number, intent, done))
        return entries

    def current(self, path: str) -> bytes | None:
        """The bytes a file has now, None where there is none."""
        return self._current(path)

    @property
    def _records(self) -> Path:
        return self._folder / "journal"

    def _numbers(self) -> list[int]:
        return sorted(int(path.name.removesuffix(_INTENT)) for path in self._records.glob(f"[0-9]*{_INTENT}"))

    def _read(self, kind: type[_R], name: str) -> _R:
        path = self._records / name
        try:
            return kind.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise RunStateWrong(f"The journal record {path} cannot be read: {error}") from error

    def _roll_forward(self, entry: Transaction) -> Transaction:
        written: list[str] = []
        conflicts: list[str] = []
        withheld: list[str] = []
        for file in entry.intent.files:
            if file.needs_all and conflicts:
                self._remove_temporary(file)
                withheld.append(file.path)
            else:
                (written if self._bring_about(file) else conflicts).append(file.path)
        done = Done(written=tuple(written), conflicts=tuple(conflicts), withheld=tuple(withheld))
        self._disk.write_whole(self._records / f"{entry.number:04d}{_DONE}", done.model_dump_json(indent=1).encode())
        return Transaction(entry.number, entry.intent, done)

    def _bring_about(self, file: Planned) -> bool:
        """Gives a file its new bytes, unless it has them; False where it is neither as before nor as after."""
        if self._hash(file.path) == file.before:
            target = self._target(file.path)
            temporary = self._temporary(file)
            self._disk.make_folder(target.parent)
            self._disk.write(temporary, self.blobs.get(file.after), like=target)
            if self._hash(file.path) == file.before:
                self._disk.replace(temporary, target)
                return True
        self._remove_temporary(file)
        return self._hash(file.path) == file.after

    def _hash(self, path: str) -> str | None:
        data = self._current(path)
        return None if data is None else content_hash(data)

    def _current(self, path: str) -> bytes | None:
        target = self._target(path)
        try:
            return target.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StateUnwritable(f"{target} cannot be read: {error.strerror or error}.") from error

    def _target(self, path: str) -> Path:
        """The real file behind a path: a symlink inside the root is written through, one that leads out is refused."""
        if not path or "\0" in path or ".." in Path(path).parts:
            raise PathRefused(f"{path!r} is not a path within the vault.")
        target = (self._root / path).resolve()
        if not Path(path).is_absolute() and not target.is_relative_to(self._root.resolve()):
            raise PathRefused(f"{path} leads out of the vault, to {target}.")
        return target

    def _temporary(self, file: Planned) -> Path:
        """Beside its target, under a name that no vault scan lists and that recovery finds again."""
        target = self._target(file.path)
        return target.with_name(f".infold-{content_hash(target.name + file.after)[:16]}.tmp")

    def _remove_temporary(self, file: Planned) -> None:
        temporary = self._temporary(file)
        if temporary.exists():
            self._disk.remove(temporary)

    def _check_writable(self, target: Path) -> None:
        folder = target.parent
        if folder.is_dir():
            with unwritable(target):
                if not os.access(folder, os.W_OK | os.X_OK) or (target.exists() and not os.access(target, os.W_OK)):
                    raise PermissionError(13, "Permission denied")
