"""Which note a link on a page means. The names of all notes are read again when some time has passed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from infold.vault.links import LinkResolver

if TYPE_CHECKING:
    from infold.app import OpenVault

_FRESH_SECONDS: Final = 10.0


class Resolver:
    """Resolves links of one vault. For any number of threads."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault
        self._lock = threading.Lock()
        self._known: LinkResolver | None = None
        self._read_at = float("-inf")

    def resolve(self, target: str, source: str) -> str | None:
        """The path of the note that `target` means in the note `source`."""
        with self._lock:
            if self._known is None or time.monotonic() - self._read_at > _FRESH_SECONDS:
                files = self._vault.scanned().files
                self._known, self._read_at = LinkResolver((file.path for file in files), {}), time.monotonic()
            return self._known.resolve(target, source)
