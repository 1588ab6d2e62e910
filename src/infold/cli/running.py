"""Carrying the main job out from a prompt: with Prefect where a server is up, else directly."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from infold.cli.terminal import Terminal
from infold.locate import LocatedWorkspace

if TYPE_CHECKING:
    from infold.inbox.run import Run, RunStatus

_INTERRUPTED = 130


class Runner(StrEnum):
    """Who carries the steps out."""

    AUTO = "auto"
    PREFECT = "prefect"
    DIRECT = "direct"


def carry_out(terminal: Terminal, place: LocatedWorkspace, *, dry_run: bool, runner: Runner) -> Run:
    """The run, with bars on a terminal. An interruption says what state things are in."""
    from flows.runner import choose_runner, run_integrate
    from infold.cli.progress import Stages

    finish_what_was_stopped(terminal, place)
    known = set(_statuses(place))
    chosen = choose_runner(runner.value)
    if runner is not Runner.DIRECT:
        terminal.notice(chosen.why, style="dim")
    try:
        with Stages(terminal) as stages:
            return run_integrate(place.workspace, chosen, stages, dry_run=dry_run)
    except KeyboardInterrupt:
        terminal.notice(f"\n{_state_of_things(place, known)}")
        raise typer.Exit(_INTERRUPTED) from None


def finish_what_was_stopped(terminal: Terminal, place: LocatedWorkspace) -> None:
    """Brings a run that was killed while it wrote to its end, and says so."""
    from infold.inbox.runs import recover

    for sentence in recover(place.workspace):
        terminal.notice(sentence, style="yellow")


def _statuses(place: LocatedWorkspace) -> dict[str, RunStatus]:
    from infold.inbox.runs import RunStore

    return {run.id: run.status for run in RunStore(place.workspace.runs).list()}


def _state_of_things(place: LocatedWorkspace, known: set[str]) -> str:
    """After an interruption; `known` are the runs that were there before."""
    from infold.inbox.run import RunStatus

    new = {run_id: status for run_id, status in _statuses(place).items() if run_id not in known}
    if RunStatus.APPLYING in new.values():
        return "Interrupted while notes were being written. The next `infold integrate` finishes that first."
    for run_id, status in new.items():
        if status is not RunStatus.PLANNED:
            return f"Interrupted after everything was written: `infold show {run_id}`."
    return "Interrupted. Nothing was written to the vault; answers already paid for are kept and not asked again."
