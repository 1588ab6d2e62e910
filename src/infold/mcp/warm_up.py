"""The index brought up to date behind a server that already answers, and how far that is."""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import Final

from infold.app import OpenVault
from infold.errors import InfoldError
from infold.search.index.generations import Generations

_log: Final = logging.getLogger(__name__)


class WarmUp:
    """One pass over the index in a thread of its own: words first, then vectors."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault
        self._has_words = Event()
        self._stage = ("starting", 0, 0)
        self._fault = ""
        self._thread = Thread(target=self._run, name="infold-warm-up", daemon=True)

    def start(self) -> None:
        """Begins. An index that is there already serves meanwhile."""
        if Generations(self._vault.workspace.index).current() is not None:
            self._has_words.set()
        self._thread.start()

    def wait(self, seconds: float) -> str:
        """What to tell whoever wants to search, after so long a wait: '' where the index can be asked."""
        if self._has_words.wait(seconds):
            return ""
        if self._fault:
            return f"The index cannot be made: {self._fault}"
        stage, done, total = self._stage
        how_far = f"{stage}: {done} of {total}" if total else stage
        return f"The vault is being indexed for the first time ({how_far}). Ask again in a few seconds."

    def _run(self) -> None:
        try:
            with self._vault.reporting(self._hear):
                self._vault.sync_index(vectors=False)
                self._has_words.set()
                self._vault.sync_index()
        except InfoldError as error:
            self._fault = str(error)
            _log.warning("The index was not brought up to date: %s", error)
        finally:
            self._stage = ("done", 0, 0)
            if not self._fault:
                self._has_words.set()

    def _hear(self, stage: str, done: int, total: int) -> None:
        self._stage = ("indexing notes" if stage == "keywords" else stage, done, total)
