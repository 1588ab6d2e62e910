"""Coroutines for callers who do not await, whatever thread they are in."""

from __future__ import annotations

from collections.abc import Coroutine
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
_ENDS: Final = (KeyboardInterrupt, SystemExit)  # that leave a loop at once, whichever task raises them


def in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, for a caller who does not await: also within a thread whose loop is running already.

    What `work` raises reaches the caller. After an interruption too every task has ended, and none is left with an
    error that nobody asked for.
    """
    import asyncio  # here, because a process that asks one question does without

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as other:
            return other.submit(copy_context().run, _run, work).result()
    return _run(work)


def _run(work: Coroutine[Any, Any, T]) -> T:
    import asyncio

    with asyncio.Runner() as runner:
        try:
            return runner.run(work)
        except _ENDS:
            _end_tasks(runner.get_loop())
            raise


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancels what still runs until nothing does: a task that passes the interruption on leaves the loop once more."""
    import asyncio

    while tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        try:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        except _ENDS:
            continue
