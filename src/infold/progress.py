"""How long work says how far it is, and what happens in it: kinds of callables, and those that listen to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]  # the stage, how many are done, of how many
Hearer: TypeAlias = Callable[[str], None]  # what has happened, in a sentence


def silent(stage: str, done: int, total: int) -> None:
    """Nobody listens."""


def _deaf(sentence: str) -> None:
    """Nobody hears."""


_hearer: Final[ContextVar[Hearer]] = ContextVar("hearer", default=_deaf)


def happened(sentence: str) -> None:
    """Tells whoever follows this work what has just happened in it."""
    _hearer.get()(sentence)


@contextmanager
def hearing(hearer: Hearer) -> Iterator[None]:
    """While it lasts, `hearer` hears what happens in what this thread or coroutine starts."""
    token = _hearer.set(hearer)
    try:
        yield
    finally:
        _hearer.reset(token)
