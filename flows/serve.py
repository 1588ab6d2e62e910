"""`infold flows up`: a local Prefect server, its UI and the served flows, with one command, and nothing left behind.

Two children, each leading a process group of its own: the server, and `flows.serving`, which starts flow runs. This
process only watches them: it imports no Prefect. However it ends, they end with it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from flows.runner import INSTALL_HINT, is_healthy, server_record
from infold.errors import EnvironmentFault
from infold.workspace import Workspace
from tasks.environment import QUIET, SERVER, home

HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 4200
Process = subprocess.Popen[bytes]
Start = Callable[[list[str], dict[str, str], Path], Process]
_START_SECONDS = 120.0
_STOP_SECONDS = 10.0
_PR_SET_PDEATHSIG: Final = 1


@dataclass(frozen=True, slots=True)
class Served:
    """What is up: the UI's page, the API's address, the log of the server."""

    page: str
    api_url: str
    log: Path


class Stopped(Exception):
    """Ctrl-C or SIGTERM."""


def serve_flows(
    workspace: Workspace,
    *,
    port: int = DEFAULT_PORT,
    cron: str | None = None,
    ready: Callable[[Served], None],
) -> None:
    """Serves the flows of one vault until Ctrl-C or SIGTERM; `ready` is called once runs can be started.

    `cron` (five fields, local time) integrates the inbox on schedule. Raises EnvironmentFault where Prefect is not
    installed, the port is taken, or the server does not come up.
    """
    with _stopping_on_signals() as stop, children() as start:
        try:
            server, api_url, log = start_server(port, start, stop)
            with _recorded(api_url):
                serving = start(
                    [sys.executable, "-m", "flows.serving", *_arguments(workspace, cron)],
                    {**QUIET, "PREFECT_API_URL": api_url},
                    log,
                )
                _wait_until_serving(serving, log, stop)
                ready(Served(f"http://{HOST}:{port}", api_url, log))
                _watch({"The Prefect server": server, "The process that serves the flows": serving}, log, stop)
        except Stopped:
            return


def start_server(port: int, start: Start, stop: threading.Event) -> tuple[Process, str, Path]:
    """A Prefect server on this machine, healthy: its process, the address of its API, its log.

    Raises EnvironmentFault where it cannot be had, Stopped where `stop` is set meanwhile.
    """
    _require_prefect()
    _require_free(port)
    api_url = f"http://{HOST}:{port}/api"
    log = home() / "infold-server.log"
    server = start([sys.executable, "-m", "prefect", "server", "start"], _server_environment(port), log)
    deadline = time.monotonic() + _START_SECONDS
    while not is_healthy(api_url):
        _check({"The Prefect server": server}, log)
        if time.monotonic() > deadline:
            raise EnvironmentFault(f"The Prefect server is not up after {_START_SECONDS:.0f} s.", hint=f"See {log}.")
        if stop.wait(0.2):
            raise Stopped
    return server, api_url, log


def _require_prefect() -> None:
    import importlib.util

    if importlib.util.find_spec("prefect") is None:
        raise EnvironmentFault("Prefect is not installed.", hint=INSTALL_HINT)


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise EnvironmentFault(
                f"Port {port} is taken by another program.", hint="Name another: infold flows up --port 4201."
            ) from error


def _server_environment(port: int) -> dict[str, str]:
    # The port by setting and not by option: the UI takes it from here.
    return {**QUIET, **SERVER, "PREFECT_SERVER_API_HOST": HOST, "PREFECT_SERVER_API_PORT": str(port)}


def _arguments(workspace: Workspace, cron: str | None) -> list[str]:
    named = {"vault": workspace.vault, "state": workspace.state, "inbox": workspace.inbox}
    arguments = [f"--{name}={path}" for name, path in named.items()]
    arguments.append(f"--params={workspace.params.model_dump_json(exclude_defaults=True)}")
    return [*arguments, f"--cron={cron}"] if cron else arguments


@contextmanager
def _stopping_on_signals() -> Iterator[threading.Event]:
    stop = threading.Event()

    def asked(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def children() -> Iterator[Start]:
    """Starts processes (command, environment, log) that all have ended, with what they started, when the block ends."""
    started: list[Process] = []

    def start(command: list[str], environment: dict[str, str], log: Path) -> Process:
        log.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(__file__).resolve().parents[1]  # where the packages flows and tasks are found
        path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                env={**os.environ, "PREFECT_HOME": str(home()), "PYTHONPATH": path, **environment},
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


def _wait_until_serving(serving: Process, log: Path, stop: threading.Event) -> None:
    ready = ready_file()
    deadline = time.monotonic() + _START_SECONDS
    while not (ready.is_file() and ready.read_text(encoding="utf-8") == str(serving.pid)):
        _check({"The process that serves the flows": serving}, log)
        if time.monotonic() > deadline:
            raise EnvironmentFault("The flows could not be served in time.", hint=f"See {log}.")
        if stop.wait(0.2):
            raise Stopped


def ready_file() -> Path:
    """Holds the id of the serving process once it takes runs."""
    return home() / "infold-serving.pid"


def _watch(children: dict[str, Process], log: Path, stop: threading.Event) -> None:
    while not stop.wait(0.5):
        _check(children, log)
    raise Stopped


def _check(children: dict[str, Process], log: Path) -> None:
    for name, process in children.items():
        if process.poll() is not None:
            raise EnvironmentFault(f"{name} ended with code {process.returncode}.", hint=f"See {log}.")


@contextmanager
def _recorded(api_url: str) -> Iterator[None]:
    """Tells every later command of this user where the server is, as long as it is up."""
    record = server_record()
    record.write_text(json.dumps({"api_url": api_url, "pid": os.getpid()}), encoding="utf-8")
    try:
        yield
    finally:
        record.unlink(missing_ok=True)
