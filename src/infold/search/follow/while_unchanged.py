"""What was made of some folders, kept until something changes in them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from infold.search.follow.moments import Moments

T = TypeVar("T")


class WhileUnchanged(Generic[T]):
    """A value that is made when it is asked for, and again only after a change there, or after `most_seconds`.

    Where changes cannot be told it is made each time. For any number of threads, of which one makes it.
    """

    def __init__(self, make: Callable[[], T], moments: Moments, most_seconds: float) -> None:
        self._make, self._moments, self._most_seconds = make, moments, most_seconds
        self._lock = threading.Lock()
        self._kept: tuple[int, float, T] | None = None

    def get(self) -> T:
        """The value as of now. Raises what making it raises."""
        with self._lock:
            moment = self._moments.now()
            if moment is None:
                return self._make()
            if self._kept is not None and self._kept[0] == moment and time.monotonic() < self._kept[1]:
                return self._kept[2]
            made = self._make()
            self._kept = moment, time.monotonic() + self._most_seconds, made
            return made

    def forget(self) -> None:
        """Makes it anew when it is asked for next."""
        with self._lock:
            self._kept = None
