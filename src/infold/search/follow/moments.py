"""Whether anything below some folders changed since one last asked, as the kernel tells it, without a walk.

Linux says of a folder on a disk of this machine what happens in it, in the order in which it happens, and before the
call that did it returns: who asks later has heard of it. Where that cannot be relied on (another system, a network
drive, a note with two names, no more watches to be had) nothing is claimed, and whoever asks looks for himself.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from infold.durable.files import stamp_of
from infold.vault.names import is_note_name

# of <sys/inotify.h>
_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS, _IS_FOLDER = 0x1000000, 0x40000000
_CONTENT: Final = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_WANTED: Final = _CONTENT | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS
_ANOTHER_TREE: Final = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED  # it has to be gone through again
_EVENT: Final = struct.Struct("iIII")
_READ_BYTES: Final = 256 * 1024

_MOUNTS: Final = Path("/proc/self/mountinfo")
_OF_THIS_MACHINE: Final = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs", "bcachefs", "jfs", "reiserfs"}
)


class Moments:
    """A number for each state of some folders, for any number of threads. `folders` are looked at with all below them.

    Those whose name begins with a dot are left out, as in a vault. `files` are looked at too, by size and time.
    """

    def __init__(self, folders: Callable[[], Sequence[Path]], files: Sequence[Path] = ()) -> None:
        self._folders, self._files = folders, tuple(files)
        self._lock = threading.Lock()
        self._number = 0
        self._queue: _Queue | None = None
        self._of: object = None  # what the queue was opened for

    def now(self) -> int | None:
        """The number of this moment: another one as soon as anything changed. None where it cannot be told."""
        with self._lock:
            there = self._there()
            if self._queue is not None and there == self._of:
                heard, is_another_tree = self._queue.hear()
                self._number += heard
                if not is_another_tree:
                    return None if self._queue.is_doubtful else self._number
            self._close()
            self._number += 1
            with contextlib.suppress(OSError, AttributeError):  # of a system without it
                self._queue = _Queue()
                self._of = there
                self._queue.watch(self._folders())
            return None if self._queue is None or self._queue.is_doubtful else self._number

    def close(self) -> None:
        """Lets go. Asked again, it begins anew."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.close()

    def _there(self) -> object:
        """What tells these folders, and what is mounted, from others of their names."""
        return [*map(_identity, self._folders())], [*map(stamp_of, self._files)], _mounts()


class _Queue:
    """What the kernel says of some folders. Raises OSError or AttributeError where there is no such thing."""

    def __init__(self) -> None:
        self.is_doubtful = True
        self._paths: dict[int, str] = {}
        self._system = ctypes.CDLL(None, use_errno=True)
        self._file: int = self._system.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def watch(self, folders: Sequence[Path]) -> None:
        """Begins to listen, folder before content, so that what comes meanwhile is heard."""
        there = [str(folder) for folder in folders if folder.is_dir()]
        self.is_doubtful = not all(is_of_this_machine(folder) and self._add_whole(folder) for folder in there)

    def hear(self) -> tuple[bool, bool]:
        """Whether anything happened, and whether there are other folders now."""
        something = another = False
        for event, mask, name in self._events():
            something = True
            is_folder = bool(mask & _IS_FOLDER)
            if mask & _ANOTHER_TREE or (is_folder and mask & (_CREATE | _MOVED_TO | _MOVED_FROM)):
                another = True
            elif mask & (_CREATE | _MOVED_TO) and _has_two_names(f"{self._paths.get(event)}/{name}"):
                self.is_doubtful = True
        return something, another

    def close(self) -> None:
        """Lets go."""
        os.close(self._file)

    def _events(self) -> Iterator[tuple[int, int, str]]:
        while True:
            try:
                data = os.read(self._file, _READ_BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                event, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size
                yield event, mask, os.fsdecode(data[at : at + length].rstrip(b"\0"))
                at += length

    def _add(self, folder: str) -> bool:
        number = self._system.inotify_add_watch(self._file, os.fsencode(folder), ctypes.c_uint32(_WANTED))
        if number >= 0:
            self._paths[number] = folder
        return number >= 0 or ctypes.get_errno() in {errno.ENOENT, errno.ENOTDIR}  # gone since, which is heard of

    def _add_whole(self, folder: str) -> bool:
        waiting = [folder]
        while waiting:
            here = waiting.pop()
            if not self._add(here):
                return False
            try:
                with os.scandir(here) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            waiting += [entry.path] if not entry.name.startswith(".") else []
                        elif _has_two_names(entry.path):
                            return False
            except FileNotFoundError:
                continue
        return True


def is_of_this_machine(folder: str) -> bool:
    """Whether all that happens in a folder, and below it, happens through this system's own kernel."""
    place = os.path.realpath(folder)
    kinds: dict[str, str] = {}
    for line in _mounts().decode(errors="surrogateescape").splitlines():
        before, _, after = line.partition(" - ")
        point = before.split(" ")[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        kinds[point] = after.split(" ")[0]  # the last one mounted there is what is seen
    above = [point for point in kinds if place == point or place.startswith(point.rstrip("/") + "/")]
    below = [kind for point, kind in kinds.items() if point.startswith(place.rstrip("/") + "/")]
    return bool(above) and {kinds[max(above, key=len)], *below} <= _OF_THIS_MACHINE


def _mounts() -> bytes:
    try:
        return _MOUNTS.read_bytes()
    except OSError:
        return b""


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _has_two_names(file: str) -> bool:
    """Whether a note can be written through a name that lies elsewhere, of which nothing is heard here."""
    if not (is_note_name(file) or file.endswith(".jsonl")):
        return False
    try:
        return os.lstat(file).st_nlink > 1
    except OSError:
        return False
