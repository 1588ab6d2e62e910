"""How far long work is: bars where a person looks, now and then a bare line otherwise. Always on stderr."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from infold.cli.terminal import ASIDE, Terminal

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_WORDS: Final = {
    "tables": "Reading notes",
    "summaries": "Summarising",
    "index": "Indexing",
    "waiting": "Waiting for another infold that brings the index up to date",
    "keywords": "Indexing words",
    "vectors": "Indexing meaning",
    "compacting": "Making the index fast to open",
    "group": "Grouping paragraphs",
    "chunks": "Exploring and editing",
    "apply": "Writing notes",
    "cases": "Filing what was left out",
    "download": "Downloading, MB",
}
_SECONDS_BETWEEN_LINES: Final = 5.0


class Stages:
    """The stages of one job; calling it says how far one is: `stages("chunks", 3, 9)`."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        if self._terminal.is_watched and not self._terminal.is_quiet:
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
            )

            self._bars = Progress(
                SpinnerColumn(finished_text="✓"),
                TextColumn("{task.description}"),
                BarColumn(bar_width=28),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=self._terminal.err,
                transient=True,
            )
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """`done` of `total` of a stage."""
        if self._bars is not None:
            if stage not in self._tasks:
                self._tasks[stage] = self._bars.add_task(_WORDS.get(stage, stage), total=total or None)
            self._bars.update(self._tasks[stage], completed=done, total=total or 1)
        else:
            self._line(stage, done, total)

    def _line(self, stage: str, done: int, total: int) -> None:
        """Quick work stays quiet: only what has taken some seconds since the last line is worth one."""
        if stage == "waiting" and not done:
            self._terminal.notice(_WORDS[stage], style=ASIDE)
            return
        now = time.monotonic()
        if done and now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            self._terminal.notice(f"{_WORDS.get(stage, stage)}: {done} of {total}", style=ASIDE)
