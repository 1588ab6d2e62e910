"""A line of the log for each operation that may change something: for whom, which, and the change that came of it.

No text, name or path is in it: what a change did is in its record, which its id opens.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

from infold.errors import InfoldError
from infold.operations.contract import Effect, Message

_log: Final = logging.getLogger(__name__)
_asked_by: ContextVar[str] = ContextVar("asked_by", default="python")
_IDS: Final = ("write", "change", "run")  # of an answer: what takes it back

T = TypeVar("T", bound=Message)


@contextmanager
def asked_by(face: str) -> Iterator[None]:
    """While it lasts, what this thread or coroutine asks for is asked by `face`."""
    token = _asked_by.set(face)
    try:
        yield
    finally:
        _asked_by.reset(token)


def audited(name: str, effect: Effect, work: Callable[[], T]) -> T:
    """What the work gives, which is logged unless it only reads. Raises as the work does."""
    if effect is Effect.READS:
        return work()
    try:
        answer = work()
    except InfoldError as error:
        _log.info("%s (%s) for %s: %s", name, effect, _asked_by.get(), type(error).__name__)
        raise
    found = (getattr(answer, each, None) for each in _IDS)
    change = next((each for each in found if isinstance(each, str) and each), "done")
    _log.info("%s (%s) for %s: %s", name, effect, _asked_by.get(), change)
    return answer
