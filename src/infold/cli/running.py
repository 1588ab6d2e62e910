"""Carrying the main job out from a prompt: with Prefect where a server is up, else directly."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from infold.cli.place import Place
from infold.cli.terminal import Terminal

if TYPE_CHECKING:
    from infold.inbox.run import Run

_INTERRUPTED = 130


class Runner(StrEnum):
    """Who carries the steps out."""

    AUTO = "auto"
    PREFECT = "prefect"
    DIRECT = "direct"


def carry_out(terminal: Terminal, place: Place, *, dry_run: bool, runner: Runner) -> Run:
    """The run, with bars on a terminal. An interruption says what state things are in."""
    from flows.runner import choose_runner, run_integrate
    from infold.cli.progress import Stages

    finish_what_was_stopped(terminal, place)
    chosen = choose_runner(runner.value)
    if runner is not Runner.DIRECT:
        terminal.notice(chosen.why, style="dim")
    try:
        with Stages(terminal) as stages:
            return run_integrate(place.workspace, chosen, stages, dry_run=dry_run)
    except KeyboardInterrupt:
        terminal.notice(f"\n{_state_of_things(place)}")
        raise typer.Exit(_INTERRUPTED) from None


def finish_what_was_stopped(terminal: Terminal, place: Place) -> None:
    """Brings a run that was killed while it wrote to its end, and says so."""
    from infold.inbox.runs import recover

    for sentence in recover(place.workspace):
        terminal.notice(sentence, style="yellow")


def _state_of_things(place: Place) -> str:
    from infold.inbox.run import RunStatus
    from infold.inbox.runs import RunStore

    if any(run.status is RunStatus.APPLYING for run in RunStore(place.workspace.runs).list()):
        return "Interrupted while notes were being written. The next `infold integrate` finishes that first."
    return "Interrupted. Nothing was written to the vault; answers already paid for are kept and not asked again."
