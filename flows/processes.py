"""Child processes that end with whoever started them, however that ends, and with all that they started."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from infold.errors import EnvironmentFault

Process = subprocess.Popen[bytes]
Start = Callable[[list[str], Mapping[str, str], Path], Process]
_STOP_SECONDS: Final = 10.0
_PR_SET_PDEATHSIG: Final = 1


@contextmanager
def children() -> Iterator[Start]:
    """Starts processes (command, environment, log) that all have ended, with what they started, when the block ends."""
    started: list[Process] = []

    def start(command: list[str], environment: Mapping[str, str], log: Path) -> Process:
        folder = Path(__file__).resolve().parents[1]  # where the packages flows and tasks are found
        path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
        with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as output:
            process = subprocess.Popen(
                command,
                env={**os.environ, "PYTHONPATH": path, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - the one thread of this process is here
            )
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in reversed(started):
            _end_group(process)


def check_alive(processes: Mapping[str, Process], log: Path) -> None:
    """Raises EnvironmentFault where one of these has ended."""
    for name, process in processes.items():
        if process.poll() is not None:
            raise EnvironmentFault(f"{name} ended with code {process.returncode}.", hint=f"See {log}.")


def is_alive(pid: object) -> bool:
    """Whether there is a process of this id."""
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _end_with_parent() -> None:
    """Asks Linux to end this child when its parent dies, even by SIGKILL. Elsewhere only an orderly end is covered."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_group(process: Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < deadline and _group_lives(process):
            time.sleep(0.05)
    process.wait()


def _group_lives(process: Process) -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True
