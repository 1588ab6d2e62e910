"""The index as it stands: opened, asked, and left for a newer one as soon as there is one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from infold.errors import IndexDamaged, IndexFault
from infold.search.index.generations import Generations
from infold.search.query.opened_index import OpenedIndex

_T = TypeVar("_T")


class _Held(threading.local):
    """The index that a search of this thread goes on with, which looks once whether there is a newer one."""

    opened: OpenedIndex | None = None


class FollowedIndex:
    """The newest generation in a folder, for any number of threads. Raises IndexFault where there is none.

    It raises that too where the index is damaged, or closed.
    """

    def __init__(self, index_dir: Path) -> None:
        self._folder = Generations(index_dir)
        self._opening = threading.Lock()
        self._held = _Held()
        self._opened: OpenedIndex | None = None
        self._is_closed = False
        self.current()

    def ask(self, call: Callable[[OpenedIndex], _T]) -> _T:
        """The answer of the generation in use: one that is dropped in the middle is asked for again from the next.

        One whose files turn out to be damaged is marked so, for the next sync to make it anew.
        """
        opened = self.in_use()
        try:
            return call(opened)
        except IndexFault as fault:
            if self._folder.current() in (None, opened.generation):
                if isinstance(fault, IndexDamaged):
                    opened.mark_damaged()
                raise
            newer = self.current()
            if self._held.opened is not None:
                self._held.opened = newer
            return call(newer)

    def in_use(self) -> OpenedIndex:
        """The one that this thread holds, else the newest."""
        return self._held.opened or self.current()

    @contextmanager
    def held(self) -> Iterator[None]:
        """While it lasts this thread goes on with one generation, unless that is dropped."""
        self._held.opened = self.current()
        try:
            yield
        finally:
            self._held.opened = None

    def current(self) -> OpenedIndex:
        """The newest generation, open; the one before it is closed."""
        with self._opening:
            if self._is_closed:
                raise IndexFault("The search is closed.")
            generation = self._folder.current()
            opened = self._opened
            if opened is not None and generation in (None, opened.generation):
                return opened
            newer = OpenedIndex(self._folder, generation)
            self._opened = newer
        if opened is not None:
            opened.close()
        return newer

    def close(self) -> None:
        """Lets go of the index. Calling it again does nothing."""
        with self._opening:
            self._is_closed = True
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()
