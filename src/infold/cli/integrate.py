"""`infold integrate`: the main job from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infold.app import OpenVault
from infold.cli.forecast import agreed
from infold.cli.options import LIBRARIAN, Call, ModelName, PaidYesOption, WhoDecides, command
from infold.cli.outcome import command_line, exit_code, show_run, show_totals
from infold.cli.running import RunnerOption, carry_out
from infold.cli.terminal import Terminal
from infold.inbox.run import RunStatus
from infold.locate import WorkspaceRequest
from infold.operations.inbox import InboxIntegrateAnswer, InboxIntegrateRequest


@command
def integrate(
    call: Call,
    *,
    inbox: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The text to fold in. Else vault.inbox_file (inbox.md) of the vault."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Plan only: write nothing to the vault.")
    ] = False,
    runner: Annotated[
        RunnerOption, typer.Option(help="auto takes Prefect when a server is configured or up, else direct.")
    ] = RunnerOption.AUTO,
    yes: PaidYesOption = False,
    librarian: WhoDecides = None,
    model: ModelName = None,
    max_usd: Annotated[
        float | None,
        typer.Option(metavar="USD", min=0, help="Stop before this is passed.", rich_help_panel=LIBRARIAN),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Stop before this is passed.", rich_help_panel=LIBRARIAN),
    ] = None,
) -> int:
    """Fold the inbox into the notes it belongs in.

    Paragraphs are grouped into chunks; each chunk explores the links from the root note, opens at most three notes and
    is edited into them. What is placed leaves the inbox, the rest stays there with the reason. `infold undo` takes it
    back.
    """
    terminal = call.terminal
    opened = call.vault(
        inbox=inbox,
        librarian__kind=librarian,
        librarian__model=model,
        librarian__max_usd=max_usd,
        librarian__max_tokens=max_tokens,
    )
    with opened as vault:
        if not terminal.is_quiet:
            terminal.say(f"infold  {vault.workspace.vault}", style="bold")
        wanted = InboxIntegrateRequest(dry_run=dry_run)
        request = agreed(terminal, vault, "inbox_integrate", wanted, vault.estimate_integration, yes=yes)
        if request is None:
            terminal.say("Nothing was asked, nothing was written.")
            return 0
        done = carry_out(terminal, vault, request, runner)
        if terminal.is_json:
            terminal.emit(done.as_json())
        else:
            show_result(terminal, vault, done, call.wanted)
    return exit_code(done)


def show_result(terminal: Terminal, vault: OpenVault, done: InboxIntegrateAnswer, wanted: WorkspaceRequest) -> None:
    """What was done, and what can be done next."""
    if done.run is None:
        for warning in done.warnings:
            terminal.say(warning)
        terminal.say("Nothing to do.")
        return
    run = vault.find_run(done.run)
    if not terminal.is_quiet:
        show_run(terminal, run)
    show_totals(terminal, run, vault.workspace.runs / run.id / "report.html")
    if run.status is RunStatus.PLANNED:
        terminal.say(f"review  {command_line('review', run.id, wanted)}")
        terminal.say(f"apply   {command_line('apply', run.id, wanted)}")
        terminal.say("Nothing was written to the vault.")
    elif run.changes:
        terminal.say(f"undo    {command_line('undo', run.id, wanted)}")
