"""Who watches a flow from the process that started it: set around the flow's call, read inside it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

Progress = Callable[[str, int, int], None]


def unwatched(stage: str, done: int, total: int) -> None:
    """Nobody looks: a served flow shows its progress in the UI only."""


watcher: ContextVar[Progress] = ContextVar("watcher", default=unwatched)
