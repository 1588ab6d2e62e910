"""`infold runs | show | diff | apply | undo`: what was done, and taking it back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from infold.cli.diffs import coloured
from infold.cli.options import Call, RunArgument, command
from infold.cli.outcome import command_line, exit_code, show_run, show_totals
from infold.operations.inbox import (
    RunListRequest,
    RunRequest,
    RunSummary,
    run_apply,
    run_diff,
    run_list,
    run_show,
    run_undo,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table


@command
def runs(call: Call) -> int:
    """List the runs, newest first."""
    terminal = call.terminal
    with call.vault() as vault:
        found = run_list(vault, RunListRequest())
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
    for name in ("run (UTC)", "status", "librarian"):
        table.add_column(name, no_wrap=True)
    for name in ("in", "dup", "left", "notes", "USD"):
        table.add_column(name, justify="right")
    for run in known:
        usd = "?" if run.usd is None else f"{run.usd:.2f}"
        counts = (str(count) for count in (run.integrated, run.duplicate, run.left, run.notes))
        table.add_row(run.run, str(run.status), run.librarian, *counts, usd)
    return table


@command
def show(call: Call, *, run: RunArgument) -> int:
    """Show a run: its chunks, what was looked at, the edits, what stayed in the inbox and why."""
    terminal = call.terminal
    with call.vault() as vault:
        answer = run_show(vault, RunRequest(run=run))
        found = answer.run
        if terminal.is_json:
            terminal.emit(answer.as_json())
            return 0
        terminal.say(f"Run {found.id}  {found.status}  {found.created_at}", style="bold")
        show_run(terminal, found)
        show_totals(terminal, found, vault.workspace.runs / found.id / "report.html")
    return 0


@command
def diff(call: Call, *, run: RunArgument) -> int:
    """Print a run's changes as a unified diff: coloured on a terminal, plain in a pipe."""
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
def apply(call: Call, *, run: RunArgument) -> int:
    """Apply a dry run that you have reviewed. Refused where a note has changed since."""
    terminal = call.terminal
    with call.vault() as vault:
        done = run_apply(vault, RunRequest(run=run))
        if terminal.is_json:
            terminal.emit(done.as_json())
            return exit_code(done)
        applied = vault.find_run(done.run or "")
        terminal.say(f"Applied {applied.id}.", style="bold")
        show_totals(terminal, applied, vault.workspace.runs / applied.id / "report.html")
        terminal.say(f"undo    {command_line('undo', applied.id, call.wanted)}")
    return exit_code(done)


@command
def undo(call: Call, *, run: RunArgument) -> int:
    """Take a run back, or a write of the notebook by its id (`w-…`, `w-last`).

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
        terminal.say(f"removed  {path}, which that write had made")
    for conflict in done.conflicts:
        terminal.say(f"kept     {conflict.file}: {conflict.reason}", style="yellow")
        for line in conflict.text.splitlines():
            terminal.say(f"         the run had written: {line}")
    what = "Write" if done.run.startswith("w-") else "Run"
    terminal.say(f"{what} {done.run} is {done.status.replace('-', ' ')}.", style="bold")
    return code
