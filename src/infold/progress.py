"""How long work says how far it is: one kind of callable for every step, and the one that listens to nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]  # the stage, how many are done, of how many


def silent(stage: str, done: int, total: int) -> None:
    """Nobody listens."""
