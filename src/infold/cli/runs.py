"""`infold runs | show | diff | apply | undo`: what was done, and taking it back."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from infold.cli.options import Call, RunArgument, command
from infold.errors import RunNotFound
from infold.locate import LocatedWorkspace

if TYPE_CHECKING:
    from rich.table import Table

    from infold.inbox.run import Run
    from infold.workspace import Workspace


def find_run(place: LocatedWorkspace, name: str, *, wanted: tuple[str, ...] = ()) -> Run:
    """The run of that id, of that unique beginning, or for `last` the latest, if possible of a `wanted` status."""
    from infold.inbox.runs import RunStore

    known = RunStore(place.workspace.runs).list()
    if not known:
        raise RunNotFound(f"There are no runs of {place.vault} yet.", hint="`infold integrate` makes one.")
    if name == "last":
        return max(known, key=lambda run: (str(run.status) in wanted, run.id))
    found = [run for run in known if run.id == name] or [run for run in known if run.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    hint = "`infold runs` lists them."
    if found:
        raise RunNotFound(
            f"{len(found)} runs begin with {name!r}: {', '.join(run.id for run in found[:5])}.", hint=hint
        )
    raise RunNotFound(f"There is no run {name!r} of {place.vault}.", hint=hint)


def workspace_of(place: LocatedWorkspace, run: Run) -> Workspace:
    """The workspace with the inbox that the run was made from."""
    return replace(place.workspace, inbox=place.vault / run.inbox)


@command
def runs(call: Call) -> int:
    """List the runs, newest first."""
    from infold.inbox.runs import RunStore

    terminal = call.terminal
    place = call.place()
    known = sorted(RunStore(place.workspace.runs).list(), key=lambda run: run.id, reverse=True)
    if terminal.is_json:
        terminal.emit({"runs": [_summary(run) for run in known]})
    elif not known:
        terminal.say(f"No runs of {place.vault} yet.")
    else:
        terminal.show(_table(known))
    return 0


def _summary(run: Run) -> dict[str, object]:
    counts = {kind: sum(p.outcome == kind for p in run.paragraphs) for kind in ("integrated", "duplicate", "left")}
    return {
        "run": run.id,
        "status": str(run.status),
        "created_at": run.created_at,
        "librarian": run.librarian,
        **counts,
        "notes": sum(change.path != run.inbox for change in run.changes),
        "usd": run.usage.usd,
    }


def _table(known: list[Run]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("run (UTC)", "status", "librarian"):
        table.add_column(name, no_wrap=True)
    for name in ("in", "dup", "left", "notes", "USD"):
        table.add_column(name, justify="right")
    for run in known:
        row = _summary(run)
        usd = "?" if run.usage.usd is None else f"{run.usage.usd:.2f}"
        counts = (str(row[name]) for name in ("integrated", "duplicate", "left", "notes"))
        table.add_row(run.id, str(run.status), run.librarian, *counts, usd)
    return table


@command
def show(call: Call, *, run: RunArgument) -> int:
    """Show a run: its chunks, what was looked at, the edits, what stayed in the inbox and why."""
    from infold.cli.outcome import show_run, show_totals

    terminal = call.terminal
    place = call.place()
    found = find_run(place, run)
    if terminal.is_json:
        terminal.emit(found.model_dump(mode="json"))
        return 0
    terminal.say(f"Run {found.id}  {found.status}  {found.created_at}", style="bold")
    show_run(terminal, found)
    show_totals(terminal, found, place.workspace.runs / found.id / "report.html")
    return 0


@command
def diff(call: Call, *, run: RunArgument) -> int:
    """Print a run's changes as a unified diff: coloured on a terminal, plain in a pipe."""
    from infold.cli.diffs import coloured
    from infold.inbox.runs import RunStore

    terminal = call.terminal
    place = call.place()
    found = find_run(place, run)
    diffs = RunStore(place.workspace.runs).diffs(found)
    if terminal.is_json:
        terminal.emit({"run": found.id, "diffs": [{"file": path, "diff": text} for path, text in diffs.items()]})
    elif terminal.out.is_terminal:
        for text in diffs.values():
            terminal.say(coloured(text))
    else:
        sys.stdout.write("".join(diffs.values()))
    return 0


@command
def apply(call: Call, *, run: RunArgument) -> int:
    """Apply a dry run that you have reviewed. Refused where a note has changed since."""
    from infold.cli.outcome import command_line, contract, exit_code, show_totals
    from infold.inbox.runs import apply_run

    terminal = call.terminal
    place = call.place()
    found = find_run(place, run, wanted=("planned",))
    done = apply_run(workspace_of(place, found), found.id)
    if terminal.is_json:
        terminal.emit(contract(done))
    else:
        terminal.say(f"Applied {done.id}.", style="bold")
        show_totals(terminal, done, place.workspace.runs / done.id / "report.html")
        terminal.say(f"undo    {command_line('undo', done.id, call.wanted)}")
    return exit_code(done)


@command
def undo(call: Call, *, run: RunArgument) -> int:
    """Take a run back, or a write of the notebook by its id (`w-…`, `w-last`).

    Later changes elsewhere in a note stay; what cannot be taken back is said exactly.
    """
    from infold.inbox.runs import undo_run

    terminal = call.terminal
    place = call.place()
    if run.startswith("w-"):
        return _take_back(call, place, run)
    found = find_run(place, run, wanted=("applied", "partial"))
    result = undo_run(workspace_of(place, found), found.id)
    if terminal.is_json:
        terminal.emit(
            {
                "run": result.run.id,
                "status": str(result.run.status),
                "restored": list(result.restored),
                "conflicts": [{"file": c.path, "text": c.text, "reason": c.reason} for c in result.conflicts],
            }
        )
        return int(bool(result.conflicts))
    for path in result.restored:
        terminal.say(f"restored {path}")
    for conflict in result.conflicts:
        terminal.say(f"kept     {conflict.path}: {conflict.reason}", style="yellow")
        for line in conflict.text.splitlines():
            terminal.say(f"         the run had written: {line}")
    terminal.say(f"Run {result.run.id} is {str(result.run.status).replace('-', ' ')}.", style="bold")
    return int(bool(result.conflicts))


def _take_back(call: Call, place: LocatedWorkspace, name: str) -> int:
    """A write of the notebook."""
    from infold.notebook.kept_writes import take_back

    done = take_back(place.workspace, name)
    if call.terminal.is_json:
        call.terminal.emit({"path": done.path, "removed": done.is_removed, "bytesAfter": done.bytes_after})
    elif done.is_removed:
        call.terminal.say(f"removed  {done.path}, which that write had made")
    else:
        call.terminal.say(f"restored {done.path} ({done.bytes_before:,} → {done.bytes_after:,} bytes)")
    return 0
