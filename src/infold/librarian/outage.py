"""Whether an endpoint serves at all: one question that fails is that question's matter, all of them are the run's.

It is down where nothing was ever answered and nothing is under way any more, where three questions in a row failed, or
where none was answered for as long as one may take. Every further question is then refused at once, in the same words.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from infold.errors import (
    AnswerInvalid,
    AnswerRefused,
    AnswerTruncated,
    AnswerUnreadable,
    EndpointDown,
    EndpointFault,
    InfoldError,
)

T = TypeVar("T")

_IN_A_ROW: Final = 3


class OutageWatch:
    """What became of the questions that were put to one endpoint. Safe over threads."""

    def __init__(self, patience_seconds: float) -> None:
        self._patience = patience_seconds
        self._lock = threading.Lock()
        self._under_way = 0
        self._in_a_row = 0
        self._has_heard = False
        self._last_answer: float | None = None
        self._down: EndpointDown | None = None

    async def question(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What `ask` gives. Raises EndpointDown in place of a fault that shows the endpoint to be down."""
        with self._lock:
            if self._down is not None:
                raise self._down.with_traceback(None)
            self._under_way += 1
        fault: InfoldError | None = None
        try:
            given = await ask()
        except (EndpointFault, AnswerUnreadable) as error:
            fault = error
        except (AnswerInvalid, AnswerRefused, AnswerTruncated):
            self._worked()  # it can be talked to; what it said is the question's own matter
            raise
        finally:
            with self._lock:
                self._under_way -= 1
        if fault is not None:  # outside the handler: the error that is raised carries no other
            raise self._judged(fault)
        self._worked()
        return given

    def heard(self) -> None:
        """An answer came over the network, whatever it was worth."""
        with self._lock:
            self._has_heard = True
            if self._last_answer is not None:
                self._last_answer = time.monotonic()

    def _worked(self) -> None:
        """A question was answered. What was kept from before says nothing of the endpoint."""
        with self._lock:
            if self._has_heard:
                self._in_a_row = 0
                self._last_answer = time.monotonic()

    def _judged(self, fault: InfoldError) -> InfoldError:
        with self._lock:
            self._in_a_row += 1
            is_first = self._last_answer is None and not self._under_way
            is_silent = self._last_answer is not None and time.monotonic() - self._last_answer >= self._patience
            if self._down is None and (is_first or is_silent or self._in_a_row >= _IN_A_ROW):
                self._down = EndpointDown(str(fault), hint=fault.hint)
            return self._down.with_traceback(None) if self._down is not None else fault.with_traceback(None)
