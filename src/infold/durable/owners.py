"""Locks that belong to a caller: a thread, and within an event loop one of its tasks.

`threading.RLock` belongs to a thread, so two coroutines of one loop would both get in. Locks between processes belong
to `durable.locks`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple


class Caller(NamedTuple):
    """Who calls: a thread, and the task that runs in it, where there is one."""

    thread: threading.Thread
    task: Any | None

    def is_same(self, other: Caller) -> bool:
        """Whether both are one."""
        return self.thread is other.thread and self.task is other.task


def caller() -> Caller:
    """Who calls now."""
    current_task = getattr(sys.modules.get("asyncio"), "current_task", None)  # not imported yet: then there is no task
    task = None
    if current_task is not None:
        with suppress(RuntimeError):  # no loop runs in this thread
            task = current_task()
    return Caller(threading.current_thread(), task)


class OwnedLock:
    """A lock of one process that its holder may take again, and nobody else, not even another task of its thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._owner: Caller | None = None
        self._depth = 0

    @property
    def depth(self) -> int:
        """How often the holder has taken it; 0 while it is free."""
        return self._depth

    def acquire(self, wait_seconds: float | None = None) -> bool:
        """Takes the lock; False where it is not free within `wait_seconds` (None: as long as it takes).

        Also False, at once, where another task of the calling thread holds it: waiting would stop that task as well.
        """
        me = caller()
        with self._changed:
            if self._owner is not None and self._owner.is_same(me):
                self._depth += 1
                return True
            if self._owner is not None and self._owner.thread is me.thread:
                return False
            if not self._changed.wait_for(lambda: self._owner is None, wait_seconds):
                return False
            self._owner, self._depth = me, 1
            return True

    def release(self) -> None:
        """Gives it back once. Only its holder does."""
        with self._changed:
            self._depth -= 1
            if self._depth == 0:
                self._owner = None
                self._changed.notify()

    @contextmanager
    def held(self, wait_seconds: float | None = None) -> Iterator[bool]:
        """Tries to hold it for the body, and says whether it does."""
        is_held = self.acquire(wait_seconds)
        try:
            yield is_held
        finally:
            if is_held:
                self.release()
