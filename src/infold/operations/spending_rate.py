"""How often a minute what may cost can be asked for: a page or a program in a loop is stopped before it costs much."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from infold.errors import AskedTooOften
from infold.operations.contract import Effect

if TYPE_CHECKING:
    from infold.operations.table import Operation

MOST_A_MINUTE: Final = 30
_MINUTE_SECONDS: Final = 60.0


class SpendingRate:
    """Counts what was asked in the last minute. For any number of threads."""

    def __init__(self, most: int = MOST_A_MINUTE) -> None:
        self._most = most
        self._asked: deque[float] = deque()
        self._lock = threading.Lock()

    def admit(self, operation: Operation[Any, Any]) -> None:
        """Counts an operation that spends; others pass uncounted. Raises AskedTooOften."""
        if operation.effect is not Effect.SPENDS:
            return
        now = time.monotonic()
        with self._lock:
            while self._asked and now - self._asked[0] > _MINUTE_SECONDS:
                self._asked.popleft()
            if len(self._asked) >= self._most:
                raise AskedTooOften(
                    f"What may cost was asked for {self._most} times within a minute.", hint="Wait a minute."
                )
            self._asked.append(now)
