"""One file of a person's given new bytes, or taken away, while an editor may save it at any moment: no save is lost.

The new bytes lie ready beside the file; the two exchange names in one step, and what came out is looked at. Where it is
not what was expected, somebody saved in between, and it goes back. Where a system cannot exchange, the file is moved
aside first, which takes whatever was saved with it.

Beside a file lie, while it is changed, `part` (ours, maybe torn) and `aside` (whole: ours, or what came out).
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from infold.durable.files import SHARED, Disk, unwritable
from infold.errors import StateUnwritable
from infold.text import content_hash

_OPEN_SECONDS: Final = 2.0  # how long one waits for whoever has the file open for writing
_SETSIG: Final = 10  # F_SETSIG of Linux
_MOST_SAVES: Final = 100


class Replacement:
    """One file of a person's that is to change. Two of one file at once are kept apart by the vault's lock.

    `kept` holds what was saved there and could neither stay nor be merged: nothing that came out is thrown away. What
    is done here lasts once the folder was synced, which `sync` is asked for: at once, or together with others' folders.
    """

    def __init__(self, disk: Disk, target: Path, sync: Callable[[Path], object] | None = None) -> None:
        self._disk = disk
        self._sync = sync or disk.sync_folder
        self._target = target
        name = content_hash(target.name)[:16]
        self._part = target.with_name(f".infold-{name}.part")
        self._aside = target.with_name(f".infold-{name}.tmp")
        self.kept: list[bytes] = []

    @property
    def folder(self) -> Path:
        """The folder that the file is in."""
        return self._target.parent

    def current(self) -> bytes | None:
        """The bytes of the file now; None where there is none. Raises StateUnwritable."""
        return _read(self._target)

    def put(self, before: bytes | None, after: bytes) -> bool:
        """Gives the file `after`, if it still has `before` (None: is not there); False, and it is as saved, if not."""
        try:
            self.prepare(after)
            return self.put_prepared(before, after)
        finally:
            self.without_part()

    def prepare(self, after: bytes, like: Path | None = None) -> None:
        """Lays `after` ready beside the file, with the permissions of `like`, else of the file."""
        self._disk.write(self._part, after, like or self._target, SHARED)

    def put_prepared(self, before: bytes | None, after: bytes) -> bool:
        """As `put`, of what was prepared."""
        if self.current() != before:
            return False
        return self._added() if before is None else self._exchanged(before, after)

    def without_part(self) -> None:
        """Takes away what lies ready and was not put."""
        with contextlib.suppress(OSError):
            self._part.unlink(missing_ok=True)

    def take_away(self, before: bytes) -> bool:
        """Removes the file, if it still has `before`; False, and it is as saved, if not."""
        if self.current() != before:
            return False
        self._move_aside()
        if self._came_out() == before:
            self._forget_aside()
            return True
        self._give_back()
        return False

    def is_left(self) -> bool:
        """Whether a stopped process left something beside the file."""
        return any(os.path.lexists(path) for path in (self._part, self._aside))

    def tidy(self, before: bytes | None, after: bytes | None) -> None:
        """Puts right what a stopped process left beside the file: ours goes, what was saved comes back."""
        self._disk.remove(self._part)
        out = _read(self._aside)
        if out is None:
            return
        is_there = self.current() is not None
        if out == after or (out == before and is_there):
            self._forget_aside()
        elif is_there and after is not None:
            self._settle(after)
        else:
            self._give_back()

    def _added(self) -> bool:
        is_added = self._disk.add(self._part, self._target)
        self._sync(self._target.parent)
        return is_added

    def _exchanged(self, before: bytes, after: bytes) -> bool:
        self._disk.rename(self._part, self._aside)
        if not self._disk.exchange(self._aside, self._target):
            return self._moved_past(before)
        if self._came_out() == before:
            self._forget_aside()
            return True
        self._settle(after)
        return False

    def _moved_past(self, before: bytes) -> bool:
        """Without an exchange: the file moves aside, is looked at, and the new one takes the free name."""
        self._disk.rename(self._aside, self._part)
        if self.current() is None:
            return False
        self._move_aside()
        if self._came_out() != before:
            self._give_back()
            return False
        is_added = self._disk.add(self._part, self._target)
        if not is_added:  # somebody made the file anew in this moment
            self.kept.append(before)
        self._forget_aside()
        return is_added

    def _move_aside(self) -> None:
        with unwritable(self._target), contextlib.suppress(FileNotFoundError):
            self._target.replace(self._aside)

    def _settle(self, ours: bytes) -> None:
        """What came out goes back in, until what comes out then is what we had put there."""
        for _ in range(_MOST_SAVES):
            theirs = _read(self._aside) or b""
            if not self._disk.exchange(self._aside, self._target):
                break
            out = self._came_out()
            if out == ours:
                self._forget_aside()
                return
            self._lay_aside(self._both(ours, theirs, out or b""))
            ours = theirs
        self._give_back()

    def _give_back(self) -> None:
        """What lies aside gets its name again; where that is taken by now, it is kept."""
        if not self._aside.exists():  # the file was renamed or removed before it could be moved aside
            return
        if not self._disk.add(self._aside, self._target):
            self.kept.append(_read(self._aside) or b"")
            self._disk.remove(self._aside)
        self._sync(self._target.parent)

    def _both(self, base: bytes, theirs: bytes, later: bytes) -> bytes:
        """Two saves of one moment: lines of both; where they meet, those of the later one, and the earlier is kept."""
        from infold.durable.merge import merge

        merged = merge(base, theirs, later)
        if merged.conflicts:
            self.kept.append(theirs)
        return merged.data

    def _lay_aside(self, data: bytes) -> None:
        self._disk.write(self._part, data, self._target)
        self._disk.rename(self._part, self._aside)

    def _came_out(self) -> bytes | None:
        """What lies aside, once nobody has it open for writing: None where somebody keeps it open."""
        until = time.monotonic() + _OPEN_SECONDS
        while _is_open_for_writing(self._aside):
            if time.monotonic() > until:
                return None
            time.sleep(0.01)
        return _read(self._aside)

    def _forget_aside(self) -> None:
        self._disk.remove(self._aside)
        self._sync(self._target.parent)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StateUnwritable(f"{path} cannot be read: {error.strerror or error}.") from error


def _is_open_for_writing(path: Path) -> bool:
    """Whether somebody has the file open to write into it. Only Linux tells, by refusing a lease; else False."""
    if sys.platform != "linux":
        return False
    import fcntl
    import signal

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.fcntl(descriptor, _SETSIG, signal.SIGURG)  # a lease that is broken at once must not end the process
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
