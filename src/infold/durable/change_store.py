"""The folders of changes: one a change, with its contents by hash and its journal; and which of them are not finished.

Folders and names only. What a change is belongs to `durable.changes`, what an integration keeps beside it to
`inbox.run_store`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from infold.durable.blobs import Blobs
from infold.durable.files import PRIVATE, Disk, unwritable
from infold.durable.journal import Journal
from infold.durable.unfinished import PENDING
from infold.errors import RunNotFound

SMALL: Final = "w-"  # begins the ids of writes and logs, of which only the newest are kept
_ID: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")


class ChangeStore:
    """All changes of one vault, in `folder`. Writing needs the vault's lock, reading does not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._disk = Disk()

    def new_id(self, now: datetime | None = None, prefix: str = "") -> str:
        """An id that sorts by time and is not taken: 2026-11-21-224501-a1b2, UTC, the last part of a second in hex."""
        moment = now or datetime.now(UTC)
        fraction = moment.microsecond * 0x10000 // 1_000_000
        while True:
            change_id = f"{prefix}{moment:%Y-%m-%d-%H%M%S}-{fraction:04x}"
            if not (self._folder / change_id).exists():
                return change_id
            fraction += 1

    def path(self, change_id: str) -> Path:
        """The folder of one change. Raises RunNotFound for what cannot be an id."""
        if not _ID.fullmatch(change_id):
            raise RunNotFound(f"{change_id!r} is not the id of a run or change.", hint="`infold runs` lists them.")
        return self._folder / change_id

    def ids(self) -> list[str]:
        """Every folder there is, oldest first, whatever its kind."""
        if not self._folder.is_dir():
            return []
        return sorted((p.name for p in self._folder.iterdir() if _ID.fullmatch(p.name)), key=by_time)

    def blobs(self, change_id: str) -> Blobs:
        """The contents that a change knows, by hash."""
        return Blobs(self.path(change_id) / "blobs", self._disk)

    def content(self, change_id: str, name: str) -> str:
        """The text of one content of a change."""
        return self.blobs(change_id).get(name).decode("utf-8", errors="replace")

    def journal(self, change_id: str, vault: Path) -> Journal:
        """The journal of a change to `vault`."""
        return Journal(self.path(change_id), vault)

    def pending(self) -> Sequence[str]:
        """The changes that something was begun for and perhaps not finished."""
        try:
            return sorted(p.name for p in (self._folder / PENDING).iterdir() if _ID.fullmatch(p.name))
        except FileNotFoundError:
            return []

    def mark_pending(self, change_id: str) -> None:
        """Notes, durably, that something is about to be done for a change."""
        folder = self._folder / PENDING
        self._disk.make_folder(folder)
        with unwritable(folder):
            (folder / change_id).touch(PRIVATE)
        self._disk.sync_folder(folder)

    def clear_pending(self, change_id: str) -> None:
        """Notes that all of it is done."""
        self._disk.remove(self._folder / PENDING / change_id)

    def drop(self, change_id: str) -> None:
        """Forgets a change that came to nothing, or is too old."""
        shutil.rmtree(self.path(change_id), ignore_errors=True)
        self.clear_pending(change_id)

    def forget_oldest(self, most: int) -> None:
        """Of the small changes only the newest `most` stay; some go at a time, so that not every write looks for it."""
        ids = [name for name in self.ids() if name.startswith(SMALL)]
        if len(ids) > most + most // 10:
            for name in ids[:-most]:
                self.drop(name)


def by_time(change_id: str) -> str:
    """What ids sort by: their time, whatever their kind."""
    return change_id.removeprefix(SMALL)
