"""What an integration keeps in its folder beside its journal: its record, and the inbox as it was.

The folders themselves belong to `durable.change_store`, applying a run to `inbox.runs`, finishing one that was stopped
to `inbox.settlement`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from infold.durable.change_store import ChangeStore
from infold.errors import RunNotFound, RunStateWrong, StateUnwritable
from infold.inbox.run import Run

RUN_FILE: Final = "run.json"
INBOX_FILE: Final = "inbox.md"


class RunStore(ChangeStore):
    """The integrations among the changes of one vault. Writing needs the vault's lock, reading does not."""

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
        except OSError as error:
            raise StateUnwritable(f"{path} cannot be read: {error.strerror or error}.") from error
        except ValidationError as error:
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

    def find(self, name: str = "last", wanted: Sequence[str] = ()) -> Run:
        """The run of that id, of that unique beginning, or for `last` the latest, if possible of a `wanted` status.

        Raises RunNotFound.
        """
        known = self.list()
        if not known:
            raise RunNotFound("There are no runs yet.", hint="`infold integrate` makes one.")
        if name == "last":
            return max(known, key=lambda run: (str(run.status) in wanted, run.id))
        found = [run for run in known if run.id == name] or [run for run in known if run.id.startswith(name)]
        if len(found) == 1:
            return found[0]
        which = f"{len(found)} runs begin with {name!r}" if found else f"There is no run {name!r}"
        few = f": {', '.join(run.id for run in found[:5])}" if found else ""
        raise RunNotFound(f"{which}{few}.", hint="`infold runs` lists them.")

    def diffs(self, run: Run) -> dict[str, str]:
        """The unified difference of each file that `run` changes, by path."""
        from infold.durable.unified import unified

        return {
            change.path: unified(self.content(run.id, change.before), self.content(run.id, change.after), change.path)
            for change in run.changes
        }
