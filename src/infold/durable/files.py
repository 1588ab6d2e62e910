"""Bytes on disk, durably: written whole or not at all, and still there after a power cut.

The few effects everything here is made of are methods of `Disk`, so that a test can stop the world at each of them.
What is written when, and how a stop is recovered from, belongs to `durable.journal`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from infold.errors import StateUnwritable


class Disk:
    """The effects: write, rename, remove, make a folder. Each is durable when it returns.

    Raises StateUnwritable, naming the path, for whatever the system refuses.
    """

    def write(self, path: Path, data: bytes, like: Path | None = None) -> None:
        """Writes a file, in place, with the permissions and owner of `like` where that is given."""
        with unwritable(path):
            status = like.stat() if like is not None and like.exists() else None
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(path, flags, 0o666 if status is None else 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(descriptor)
                if status is not None:
                    if hasattr(os, "fchown") and (status.st_uid, status.st_gid) != _owner(descriptor):
                        with contextlib.suppress(PermissionError):
                            os.fchown(descriptor, status.st_uid, status.st_gid)
                    path.chmod(status.st_mode & 0o7777)

    def replace(self, source: Path, target: Path) -> None:
        """Puts `source` in the place of `target`, at once, and makes the folder remember it."""
        with unwritable(target):
            source.replace(target)
        self.sync_folder(target.parent)

    def remove(self, path: Path) -> None:
        """Removes a file; one that is not there is fine."""
        with unwritable(path):
            path.unlink(missing_ok=True)

    def make_folder(self, path: Path) -> None:
        """Makes a folder and those above it."""
        if path.is_dir():
            return
        with unwritable(path):
            path.mkdir(parents=True, exist_ok=True)
        self.sync_folder(path.parent)

    def sync_folder(self, folder: Path) -> None:
        """Makes the names in a folder durable."""
        if os.name == "nt":
            return  # folders cannot be opened there; the rename itself is journaled
        with unwritable(folder):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def write_whole(self, path: Path, data: bytes) -> None:
        """Writes a file of the state folder so that it is there with all of `data`, or as it was before."""
        temporary = path.with_name(f".{path.name}.tmp")
        self.write(temporary, data)
        self.replace(temporary, path)


@contextlib.contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """Turns what the system refuses into StateUnwritable, naming `path`."""
    try:
        yield
    except OSError as error:
        raise StateUnwritable(
            f"{path} cannot be written: {error.strerror or error}.",
            hint="Free disk space or set the permissions right; the next start goes on where this one stopped.",
        ) from error


def _owner(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_uid, status.st_gid
