"""Bytes on disk, durably: written whole or not at all, and still there after a power cut.

The few effects everything here is made of are methods of `Disk`, so that a test can stop the world at each of them.
What is written when, and how a stop is recovered from, belongs to `durable.journal`; a note that others may be saving
at the same moment to `durable.replacing`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from infold.durable.exchange import exchange, rename_new
from infold.errors import StateUnwritable

PRIVATE: Final = 0o600  # of files that are the person's alone
_OF_THE_DISK: Final = frozenset(
    {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENXIO, errno.ENODEV}
)
FEW: Final = 8  # effects that are not worth a thread
_SIDE_BY_SIDE: Final = 32
SHARED: Final = 0o666  # of notes, and of what was asked for by name: as the person's umask has it


def together(calls: Sequence[Callable[[], object]]) -> None:
    """Makes all of these calls; side by side where there are many, so that they wait for the disk together.

    The first fault is raised once none is running any more; what was not begun by then is not.
    """
    if len(calls) < FEW:
        for call in calls:
            call()
        return
    from concurrent.futures import ThreadPoolExecutor  # here: who only reads has no calls to make

    pool = ThreadPoolExecutor(_SIDE_BY_SIDE)
    try:
        for done in [pool.submit(call) for call in calls]:
            done.result()
    finally:
        pool.shutdown(cancel_futures=True)


class Disk:
    """The effects: write, rename, exchange, remove, make a folder. Each is durable when it returns.

    Raises StateUnwritable, naming the path, for whatever the system refuses.
    """

    def write(self, path: Path, data: bytes, like: Path | None = None, mode: int = PRIVATE) -> None:
        """Writes a file, in place, with the permissions and owner of `like` where that is there, else with `mode`."""
        with unwritable(path):
            status = like.stat() if like is not None and like.exists() else None
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(path, flags, mode if status is None else PRIVATE)
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

    def rename(self, source: Path, target: Path) -> None:
        """The same, durable only when the folder is next."""
        with unwritable(target):
            source.replace(target)

    def exchange(self, one: Path, other: Path) -> bool:
        """Two files get each other's names, at once; False where the system cannot, or `other` is not there.

        Durable when the folder is next.
        """
        with unwritable(other):
            try:
                return exchange(one, other)
            except FileNotFoundError:
                if one.exists():
                    return False
                raise

    def add(self, source: Path, target: Path) -> bool:
        """Renames to a name that is free; False where it is not. Durable when the folder is next."""
        with unwritable(target):
            try:
                rename_new(source, target)
            except FileExistsError:
                return False
            return True

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

    def write_whole(
        self,
        path: Path,
        data: bytes,
        mode: int = PRIVATE,
        *,
        is_shared: bool = False,
        is_durable: bool = True,
        mtime_ns: int | None = None,
    ) -> None:
        """Writes a file so that it is there with all of `data`, or as it was before.

        `is_shared`: several may write it at once, held by no lock. Not `is_durable`: a power cut may take it, a kill
        not. `mtime_ns` is the time that it gets.
        """
        who = f".{os.getpid()}-{threading.get_ident()}" if is_shared else ""
        temporary = path.with_name(f".{path.name}{who}.tmp")
        try:
            if is_durable:
                self.write(temporary, data, mode=mode)
            else:
                _write(temporary, data, mode)
            if mtime_ns is not None:
                with unwritable(path):
                    os.utime(temporary, ns=(mtime_ns, mtime_ns))
            if is_durable:
                self.replace(temporary, path)
            else:
                self.rename(temporary, path)
        except (StateUnwritable, OSError):
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def _write(path: Path, data: bytes, mode: int) -> None:
    with unwritable(path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, mode), "wb") as file:
            file.write(data)


def make_private(folder: Path) -> None:
    """Makes a folder, and those above it, for this user alone; one that is there and ours is closed to others.

    Raises StateUnwritable.
    """
    with unwritable(folder):
        missing = []
        place = folder
        while not place.is_dir():
            missing.append(place)
            place = place.parent
        for made in reversed(missing):
            made.mkdir(mode=0o700, exist_ok=True)
        close_to_others(folder)


def close_to_others(folder: Path) -> None:
    """Takes the rights of other users away, where the folder is there and ours."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        status = folder.stat()
        if status.st_uid == os.geteuid() and status.st_mode & 0o077:
            folder.chmod(0o700)


def stamp_of(file: Path) -> tuple[int, int, int] | None:
    """What tells a file from one that was written since: inode, size and time; None where there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


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


def refused(error: OSError) -> StateUnwritable | None:
    """What the system refused to anybody, as an error that says so; None where it is no fault of a disk."""
    if error.errno not in _OF_THE_DISK:
        return None
    where = f"{error.filename} cannot be read or written" if error.filename else "A file cannot be read or written"
    return StateUnwritable(
        f"{where}: {error.strerror or error}.",
        hint="Free disk space, check the device or set the permissions right; then run the command again.",
    )


def _owner(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_uid, status.st_gid
