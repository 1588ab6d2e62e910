"""Two renames that lose nothing: of two files with each other, and onto a name that must be free. In one step each.

Linux has them as flags of `renameat2`, macOS of `renamex_np`; not every file system takes them.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

_LINUX_NEW: Final = 1  # RENAME_NOREPLACE
_LINUX_SWAP: Final = 2  # RENAME_EXCHANGE
_MAC_SWAP: Final = 2  # RENAME_SWAP
_MAC_NEW: Final = 4  # RENAME_EXCL
_AT_FDCWD: Final = -100
_WITHOUT: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})

RenameCall = Callable[[bytes, bytes, bool], int]  # from, to, whether to swap; an errno, 0 where it was done


def exchange(one: Path, other: Path) -> bool:
    """Each gets the other's name, at once; False where the system cannot. Raises OSError where one is missing."""
    return _renamed(one, other, is_swap=True)


def rename_new(source: Path, target: Path) -> None:
    """Renames to a name that is free. Raises FileExistsError where it is not; `target` is as it was then."""
    if _renamed(source, target, is_swap=False):
        return
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # no hard links: the last check and the rename are two steps
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        source.rename(target)
        return
    source.unlink()


def _renamed(source: Path, target: Path, *, is_swap: bool) -> bool:
    rename = _system_rename()
    if rename is None:
        return False
    code = rename(os.fsencode(source), os.fsencode(target), is_swap)
    if code in _WITHOUT:
        return False
    if code:
        raise OSError(code, os.strerror(code), str(source), None, str(target))
    return True


@cache
def _system_rename() -> RenameCall | None:
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    name = "renameat2" if sys.platform == "linux" else "renamex_np"
    function = getattr(library, name, None)
    if function is None:
        return None

    def rename(source: bytes, target: bytes, is_swap: bool) -> int:
        if sys.platform == "linux":
            failed = function(_AT_FDCWD, source, _AT_FDCWD, target, _LINUX_SWAP if is_swap else _LINUX_NEW)
        else:
            failed = function(source, target, _MAC_SWAP if is_swap else _MAC_NEW)
        return ctypes.get_errno() if failed else 0

    return rename
