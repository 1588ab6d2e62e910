"""A kernel lock on a file: one process has it, and it ends with that process however that ends.

Used where the lock's own file descriptor matters: a forked child inherits it, and would hold the lock on after its
parent died. Waiting locks of the usual kind are `filelock`'s, which takes twenty times as long to load.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from infold.errors import StateUnwritable


class ProcessLock:
    """The lock on `file`, which is made on first use. Its folder must be there."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Whether this process has the lock now; never waits. False too where the folder is gone."""
        try:
            descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StateUnwritable(
                f"{self.file} cannot be written: {error.strerror or error}.",
                hint="Set the permissions right, free disk space, or choose another --state.",
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), self.file.stat()):  # else it was removed meanwhile
                self._descriptor = descriptor
                return True
        except (BlockingIOError, FileNotFoundError):
            pass
        except OSError as error:
            os.close(descriptor)
            raise StateUnwritable(f"{self.file} cannot be locked: {error.strerror or error}.") from error
        os.close(descriptor)
        return False

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What a process that is started must inherit to have the lock too, for as long as it runs."""
        return () if self._descriptor is None else (self._descriptor,)

    def release(self) -> None:
        """Lets go of the lock. Calling it again does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def forget(self) -> None:
        """For a forked child: closes its copy of the descriptor, which leaves the lock with the parent."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):  # closed with the folder's other files
                os.close(descriptor)


def forget_files(folder: Path) -> None:
    """For a forked child: closes every file under `folder` that it inherited, and with it the parent's locks on them.

    Where the system does not list a process's open files, they stay open until the child ends.
    """
    try:
        opened = list(Path("/proc/self/fd").iterdir())
    except OSError:
        return
    for file in opened:
        with contextlib.suppress(OSError):
            if file.readlink().is_relative_to(folder):
                os.close(int(file.name))


def keep_for_ever(thing: object) -> None:
    """For a forked child: what the parent has open is never closed here, not even as the interpreter ends."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
