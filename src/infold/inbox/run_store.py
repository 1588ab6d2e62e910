"""The folders of runs: one a run, with its record, the inbox as it was, contents by hash, and its journal.

Records and bytes only. Applying a run belongs to `inbox.runs`, finishing one that was stopped to `inbox.settlement`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from infold.durable.blobs import Blobs
from infold.durable.files import Disk
from infold.durable.journal import Journal
from infold.errors import RunNotFound, RunStateWrong
from infold.inbox.run import Run

RUN_FILE: Final = "run.json"
INBOX_FILE: Final = "inbox.md"
_ID: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")


class RunStore:
    """All runs of one vault, in `folder`. Writing needs the vault's lock, reading does not."""

    def __init__(self, folder: Path, disk: Disk | None = None) -> None:
        self._folder = folder
        self._disk = disk or Disk()

    def new_id(self, now: datetime | None = None) -> str:
        """An id that sorts by time and is not taken: 2026-11-21-224501-a1b2, UTC, the last part of a second in hex."""
        moment = now or datetime.now(UTC)
        fraction = moment.microsecond * 0x10000 // 1_000_000
        while True:
            run_id = f"{moment:%Y-%m-%d-%H%M%S}-{fraction:04x}"
            if not (self._folder / run_id).exists():
                return run_id
            fraction += 1

    def path(self, run_id: str) -> Path:
        """The folder of one run. Raises RunNotFound for what cannot be an id."""
        if not _ID.fullmatch(run_id):
            raise RunNotFound(f"{run_id!r} is not the id of a run.", hint="`infold runs` lists them.")
        return self._folder / run_id

    def save(self, run: Run) -> None:
        """Keeps the record of a run, whole or as it was before."""
        folder = self.path(run.id)
        self._disk.make_folder(folder)
        self._disk.write_whole(folder / RUN_FILE, run.model_dump_json(indent=1).encode())

    def keep_inbox(self, run_id: str, data: bytes) -> None:
        """Keeps the inbox as it was when the run read it."""
        folder = self.path(run_id)
        self._disk.make_folder(folder)
        self._disk.write_whole(folder / INBOX_FILE, data)

    def load(self, run_id: str) -> Run:
        """The run of that id. Raises RunNotFound, or RunStateWrong where its record is damaged."""
        path = self.path(run_id) / RUN_FILE
        try:
            return Run.model_validate_json(path.read_bytes())
        except FileNotFoundError as error:
            raise RunNotFound(f"There is no run {run_id}.", hint="`infold runs` lists them.") from error
        except (OSError, ValidationError) as error:
            raise RunStateWrong(f"The record of run {run_id} cannot be read: {error}") from error

    def list(self) -> list[Run]:
        """All runs, newest first.

        A folder without a record is a run that was never saved: nothing came of it. One whose record is damaged is
        passed over here, and named by `load`.
        """
        if not self._folder.is_dir():
            return []
        names = sorted((p.name for p in self._folder.iterdir() if (p / RUN_FILE).is_file()), reverse=True)
        runs = []
        for name in names:
            with contextlib.suppress(RunStateWrong, RunNotFound):
                runs.append(self.load(name))
        return runs

    def latest(self) -> Run | None:
        """The newest run."""
        return next(iter(self.list()), None)

    def blobs(self, run_id: str) -> Blobs:
        """The contents that a run knows, by hash."""
        return Blobs(self.path(run_id) / "blobs", self._disk)

    def content(self, run_id: str, name: str) -> str:
        """The text of one content of a run."""
        return self.blobs(run_id).get(name).decode("utf-8", errors="replace")

    def diffs(self, run: Run) -> dict[str, str]:
        """The unified difference of each file that `run` changes, by path."""
        from infold.vault.differences import unified

        return {
            change.path: unified(self.content(run.id, change.before), self.content(run.id, change.after), change.path)
            for change in run.changes
        }

    def journal(self, run_id: str, vault: Path) -> Journal:
        """The journal of a run's changes to `vault`."""
        return Journal(self.path(run_id), vault, self._disk)

    def pending(self) -> Sequence[str]:
        """The runs that something was begun for and perhaps not finished."""
        folder = self._folder / ".pending"
        return sorted(p.name for p in folder.iterdir() if _ID.fullmatch(p.name)) if folder.is_dir() else []

    def mark_pending(self, run_id: str) -> None:
        """Notes, durably, that something is about to be done for a run."""
        folder = self._folder / ".pending"
        self._disk.make_folder(folder)
        self._disk.write(folder / run_id, b"")
        self._disk.sync_folder(folder)

    def clear_pending(self, run_id: str) -> None:
        """Notes that all of it is done."""
        self._disk.remove(self._folder / ".pending" / run_id)
