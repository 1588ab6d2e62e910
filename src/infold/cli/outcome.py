"""A run on the screen."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infold.cli.diffs import abridged, short
from infold.cli.terminal import Terminal, own_command
from infold.inbox.run import ChunkRecord, EditRecord, ParagraphRecord, Run, RunStatus
from infold.librarian.spend import Usage
from infold.locate import WorkspaceRequest
from infold.text import counted

if TYPE_CHECKING:
    from rich.table import Table

    from infold.operations.inbox import InboxIntegrateAnswer

_INDENT: Final = 4
_OPENING_CHARACTERS: Final = 52
_QUOTE_CHARACTERS: Final = 240


def exit_code(done: InboxIntegrateAnswer) -> int:
    """0, or 1 where paragraphs stay in the inbox."""
    return int(done.waiting > 0 or any(paragraph.outcome == "left" for paragraph in done.paragraphs))


def show_run(terminal: Terminal, run: Run) -> None:
    """Chunk by chunk: what was looked at, what was edited, and what stays in the inbox and why."""
    paragraphs = {p.n: p for p in run.paragraphs}
    numbers = count(1) if run.status is RunStatus.PLANNED else None  # of hunks, by which they are decided on
    for chunk in run.chunks:
        _show_chunk(terminal, chunk, [paragraphs[n] for n in chunk.paragraphs if n in paragraphs], numbers)
    _show_chunkless(terminal, [p for p in run.paragraphs if p.chunk is None])


def _show_chunk(
    terminal: Terminal, chunk: ChunkRecord, paragraphs: Sequence[ParagraphRecord], numbers: Iterator[int] | None
) -> None:
    terminal.say("")
    titles = [f"Chunk {chunk.id}", *[""] * (len(paragraphs) - 1)]
    terminal.show(_rows([(title, _opening(p)) for title, p in zip(titles, paragraphs, strict=True)], "bold"))
    terminal.show(
        _rows(
            [
                (label, " · ".join(path.removesuffix(".md") for path in paths))
                for label, paths in (("  looked at", chunk.viewed), ("  opened", chunk.checked_out))
                if paths
            ],
            "dim",
            "dim",
        )
    )
    for edit in chunk.edits:
        number = f"{next(numbers)}  " if numbers is not None and edit.kind == "edit" else ""
        _show_edit(terminal, edit, number, is_named=len(paragraphs) > 1)
    for paragraph in paragraphs:
        if paragraph.outcome == "left":
            _show_left(terminal, paragraph)


def _show_chunkless(terminal: Terminal, paragraphs: Sequence[ParagraphRecord]) -> None:
    """Paragraphs that came into no chunk; many with one reason are said once."""
    for reason in dict.fromkeys(p.reason for p in paragraphs):
        numbers = [str(p.n) for p in paragraphs if p.reason == reason]
        said = f"paragraph{'s' * (len(numbers) > 1)} {', '.join(numbers)}"
        terminal.say("")
        terminal.show(_rows([("In no chunk", said)], "bold"))
        terminal.show(
            _rows(
                [("  ✗", f"{'they stay' if len(numbers) > 1 else 'it stays'} in the inbox: {reason}")],
                "red",
                "red",
                width=3,
            )
        )


def _opening(paragraph: ParagraphRecord) -> str:
    return f"paragraph {paragraph.n}  “{abridged(paragraph.text, _OPENING_CHARACTERS)}”"


def _show_edit(terminal: Terminal, edit: EditRecord, number: str, *, is_named: bool) -> None:
    """`number` is the hunk's, of a plan. `is_named`: of several paragraphs, the edit says which it takes care of."""
    from rich.padding import Padding

    whose = f"  paragraph{'s' * (len(edit.paragraphs) > 1)} {', '.join(map(str, edit.paragraphs))}" if is_named else ""
    if edit.kind == "duplicate":
        terminal.show(_rows([("  =", f"{edit.file} has it already{whose}")], "bold yellow", "bold yellow", width=3))
        terminal.show(_rows([("", f"“{abridged(edit.find, _QUOTE_CHARACTERS)}”")], "", "yellow", width=3))
    else:
        terminal.show(_rows([("  →", f"{number}{edit.file}{whose}")], "bold green", "bold green", width=3))
        terminal.show(Padding(short(edit.find, edit.replace or ""), (0, 0, 0, _INDENT)))
        if edit.reason:
            terminal.show(_rows([("", f"why: {edit.reason}")], "", "dim", width=3))


def _show_left(terminal: Terminal, paragraph: ParagraphRecord) -> None:
    reason = f"paragraph {paragraph.n} stays in the inbox: {paragraph.reason}"
    terminal.show(_rows([("  ✗", reason)], "red", "red", width=3))


def _rows(rows: Sequence[tuple[str, str]], label_style: str, style: str = "", *, width: int = 11) -> Table:
    """Labels in a column of their own, texts beside them, wrapped under themselves."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=width, no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(Text(label, style=label_style), Text(text, style=style))
    return grid


def show_totals(terminal: Terminal, run: Run, report: Path | None) -> None:
    """The last lines: how many of what, what it cost, where the report is."""
    counts = {kind: sum(p.outcome == kind for p in run.paragraphs) for kind in ("integrated", "duplicate", "left")}
    notes = [c.path for c in run.changes if c.path != run.inbox]
    will = "would go" if run.status is RunStatus.PLANNED else "went"
    terminal.say("")
    terminal.say(
        f"{counted(len(run.paragraphs), 'paragraph')}: {counts['integrated']} {will} into "
        f"{counted(len(notes), 'note')}, {counts['duplicate']} already there, {counts['left']} left in the inbox.",
        style="bold",
    )
    for warning in run.warnings:
        terminal.notice(f"! {warning}", style="yellow")
    for skipped in run.skipped:
        terminal.notice(f"! skipped {skipped.path}: {skipped.reason}", style="yellow")
    terminal.say(f"cost    {cost(run.usage)}, {run.seconds:.1f} s, librarian {run.librarian}")
    if report is not None:
        terminal.say(f"report  {report.relative_to(Path.cwd()) if report.is_relative_to(Path.cwd()) else report}")


def cost(usage: Usage) -> str:
    """What was paid, in words."""
    return usage.in_words if usage.calls else f"nothing ({usage.in_words})"


def command_line(verb: str, run_id: str, wanted: WorkspaceRequest) -> str:
    """A command that works as printed, from the same folder."""
    words = [verb, run_id]
    for option, folder in (("--vault", wanted.vault), ("--state", wanted.state), ("--params", wanted.params)):
        if folder is not None:
            words += [option, str(folder)]
    return f"{own_command()} {shlex.join(words)}"
