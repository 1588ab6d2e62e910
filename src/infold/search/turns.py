"""Readers and writers of one thing, in turns: any number read at once, a writer is alone.

A writer that waits goes before readers that come later, so that it is never starved.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Who may go. Not to be taken again by a thread that has it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._waiting = 0
        self._is_written = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Beside other readers, never beside a writer."""
        with self._changed:
            while self._is_written or self._waiting:
                self._changed.wait()
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
                while self._is_written or self._readers:
                    self._changed.wait()
            finally:
                self._waiting -= 1
                self._changed.notify_all()
            self._is_written = True
        try:
            yield
        finally:
            with self._changed:
                self._is_written = False
                self._changed.notify_all()
