"""`infold runs | show | diff | apply | undo`: what was done, taking it back, and forgetting what is old."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.diffs import coloured
from infold.cli.options import Call, RunArgument, command
from infold.cli.outcome import command_line, exit_code, show_run, show_totals
from infold.operations.inbox import (
    ChangeRecord,
    RunApplyRequest,
    RunListRequest,
    RunRequest,
    RunSummary,
    run_apply,
    run_diff,
    run_list,
    run_show,
    run_undo,
)
from infold.operations.pruning import RunPruneRequest, run_prune
from infold.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from infold.app import OpenVault
    from infold.cli.terminal import Terminal
    from infold.operations.inbox import InboxIntegrateAnswer


@command
def runs(
    call: Call,
    *,
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", metavar="N", min=1, help="Only so many, the newest.")
    ] = None,
) -> int:
    """List every change, newest first: integrations, writes, logs, new, renamed and deleted notes."""
    terminal = call.terminal
    with call.vault() as vault:
        found = run_list(vault, RunListRequest(limit=limit))
        if terminal.is_json:
            terminal.emit(found.as_json())
        elif not found.runs:
            terminal.say(f"No runs of {vault.workspace.vault} yet.")
        else:
            terminal.show(_table(found.runs))
    return 0


def _table(known: Sequence[RunSummary]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    longest = max((len(run.run) for run in known), default=0)  # an id that is cut can be typed nowhere
    for name in ("run (UTC)", "kind", "status"):
        table.add_column(name, no_wrap=True, min_width=longest if name.startswith("run") else None)
    table.add_column("what", overflow="fold")
    for run in known:
        table.add_row(run.run, str(run.kind), str(run.status), run.summary or _outcome(run))
    return table


def _outcome(run: RunSummary) -> str:
    """What became of the paragraphs of an integration, and what it cost."""
    counts = {"in": run.integrated, "duplicate": run.duplicate, "left": run.left}
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    paid = "? USD" if run.usd is None else f"{run.usd:.2f} USD" if run.usd else ""
    notes = counted(run.notes, "note") if run.notes else ""
    return " · ".join(part for part in (said, notes, run.librarian, paid) if part)


@command
def prune(
    call: Call,
    *,
    days: Annotated[int, typer.Option(metavar="N", min=0, help="Those made more than so many days ago.")] = 90,
    keep: Annotated[int, typer.Option(metavar="N", min=1, help="The newest so many stay, however old they are.")] = 20,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", metavar="", help="Do it; without, it is only said what would go.")
    ] = False,
) -> int:
    """Forget old changes, with their reports and all that is kept to take them back. No note changes.

    What stays can be undone as before. What is not finished never goes.
    """
    terminal = call.terminal
    with call.vault() as vault:
        done = run_prune(vault, RunPruneRequest(days=days, keep=keep, dry_run=not yes))
        if terminal.is_json:
            return terminal.answer(done)
        if done.runs and not (yes and terminal.is_quiet):
            terminal.show(_table(done.runs))
        size, count = f"{done.bytes_freed / 1e6:.1f} MB", len(done.runs)
        changes = counted(count, "change")
        if not done.runs:
            terminal.say(f"Nothing is older than {days} days, but for the newest {keep}.")
        elif yes:
            terminal.say(f"Forgotten: {changes}, {size}. They cannot be undone any more.", style="bold")
        else:
            terminal.say(f"Would be forgotten: {changes}, {size}; --yes does it.", style="bold")
    return 0


@command
def show(call: Call, *, run: RunArgument) -> int:
    """Show a run: its chunks, what was looked at, the edits, what stayed in the inbox and why; or another change."""
    terminal = call.terminal
    with call.vault() as vault:
        answer = run_show(vault, RunRequest(run=run))
        found = answer.run
        if terminal.is_json:
            return terminal.answer(answer)
        if found is None:
            _show_change(terminal, answer.change)
            return 0
        terminal.say(f"Run {found.id}  {found.status}  {found.created_at}", style="bold")
        show_run(terminal, found)
        show_totals(terminal, found, vault.workspace.runs / found.id / "report.html")
    return 0


def _show_change(terminal: Terminal, change: ChangeRecord | None) -> None:
    if change is None:
        return
    terminal.say(f"{str(change.kind).capitalize()} {change.id}  {change.status}  {change.at}", style="bold")
    terminal.say(change.summary)
    for file in change.files:
        terminal.say(f"{file.what:8} {file.file}" + (f", which was {file.moved_from}" if file.moved_from else ""))
    for path in change.lost:
        terminal.say(f"kept     {path}: somebody changed it at the same moment", style="yellow")


@command
def diff(call: Call, *, run: RunArgument) -> int:
    """Print what a run or another change did as a unified diff: coloured on a terminal, plain in a pipe."""
    terminal = call.terminal
    with call.vault() as vault:
        found = run_diff(vault, RunRequest(run=run))
    if terminal.is_json:
        terminal.emit(found.as_json())
    elif terminal.out.is_terminal:
        for file in found.diffs:
            terminal.say(coloured(file.diff))
    else:
        sys.stdout.write("".join(file.diff for file in found.diffs))
    return 0


@command
def apply(
    call: Call,
    *,
    run: RunArgument,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="HUNK", help="Only these hunks (3, or 1,3,8) or this note (a path); repeatable."),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option("--except", metavar="HUNK", help="All but these hunks, or this note; repeatable."),
    ] = None,
    anew: Annotated[
        bool,
        typer.Option(
            "--anew", metavar="", help="Ask again for the notes that changed since; the rest of the plan is kept."
        ),
    ] = False,
) -> int:
    """Apply a dry run that you have reviewed. Refused where a note has changed since, but for `--anew`.

    Hunks have the numbers that the plan and `infold review` show. What is not applied stays in the inbox.
    """
    terminal = call.terminal
    with call.vault() as vault:
        wanted = RunApplyRequest(run=run, only=tuple(only or ()), leave_out=tuple(leave_out or ()), anew=anew)
        done = run_apply(vault, wanted)
        if terminal.is_json:
            terminal.emit(done.as_json())
            return exit_code(done)
        show_applied(call, vault, done)
    return exit_code(done)


def show_applied(call: Call, vault: OpenVault, done: InboxIntegrateAnswer) -> None:
    """What was applied, and how to take it back."""
    applied = vault.find_run(done.run or "")
    call.terminal.say(f"Applied {applied.id}.", style="bold")
    show_totals(call.terminal, applied, vault.workspace.runs / applied.id / "report.html")
    call.terminal.say(f"undo    {command_line('undo', applied.id, call.wanted)}")


@command
def undo(call: Call, *, run: RunArgument) -> int:
    """Take a run back, or any other change by its id; `w-last` is the newest write or log.

    Later changes elsewhere in a note stay; what cannot be taken back is said exactly.
    """
    terminal = call.terminal
    with call.vault() as vault:
        done = run_undo(vault, RunRequest(run=run))
    code = int(bool(done.conflicts))
    if terminal.is_json:
        terminal.emit(done.as_json())
        return code
    for path in done.restored:
        terminal.say(f"restored {path}")
    for path in done.removed:
        terminal.say(f"removed  {path}, which it had made")
    for conflict in done.conflicts:
        terminal.say(f"kept     {conflict.file}: {conflict.reason}", style="yellow")
        for line in conflict.text.splitlines():
            terminal.say(f"         the run had written: {line}")
    terminal.say(f"{done.run} is {done.status.replace('-', ' ')}.", style="bold")
    return code
