"""Which runner carries a job out: Prefect where a server is up, else the plain composition; and the job by either.

Prefect is imported only when it was chosen. Choosing costs at most one request to the server's health page.
"""

from __future__ import annotations

import asyncio
import importlib.util
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from flows.server_folder import ServerFolder
from flows.watching import unwatched
from infold.environment import Environment
from infold.errors import EndpointUnreachable, EnvironmentFault
from infold.progress import Progress
from infold.workspace import Workspace

if TYPE_CHECKING:
    from infold.inbox.run import Run

RunnerName = Literal["auto", "prefect", "direct"]
_HEALTH_SECONDS: Final = 1.0
_BUSY_SECONDS: Final = 10.0  # a server that is at work answers late; one that is gone refuses at once
INSTALL_HINT = "Install it: pip install 'infold[flows]'."


@dataclass(frozen=True, slots=True)
class Runner:
    """The runner that was chosen. `why` is one line for a person; `api_url` is the server's, for Prefect."""

    name: Literal["prefect", "direct"]
    why: str
    api_url: str | None = None
    auth_string: str | None = None

    @property
    def page(self) -> str | None:
        """Where a browser sees the server; None where it runs directly."""
        return _page(self.api_url) if self.api_url else None


def _untold(_sentence: str) -> None:
    """Nobody is told."""


def choose_runner(
    asked: RunnerName = "auto", workspace: Workspace | None = None, *, timeout_seconds: float | None = None
) -> Runner:
    """The runner for `asked`, with the server of `workspace` or the one that PREFECT_API_URL names.

    `auto` never fails: whatever keeps Prefect away makes it direct, and the reason says so. It waits for a server for a
    second, `prefect` for ten.

    Raises EnvironmentFault where `prefect` is asked for and Prefect or its server is not there.
    """
    if asked == "direct":
        return Runner("direct", "Running directly, as asked.")
    if timeout_seconds is None:
        timeout_seconds = _BUSY_SECONDS if asked == "prefect" else _HEALTH_SECONDS
    url, origin, auth_string = _server_of(workspace)
    problem = _problem(url, timeout_seconds)
    if problem is None:
        return Runner("prefect", f"Running with Prefect at {_page(url)} ({origin}).", url, auth_string)
    if asked == "prefect":
        raise problem
    return Runner("direct", f"Running directly: {_lower_first(str(problem))}")


def is_healthy(api_url: str, timeout_seconds: float = _HEALTH_SECONDS) -> bool:
    """Whether a Prefect server answers at this address in time. No proxy is asked."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{api_url.rstrip('/')}/health", timeout=timeout_seconds) as answer:
            return bool(answer.status == 200 and answer.read(16).strip() == b"true")
    except (OSError, ValueError, urllib.error.URLError):
        return False


def _server_of(workspace: Workspace | None) -> tuple[str, str, str | None]:
    """Address, where it is from, and password; a record of another vault, or that another user wrote, is none."""
    if url := Environment().get("PREFECT_API_URL"):
        return url, "PREFECT_API_URL", None
    if workspace is None:
        return "", "", None
    folder = ServerFolder.of(workspace)
    record = folder.record() or {}
    if record.get("vault") != str(workspace.vault) or not isinstance(record.get("api_url"), str):
        return "", "", None
    return record["api_url"], "infold flows up", folder.auth_string()


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
    workspace: Workspace,
    runner: Runner,
    progress: Progress = unwatched,
    *,
    dry_run: bool = False,
    tell: Callable[[str], None] = _untold,
) -> Run:
    """The main job by the chosen runner. The same steps in the same order, the same run.

    A server that goes away in the middle costs a sentence to `tell`: the run is finished directly, and what was decided
    until then is not asked again. Whoever calls this is there and can plan first: the run waits for no approval.
    """
    if runner.name == "direct":
        return asyncio.run(_direct(workspace, progress, tell, dry_run=dry_run))
    from flows.one_run import ServerGone, run_in_process

    integrating = workspace.params.integrate.model_copy(update={"approval": False})
    unasked = replace(workspace, params=workspace.params.model_copy(update={"integrate": integrating}))
    url = runner.api_url or ""
    environment = {"PREFECT_API_URL": url}
    if runner.auth_string:
        environment["PREFECT_API_AUTH_STRING"] = runner.auth_string
    environment["PREFECT_HOME"] = str(ServerFolder.of(workspace).home)
    try:
        return run_in_process(unasked, environment, progress, lambda: is_healthy(url, _BUSY_SECONDS), dry_run=dry_run)
    except ServerGone as gone:
        if gone.run is not None:
            tell("The Prefect server went away at the end of the run: the run is whole, its page there is not.")
            return gone.run
    tell("The Prefect server went away: the run goes on directly, with what is decided.")
    return asyncio.run(_direct(workspace, progress, tell, dry_run=dry_run))


async def _direct(workspace: Workspace, progress: Progress, tell: Callable[[str], None], *, dry_run: bool) -> Run:
    from infold.app import open_steps
    from infold.inbox.integration import integrate

    async with open_steps(workspace, progress) as steps:
        run = await integrate(workspace, steps, dry_run=dry_run)
    if run.id and not dry_run:
        await _recorded(workspace, tell)
    return run


def record_changes(workspace: Workspace, tell: Callable[[str], None] = _untold) -> None:
    """Records what a direct run changed, where DVC is set up for the vault; what keeps DVC from it is told."""
    asyncio.run(_recorded(workspace, tell))


async def _recorded(workspace: Workspace, tell: Callable[[str], None]) -> None:
    from infold.stages.record import record, repository_of

    if (repository := repository_of(workspace)) is None:
        return
    try:
        await record(repository, workspace)
    except EnvironmentFault as fault:
        tell(f"{fault} {fault.hint}".strip())
