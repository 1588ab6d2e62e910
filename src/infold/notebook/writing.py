"""One note written at a time: under the vault's lock, against what was read, whole or not at all.

What a note gets to say belongs to `notebook.pages` and `notebook.daily`; several notes at once to `durable.journal`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from infold.durable.files import Disk
from infold.durable.locks import vault_lock
from infold.errors import NoteChanged, NoteUnreadable
from infold.text import content_hash
from infold.vault.files import read_bytes, safe_path
from infold.workspace import Workspace

WAIT_SECONDS: Final = 30.0  # many agents may write at once, each for milliseconds
_UNDER_WAY: Final = "under-way.json"


class NoteWriter:
    """Reads and writes single notes of a vault that this process holds."""

    def __init__(self, workspace: Workspace, disk: Disk | None = None) -> None:
        self._root = workspace.vault
        self._max_bytes = workspace.params.vault.max_note_bytes
        self._under_way = workspace.notebook / _UNDER_WAY
        self.disk = disk or Disk()

    def read(self, path: str) -> bytes | None:
        """The bytes of the note at `path`; None where there is none. Raises NoteUnreadable, PathRefused."""
        if not safe_path(self._root, path).exists():
            return None
        return read_bytes(self._root, path, self._max_bytes)

    def write(self, path: str, before: bytes | None, after: bytes) -> None:
        """Gives the note at `path` new bytes, if it still has those that were read.

        Raises NoteChanged where it has not, NoteUnreadable where the result would be too large to be read again.
        """
        if len(after) > self._max_bytes:
            raise NoteUnreadable(
                f"{path} would have {len(after)} bytes, more than vault.max_note_bytes ({self._max_bytes}).",
                hint="Write to another page, or raise the setting.",
            )
        target = safe_path(self._root, path)
        temporary = target.with_name(f".infold-{content_hash(target.name)[:16]}.tmp")
        self.disk.make_folder(self._under_way.parent)
        self.disk.make_folder(target.parent)
        self._under_way.write_text(json.dumps(str(temporary)), encoding="utf-8")
        try:
            self.disk.write(temporary, after, like=target)
            self._check(path, before)
            self.disk.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
            self._under_way.unlink(missing_ok=True)

    def remove(self, path: str, before: bytes) -> None:
        """Takes the note at `path` away, if it still has the bytes that were read. Raises NoteChanged."""
        self._check(path, before)
        target = safe_path(self._root, path)
        self.disk.remove(target)
        self.disk.sync_folder(target.parent)

    def sweep(self) -> None:
        """Takes away the temporary file of a write that was killed."""
        try:
            left = json.loads(self._under_way.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except (OSError, ValueError):  # killed while this very record was written: before any temporary file
            left = ""
        temporary = Path(str(left))
        if temporary.name.startswith(".infold-") and temporary.is_relative_to(self._root):
            temporary.unlink(missing_ok=True)
        self._under_way.unlink(missing_ok=True)

    def _check(self, path: str, before: bytes | None) -> None:
        if self.read(path) != before:
            raise NoteChanged(
                f"{path} changed while it was being written.", hint="Read it again, then write.", paths=(path,)
            )


@contextlib.contextmanager
def note_writer(
    workspace: Workspace, disk: Disk | None = None, wait_seconds: float = WAIT_SECONDS
) -> Iterator[NoteWriter]:
    """The vault, held for this process; what a killed process left behind is put right first.

    Raises VaultBusy where another process holds it for longer than `wait_seconds`.
    """
    with vault_lock(workspace, wait_seconds):
        with contextlib.suppress(FileNotFoundError):
            if os.listdir(workspace.runs / ".pending"):  # noqa: PTH208 - only whether there is one
                from infold.inbox.runs import recover

                recover(workspace, wait_seconds)
        writer = NoteWriter(workspace, disk)
        writer.sweep()
        yield writer
