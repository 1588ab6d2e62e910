"""Which runner carries a job out: Prefect where a server is up, else the plain composition; and the job by either.

Prefect is imported only when it was chosen. Choosing costs at most one request to the server's health page.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from flows.watching import Progress, unwatched, watcher
from infold.errors import EndpointUnreachable, EnvironmentFault
from infold.workspace import Workspace
from tasks.environment import configure, home

if TYPE_CHECKING:
    from infold.inbox.run import Run

RunnerName = Literal["auto", "prefect", "direct"]
_HEALTH_SECONDS = 1.0
INSTALL_HINT = "Install it: pip install 'infold[flows]'."


@dataclass(frozen=True, slots=True)
class Runner:
    """The runner that was chosen. `why` is one line for a person; `api_url` is the server's, for Prefect."""

    name: Literal["prefect", "direct"]
    why: str
    api_url: str | None = None


def choose_runner(asked: RunnerName = "auto", *, timeout_seconds: float = _HEALTH_SECONDS) -> Runner:
    """The runner for `asked`. `auto` never fails: whatever keeps Prefect away makes it direct, and the reason says so.

    Raises EnvironmentFault where `prefect` is asked for and Prefect or its server is not there.
    """
    if asked == "direct":
        return Runner("direct", "Running directly, as asked.")
    url, origin = _server_address()
    problem = _problem(url, timeout_seconds)
    if problem is None:
        return Runner("prefect", f"Running with Prefect at {_page(url)} ({origin}).", url)
    if asked == "prefect":
        raise problem
    return Runner("direct", f"Running directly: {_lower_first(str(problem))}")


def server_record() -> Path:
    """The file in which `infold flows up` says where its server is."""
    return home() / "infold-server.json"


def is_healthy(api_url: str, timeout_seconds: float = _HEALTH_SECONDS) -> bool:
    """Whether a Prefect server answers at this address in time. No proxy is asked."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{api_url.rstrip('/')}/health", timeout=timeout_seconds) as answer:
            return bool(answer.status == 200 and answer.read(16).strip() == b"true")
    except (OSError, ValueError, urllib.error.URLError):
        return False


def _server_address() -> tuple[str, str]:
    if url := os.environ.get("PREFECT_API_URL"):
        return url, "PREFECT_API_URL"
    try:
        return str(json.loads(server_record().read_text(encoding="utf-8"))["api_url"]), "infold flows up"
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""


def _problem(url: str, timeout_seconds: float) -> EnvironmentFault | None:
    if not url:
        return EndpointUnreachable("No Prefect server is configured.", hint="Start one: infold flows up.")
    if importlib.util.find_spec("prefect") is None:
        return EnvironmentFault("Prefect is not installed.", hint=INSTALL_HINT)
    if not is_healthy(url, timeout_seconds):
        return EndpointUnreachable(f"No Prefect server answers at {url}.", hint="Start one: infold flows up.")
    return None


def _page(api_url: str) -> str:
    return api_url.rstrip("/").removesuffix("/api")


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def run_integrate(
    workspace: Workspace, runner: Runner, progress: Progress = unwatched, *, dry_run: bool = False
) -> Run:
    """The main job by the chosen runner. The same steps in the same order, the same run."""
    if runner.name == "direct":
        return asyncio.run(_direct(workspace, progress, dry_run=dry_run))
    configure(runner.api_url)
    from flows.integrate import integrate

    with _watched_by(progress):
        return asyncio.run(
            integrate(workspace.vault, workspace.state, workspace.inbox, workspace.params, dry_run=dry_run)
        )


async def _direct(workspace: Workspace, progress: Progress, *, dry_run: bool) -> Run:
    from infold.environment import Environment
    from infold.inbox.integration import integrate
    from infold.inbox.steps import open_steps
    from infold.notebook.sessions import feeds_of

    async with open_steps(workspace, Environment(), progress, feeds=feeds_of(workspace)) as steps:
        return await integrate(workspace, steps, dry_run=dry_run)


@contextmanager
def _watched_by(progress: Progress) -> Iterator[None]:
    token = watcher.set(progress)
    try:
        yield
    finally:
        watcher.reset(token)
