"""Carrying the main job out from a prompt: with Prefect where a server is up, else directly."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from infold import lazy
from infold.cli.progress import Stages
from infold.cli.terminal import Terminal
from infold.operations.contract import Nothing
from infold.operations.inbox import InboxIntegrateRequest, inbox_integrate, integrate_answer, run_recover

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.inbox.run import RunStatus
    from infold.operations.inbox import InboxIntegrateAnswer

_INTERRUPTED = 130


class RunnerOption(StrEnum):
    """Who carries the steps out."""

    AUTO = "auto"
    PREFECT = "prefect"
    DIRECT = "direct"


def carry_out(
    terminal: Terminal, vault: OpenVault, request: InboxIntegrateRequest, runner: RunnerOption
) -> InboxIntegrateAnswer:
    """What was done, with bars on a terminal. An interruption says what state things are in."""
    from flows.runner import choose_runner, record_changes, run_integrate

    for sentence in run_recover(vault, Nothing()).finished:
        terminal.notice(sentence, style="yellow")
    known = set(_statuses(vault))
    chosen = choose_runner(runner.value, vault.workspace)
    if runner is not RunnerOption.DIRECT:
        terminal.notice(chosen.why, style="dim")
    try:
        with Stages(terminal) as stages, vault.reporting(stages):
            if chosen.name == "direct":
                answer = inbox_integrate(vault, request)
                if answer.run and answer.status != lazy.inbox.run.RunStatus.PLANNED:
                    record_changes(vault.workspace, terminal.notice)
                return answer
            run = run_integrate(vault.workspace, chosen, stages, dry_run=request.dry_run, tell=terminal.notice)
            return integrate_answer(run)
    except KeyboardInterrupt:
        terminal.notice(f"\n{_state_of_things(vault, known)}")
        raise typer.Exit(_INTERRUPTED) from None


def _statuses(vault: OpenVault) -> dict[str, RunStatus]:
    return {run.id: run.status for run in vault.runs.list()}


def _state_of_things(vault: OpenVault, known: set[str]) -> str:
    """After an interruption; `known` are the runs that were there before."""
    new = {run_id: status for run_id, status in _statuses(vault).items() if run_id not in known}
    if lazy.inbox.run.RunStatus.APPLYING in new.values():
        return "Interrupted while notes were being written. The next `infold integrate` finishes that first."
    for run_id, status in new.items():
        if status is not lazy.inbox.run.RunStatus.PLANNED:
            return f"Interrupted after everything was written: `infold show {run_id}`."
    return "Interrupted. Nothing was written to the vault; answers already paid for are kept and not asked again."
