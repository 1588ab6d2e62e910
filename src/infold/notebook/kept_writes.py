"""The last writes of the notebook, kept so that they can be taken back: what a page held before, and after.

Contents by hash and a small record each, in the state folder. Writing pages belongs to `notebook.pages`; integrations
have runs of their own (`inbox.undo`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from infold.durable.blobs import Blobs
from infold.durable.files import Disk
from infold.durable.merge import merge
from infold.errors import NoteChanged, RunNotFound, RunStateWrong
from infold.notebook.writing import note_writer
from infold.text import content_hash
from infold.workspace import Workspace

MOST_KEPT: Final = 500
PREFIX: Final = "w-"  # ids of writes, beside those of runs


class KeptWrite(BaseModel):
    """One write. `before` is None where the page was made; contents by hash."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    path: str
    at: str  # ISO 8601, UTC
    before: str | None
    after: str


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What became of a write that was taken back. `is_removed`: the page had been made by it, and is gone again."""

    path: str
    is_removed: bool
    bytes_before: int
    bytes_after: int


class KeptWrites:
    """The records of one workspace. Writing needs the vault's lock."""

    def __init__(self, workspace: Workspace, disk: Disk | None = None) -> None:
        self._folder = workspace.notebook / "writes"
        self._disk = disk or Disk()
        self._blobs = Blobs(self._folder / "blobs", self._disk)

    def keep(self, path: str, before: bytes | None, after: bytes) -> KeptWrite:
        """Records a write that is about to be done; the oldest records go where there are too many."""
        moment = datetime.now(UTC)
        kept = KeptWrite(
            id=self._new_id(moment),
            path=path,
            at=moment.isoformat(timespec="seconds"),
            before=None if before is None else self._blobs.put(before),
            after=self._blobs.put(after),
        )
        self._disk.write_whole(self._folder / f"{kept.id}.json", kept.model_dump_json(indent=1).encode())
        self._forget_oldest()
        return kept

    def drop(self, kept: KeptWrite) -> None:
        """Forgets a write that was not done, or was taken back."""
        self._disk.remove(self._folder / f"{kept.id}.json")

    def find(self, name: str) -> KeptWrite:
        """The write of that id or unique beginning, or the newest for `w-last`. Raises RunNotFound, RunStateWrong."""
        ids = self.ids()
        found = ids[-1:] if name == f"{PREFIX}last" else [i for i in ids if i == name] or _beginning(ids, name)
        if len(found) != 1:
            which = f"{len(found)} writes begin with {name!r}" if found else f"There is no write {name!r}"
            raise RunNotFound(f"{which}.", hint=f"The last {MOST_KEPT} writes are kept; each says its id.")
        return self._load(found[0])

    def content(self, name: str) -> bytes:
        """The bytes of that hash."""
        return self._blobs.get(name)

    def ids(self) -> list[str]:
        """Every write that is kept, oldest first."""
        return sorted(path.stem for path in self._folder.glob(f"{PREFIX}*.json"))

    def _load(self, name: str) -> KeptWrite:
        file = self._folder / f"{name}.json"
        try:
            return KeptWrite.model_validate_json(file.read_bytes())
        except (OSError, ValidationError) as error:
            raise RunStateWrong(f"The record of write {name} cannot be read: {error}") from error

    def _new_id(self, moment: datetime) -> str:
        """An id that sorts by time: w-2026-11-22-101500-a1b2, the last part of a second in hex."""
        fraction = moment.microsecond * 0x10000 // 1_000_000
        while (self._folder / f"{PREFIX}{moment:%Y-%m-%d-%H%M%S}-{fraction:04x}.json").exists():
            fraction += 1
        return f"{PREFIX}{moment:%Y-%m-%d-%H%M%S}-{fraction:04x}"

    def _forget_oldest(self) -> None:
        ids = self.ids()
        if len(ids) <= MOST_KEPT + MOST_KEPT // 10:  # some at a time: what is still needed has to be read for it
            return
        for name in ids[:-MOST_KEPT]:
            self._disk.remove(self._folder / f"{name}.json")
        needed: set[str | None] = set()
        for name in ids[-MOST_KEPT:]:
            kept = self._load(name)
            needed |= {kept.before, kept.after}
        for blob in (self._folder / "blobs").iterdir():
            if blob.name not in needed:
                blob.unlink(missing_ok=True)


def take_back(workspace: Workspace, name: str) -> TakenBack:
    """Takes a write back: exact bytes where the page is as it was written, else line by line around later changes.

    A page that the write had made is removed. Raises RunNotFound; NoteChanged, with nothing done, where later changes
    are in the same lines; VaultBusy; StateUnwritable.
    """
    store = KeptWrites(workspace)
    with note_writer(workspace) as writer:
        kept = store.find(name)
        current = writer.read(kept.path)
        after = store.content(kept.after)
        if current is None:
            raise NoteChanged(f"{kept.path} was deleted since; it is not made again.", paths=(kept.path,))
        if kept.before is None:
            if content_hash(current) != kept.after:
                raise _met(workspace.vault / kept.path, kept)
            writer.remove(kept.path, current)
            store.drop(kept)
            return TakenBack(kept.path, is_removed=True, bytes_before=len(current), bytes_after=0)
        before = store.content(kept.before)
        new = before if current == after else current if current == before else _merged(after, before, current, kept)
        if new != current:
            writer.write(kept.path, current, new)
        store.drop(kept)
        return TakenBack(kept.path, is_removed=False, bytes_before=len(current), bytes_after=len(new))


def _merged(after: bytes, before: bytes, current: bytes, kept: KeptWrite) -> bytes:
    merged = merge(after, before, current)
    if merged.conflicts:
        raise _met(Path(kept.path), kept)
    return merged.data


def _met(path: Path, kept: KeptWrite) -> NoteChanged:
    return NoteChanged(
        f"{kept.path} was changed since, in the lines that {kept.id} wrote; it stays as it stands.",
        hint=f"Edit {path.name} by hand.",
        paths=(kept.path,),
    )


def _beginning(ids: list[str], name: str) -> list[str]:
    return [found for found in ids if name.startswith(PREFIX) and found.startswith(name)]
