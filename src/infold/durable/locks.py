"""One writing process a vault: a kernel lock, which ends with its holder however that ends."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from infold.durable.files import unwritable
from infold.errors import VaultBusy
from infold.workspace import Workspace

WAIT_SECONDS: Final = 10.0


def vault_lock(workspace: Workspace, wait_seconds: float = WAIT_SECONDS) -> contextlib.AbstractContextManager[None]:
    """Holds the vault for this process while it writes; a thread that holds it may take it again.

    Raises VaultBusy, naming the process that holds it, when it is not free within `wait_seconds`.
    """
    return _held(workspace, workspace.lock_file, wait_seconds)


def integration_lock(workspace: Workspace) -> contextlib.AbstractContextManager[None]:
    """Holds the inbox for one integration from its first look to its last write: two would place the same text twice.

    Others may read, apply and undo meanwhile. Raises VaultBusy at once where another integration is under way.
    """
    return _held(workspace, workspace.lock_file.with_name("integration.lock"), 0)


@contextlib.contextmanager
def _held(workspace: Workspace, path: Path, wait_seconds: float) -> Iterator[None]:
    from filelock import FileLock, Timeout

    holder = path.with_name(f"{path.name}.holder")
    with unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, is_singleton=True)
        try:
            lock.acquire(timeout=wait_seconds)
        except Timeout as error:
            raise VaultBusy(
                f"Another infold process{_holder(holder)} holds the vault {workspace.vault}.",
                hint="Wait until it is done, or stop it: nothing is lost by that.",
            ) from error
    try:
        if lock.lock_counter == 1:
            with unwritable(holder):
                holder.write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
        yield
    finally:
        lock.release()


def _holder(path: Path) -> str:
    try:
        return f" (pid {json.loads(path.read_text(encoding='utf-8'))['pid']})"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
