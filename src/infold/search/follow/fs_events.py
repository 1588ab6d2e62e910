"""File events of a folder, from the system or by polling. The only module that knows `watchfiles`.

A listener is a thread that puts events into a queue until it is closed or fails. What they mean belongs to
`search.follow.debounce`.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from infold.search.follow.debounce import FileEvent

POLL_SECONDS: Final = 2.0
_GROUP_MS: Final = 100  # events that come within this are handed over together
_TICK_MS: Final = 250  # how soon a closed listener ends
_OPEN_SECONDS: Final = 60.0


class Listener:
    """Listens below `root`, an absolute path. `is_polling` after `open` says whether it looks instead of being told."""

    def __init__(self, root: Path, *, polling: bool) -> None:
        self.root = root
        self.is_polling = polling
        self.failure: Exception | None = None
        self.events: queue.SimpleQueue[list[FileEvent]] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._opened = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="infold-listener", daemon=True)

    def open(self) -> bool:
        """Starts to listen; False where the system refuses, and `failure` says why."""
        self._thread.start()
        self._opened.wait(_OPEN_SECONDS)
        return self.failure is None

    @property
    def is_open(self) -> bool:
        """Whether events still come."""
        return self._thread.is_alive() and not self._closing.is_set()

    def close(self) -> None:
        """Stops. Calling it again does nothing."""
        self._closing.set()

    def _listen(self) -> None:
        from watchfiles import Change, watch

        try:
            for changes in watch(
                self.root,
                watch_filter=None,
                debounce=_GROUP_MS,
                step=_GROUP_MS // 2,
                rust_timeout=_TICK_MS,
                yield_on_timeout=True,  # the first time it says that it listens
                stop_event=self._closing,
                force_polling=self.is_polling or None,  # None: its own WATCHFILES_FORCE_POLLING decides
                poll_delay_ms=round(POLL_SECONDS * 1000),
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                self._opened.set()
                if changes:
                    told = ((path, change is Change.deleted, change is Change.added) for change, path in changes)
                    self.events.put(list(self._events(told)))
        except (OSError, RuntimeError) as error:  # its own internal error is a RuntimeError
            self.failure = error
        finally:
            self._opened.set()

    def _events(self, told: Iterable[tuple[str, bool, bool]]) -> Iterable[FileEvent]:
        prefix = str(self.root).rstrip(os.sep) + os.sep
        for place, is_gone, is_new in told:
            if place.startswith(prefix):
                is_folder = os.path.isdir(place) and not os.path.islink(place)  # noqa: PTH112, PTH114 - False, no error
                yield FileEvent(place.removeprefix(prefix).replace(os.sep, "/"), is_gone, is_new, is_folder)


def folders_below(root: Path) -> frozenset[str]:
    """Every folder below `root` by its relative path, dot folders left out."""
    found: set[str] = set()
    prefix = str(root).rstrip(os.sep) + os.sep
    for place, folders, _ in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found.update(f"{place}{os.sep}{name}".removeprefix(prefix).replace(os.sep, "/") for name in folders)
    return frozenset(found)
