"""Readers and writers of one thing, in turns: any number read at once, a writer is alone, and nobody starves.

Readers that come while a writer waits go after it; those that came meanwhile go before the next writer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadersWriterLock:
    """Who may go. Not to be taken again by a thread that has it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._queued = 0  # readers that go when the next writer is done
        self._round = 0
        self._waiting = 0
        self._is_written = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Beside other readers, never beside a writer."""
        with self._changed:
            if self._is_written or self._waiting:
                self._queued += 1
                came = self._round
                self._changed.wait_for(lambda: self._round != came)
            else:
                self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Alone."""
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: not (self._is_written or self._readers))
                self._is_written = True
            finally:
                self._waiting -= 1
                if not self._is_written:  # it was interrupted while it waited
                    self._admit()
        try:
            yield
        finally:
            with self._changed:
                self._is_written = False
                self._admit()

    def _admit(self) -> None:
        """Lets the readers in that wait, before any other writer."""
        self._readers += self._queued
        self._queued = 0
        self._round += 1
        self._changed.notify_all()
