"""`infold flows up`: a local Prefect server, its UI and the served flows, with one command, and nothing left behind.

Two children, each leading a process group of its own: the server, and `flows.serving`, which starts flow runs. This
process only watches them: it imports no Prefect. However it ends, they end with it. The server is this user's alone:
it asks for a password, and answers no page but its own.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from flows.processes import Process, Start, check_alive, children
from flows.runner import INSTALL_HINT, is_healthy
from flows.schedule_check import Scheduled, problems, scheduled_flows
from flows.server import HOST, origin_of
from flows.server_folder import ServerFolder, write_own_json
from infold.errors import EnvironmentFault
from infold.workspace import Workspace
from tasks.environment import QUIET, SERVER, guarding

DEFAULT_PORT: Final = 4200
_START_SECONDS: Final = 120.0
_SERVER, _SERVING = "The Prefect server", "The process that serves the flows"


@dataclass(frozen=True, slots=True)
class Served:
    """What is up: the UI's page, the API's address, the file with what the page asks for, the log, each schedule."""

    page: str
    api_url: str
    password_file: Path
    log: Path
    flows: tuple[Scheduled, ...]


class Stopped(Exception):
    """Ctrl-C or SIGTERM."""


def _unheard(_sentence: str) -> None:
    """Nobody listens."""


def serve_flows(
    workspace: Workspace,
    *,
    port: int = DEFAULT_PORT,
    ready: Callable[[Served], None],
    warn: Callable[[str], None] = _unheard,
) -> None:
    """Serves the flows of one vault until Ctrl-C or SIGTERM.

    `ready` is called once runs can be started; `warn` gets a sentence for each schedule of which no run was planned or
    started in time. Raises EnvironmentFault where Prefect is not installed, the port is taken, or the server does not
    come up.
    """
    folder = ServerFolder.of(workspace)
    with _stopping_on_signals() as stop, children() as start:
        try:
            server, api_url = start_server(port, folder, start, stop)
            with record_server(folder, workspace, api_url):
                serving = _start_serving(workspace, folder, api_url, start)
                processes = {_SERVER: server, _SERVING: serving}
                _wait_until_serving(processes, folder, stop)
                ready(_served(folder, port, api_url))
                _watch(processes, folder, stop, warn)
        except Stopped:
            return


def start_server(port: int, folder: ServerFolder, start: Start, stop: threading.Event) -> tuple[Process, str]:
    """A Prefect server on this machine, healthy: its process and the address of its API.

    Raises EnvironmentFault where it cannot be had, Stopped where `stop` is set meanwhile.
    """
    if importlib.util.find_spec("prefect") is None:
        raise EnvironmentFault("Prefect is not installed.", hint=INSTALL_HINT)
    _require_free(port)
    folder.make()
    # The port by setting and not by option: the UI takes it from here.
    where = {"PREFECT_HOME": str(folder.home), "PREFECT_SERVER_API_HOST": HOST, "PREFECT_SERVER_API_PORT": str(port)}
    environment = {**QUIET, **SERVER, **where, **guarding(origin_of(port), folder.auth_string())}
    server = start([sys.executable, "-m", "flows.server"], environment, folder.log)
    api_url = f"{origin_of(port)}/api"
    deadline = time.monotonic() + _START_SECONDS
    while not is_healthy(api_url):
        check_alive({_SERVER: server}, folder.log)
        if time.monotonic() > deadline:
            raise EnvironmentFault(f"{_SERVER} is not up after {_START_SECONDS:.0f} s.", hint=f"See {folder.log}.")
        if stop.wait(0.2):
            raise Stopped
    return server, api_url


def _start_serving(workspace: Workspace, folder: ServerFolder, api_url: str, start: Start) -> Process:
    named = {"vault": workspace.vault, "state": workspace.state, "inbox": workspace.inbox}
    arguments = [f"--{name}={path}" for name, path in named.items()]
    arguments.append(f"--params={workspace.params.model_dump_json(exclude_defaults=True)}")
    environment = {
        **QUIET,
        "PREFECT_HOME": str(folder.home),
        "PREFECT_API_URL": api_url,
        "PREFECT_API_AUTH_STRING": folder.auth_string(),
        "INFOLD_SERVED": os.pathsep.join(map(str, named.values())),
    }
    return start([sys.executable, "-m", "flows.serving", *arguments], environment, folder.log)


def _served(folder: ServerFolder, port: int, api_url: str) -> Served:
    flows = tuple(scheduled_flows(folder.serving()))
    return Served(origin_of(port), api_url, folder.password_file, folder.log, flows)


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise EnvironmentFault(
                f"Port {port} is taken by another program.", hint="Name another: infold flows up --port 4201."
            ) from error


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


def _wait_until_serving(processes: dict[str, Process], folder: ServerFolder, stop: threading.Event) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while (folder.serving() or {}).get("pid") != processes[_SERVING].pid:
        check_alive(processes, folder.log)
        if time.monotonic() > deadline:
            raise EnvironmentFault("The flows could not be served in time.", hint=f"See {folder.log}.")
        if stop.wait(0.2):
            raise Stopped


def _watch(
    processes: dict[str, Process], folder: ServerFolder, stop: threading.Event, warn: Callable[[str], None]
) -> None:
    """Until stopped: a child that ends is an error; a schedule that does not work is said once."""
    said: set[str] = set()
    while not stop.wait(0.5):
        check_alive(processes, folder.log)
        now = set(problems(folder))
        for sentence in sorted(now - said):
            warn(sentence)
        said = now
    raise Stopped


@contextmanager
def record_server(folder: ServerFolder, workspace: Workspace, api_url: str) -> Iterator[None]:
    """Tells later commands on this vault, by this user, where the server is, as long as it is up."""
    vault = str(workspace.vault)
    write_own_json(folder.record_file, {"api_url": api_url, "pid": os.getpid(), "vault": vault})
    try:
        yield
    finally:
        folder.record_file.unlink(missing_ok=True)
        folder.serving_file.unlink(missing_ok=True)
