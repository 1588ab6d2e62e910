"""Coroutines for callers who do not await, whatever thread they are in."""

from __future__ import annotations

from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


def in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, for a caller who does not await: also within a thread whose loop is running already."""
    import asyncio  # here, because a process that asks one question does without

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as other:
        return other.submit(copy_context().run, asyncio.run, work).result()
