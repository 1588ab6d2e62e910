"""The client's side of a shared index: connections to its owner, each for one call at a time."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, Final

from infold.errors import VaultBusy
from infold.search.shared.frames import connect, receive, send
from infold.search.shared.protocol import PROTOCOL, opened, packed, unpacked
from infold.search.shared.rendezvous import OwnerInfo

if TYPE_CHECKING:
    from _socket import socket

ANSWER_SECONDS: Final = 30.0  # that the owner has for one call
_MOST_IDLE: Final = 8


class IndexConnection:
    """Calls to the owner that `card` names. Raises Disconnected where nobody is there (any more)."""

    def __init__(self, card: OwnerInfo) -> None:
        if card.protocol != PROTOCOL:
            raise VaultBusy(
                f"The search index is in use by another version of infold (process {card.process}).",
                hint="Stop that process; then this one takes over.",
            )
        self.card = card
        self._idle: list[socket] = []
        self._lock = threading.Lock()
        self._idle.append(self._connected())

    def call(self, name: str, *arguments: Any) -> Any:
        """The owner's answer. Raises the error that it says, and VaultBusy where it does not answer in time."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connected()
        is_whole = False
        try:
            connection.settimeout(ANSWER_SECONDS)
            send(connection, packed([name, *arguments]))
            answer = unpacked(receive(connection))
            is_whole = True
        except TimeoutError as error:
            raise self._silent() from error
        finally:
            with self._lock:
                is_kept = is_whole and len(self._idle) < _MOST_IDLE
                if is_kept:
                    self._idle.append(connection)
            if not is_kept:
                connection.close()
        return opened(answer)

    def close(self) -> None:
        """Closes what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            with contextlib.suppress(OSError):
                connection.close()

    def forget(self) -> None:
        """For a forked child: closes its copies of the sockets."""
        for connection in self._idle:
            connection.close()

    def _connected(self) -> socket:
        try:
            return connect(self.card.address, self.card.word, ANSWER_SECONDS)
        except TimeoutError as error:
            raise self._silent() from error

    def _silent(self) -> VaultBusy:
        return VaultBusy(
            f"The infold process {self.card.process}, which has the search index open, does not answer.",
            hint="Stop that process; then this one takes over.",
        )
