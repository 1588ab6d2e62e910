"""One writer a vault: a kernel lock between processes, which ends with its holder, and an owner within a process.

A lock belongs to its caller (`durable.owners`): two threads, and two tasks of one loop, never both get in.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infold.durable.files import PRIVATE, close_to_others, unwritable
from infold.durable.owners import OwnedLock
from infold.errors import VaultBusy
from infold.workspace import Workspace

if TYPE_CHECKING:
    from filelock import BaseFileLock

WAIT_SECONDS: Final = 10.0
_owned: dict[Path, OwnedLock] = {}


def vault_lock(workspace: Workspace, wait_seconds: float = WAIT_SECONDS) -> contextlib.AbstractContextManager[None]:
    """Holds the vault for its caller while it writes; the caller that holds it may take it again.

    Raises VaultBusy, naming the process that holds it, when it is not free within `wait_seconds`; at once where another
    task of the caller's own thread holds it, which could not go on while this one waits.
    """
    return _held(workspace, workspace.lock_file, wait_seconds)


def integration_lock(
    workspace: Workspace, wait_seconds: float = WAIT_SECONDS
) -> contextlib.AbstractContextManager[None]:
    """Holds the inbox for one integration from its first look to its last write: two would place the same text twice.

    Others may read, apply and undo meanwhile. Another integration that is under way is waited for; raises VaultBusy,
    naming its process, where it is not done within `wait_seconds`.
    """
    return _held(workspace, workspace.lock_file.with_name("integration.lock"), wait_seconds)


@contextlib.contextmanager
def _held(workspace: Workspace, path: Path, wait_seconds: float) -> Iterator[None]:
    owned = _owned.setdefault(path, OwnedLock())
    with owned.held(wait_seconds) as is_ours:
        if not is_ours:
            raise _busy(workspace, f" (this one, pid {os.getpid()})")
        if owned.depth > 1:
            yield
            return
        lock = _kernel_lock(workspace, path, wait_seconds)
        try:
            yield
        finally:
            lock.release()


def _kernel_lock(workspace: Workspace, path: Path, wait_seconds: float) -> BaseFileLock:
    from filelock import FileLock, Timeout

    holder = path.with_name(f"{path.name}.holder")
    with unwritable(path):
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
        close_to_others(path.parent)
        lock = FileLock(path, mode=PRIVATE, thread_local=False)
        try:
            lock.acquire(timeout=wait_seconds)
        except Timeout as error:
            raise _busy(workspace, _holder(holder)) from error
        try:
            holder.touch(PRIVATE)
            holder.write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
        except BaseException:
            lock.release()
            raise
    return lock


def _busy(workspace: Workspace, holder: str) -> VaultBusy:
    return VaultBusy(
        f"Another infold process{holder} holds the vault {workspace.vault}.",
        hint="Wait until it is done, or stop it: nothing is lost by that.",
    )


def _holder(path: Path) -> str:
    try:
        return f" (pid {json.loads(path.read_text(encoding='utf-8'))['pid']})"
    except (OSError, ValueError, KeyError, TypeError):
        return ""


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_owned.clear)  # what the parent holds is not the child's
