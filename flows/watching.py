"""Who watches a flow from the process that started it: set around the flow's call, read inside it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from infold.inbox.run import Run
from infold.progress import Progress


def unwatched(stage: str, done: int, total: int) -> None:
    """Nobody looks: a served flow shows its progress in the UI only."""


def unkept(run: Run) -> None:
    """Nobody waits for the run."""


watcher: ContextVar[Progress] = ContextVar("watcher", default=unwatched)
# Told as soon as a run is there: what comes after it (artifacts, the flow's last state) needs the server, the run not.
finished: ContextVar[Callable[[Run], None]] = ContextVar("finished", default=unkept)
