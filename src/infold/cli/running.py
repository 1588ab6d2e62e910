"""Carrying the main job out from a prompt: with Prefect where a server is up, else directly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from infold.cli.place import Place
from infold.cli.terminal import Terminal

if TYPE_CHECKING:
    from infold.inbox.run import Run

_Progress = Callable[[str, int, int], None]
_INTERRUPTED = 130


class Runner(StrEnum):
    """Who carries the steps out."""

    AUTO = "auto"
    PREFECT = "prefect"
    DIRECT = "direct"


def carry_out(terminal: Terminal, place: Place, *, dry_run: bool, runner: Runner) -> Run:
    """The run, with bars on a terminal. An interruption says what state things are in."""
    from flows.runner import choose_runner
    from infold.cli.progress import Stages

    finish_what_was_stopped(terminal, place)
    chosen = choose_runner(runner.value)
    if runner is not Runner.DIRECT:
        terminal.notice(chosen.why, style="dim")
    try:
        with Stages(terminal) as stages:
            if chosen.name == "prefect":
                return asyncio.run(_with_prefect(place, stages, chosen.api_url, dry_run=dry_run))
            return asyncio.run(_directly(place, stages, dry_run=dry_run))
    except KeyboardInterrupt:
        terminal.notice(f"\n{_state_of_things(place)}")
        raise typer.Exit(_INTERRUPTED) from None


def finish_what_was_stopped(terminal: Terminal, place: Place) -> None:
    """Brings a run that was killed while it wrote to its end, and says so."""
    from infold.inbox.runs import recover

    for sentence in recover(place.workspace):
        terminal.notice(sentence, style="yellow")


async def _directly(place: Place, progress: _Progress, *, dry_run: bool) -> Run:
    from infold.inbox.integration import integrate
    from infold.inbox.steps import open_steps
    from infold.settings import Environment

    async with open_steps(place.workspace, Environment(), progress) as steps:
        return await integrate(place.workspace, steps, dry_run=dry_run)


async def _with_prefect(place: Place, progress: _Progress, api_url: str | None, *, dry_run: bool) -> Run:
    from tasks.environment import configure

    configure(api_url)
    from flows.integrate import integrate
    from flows.watching import watcher

    workspace = place.workspace
    watcher.set(progress)
    return await integrate(workspace.vault, workspace.state, workspace.inbox, workspace.params, dry_run)


def _state_of_things(place: Place) -> str:
    from infold.inbox.run import RunStatus
    from infold.inbox.runs import RunStore

    if any(run.status is RunStatus.APPLYING for run in RunStore(place.workspace.runs).list()):
        return "Interrupted while notes were being written. The next `infold integrate` finishes that first."
    return "Interrupted. Nothing was written to the vault; answers already paid for are kept and not asked again."
