"""Answers the calls of other processes of this user, from threads of this one: of an index's owner, of a resident.

One thread takes connections, one serves each of them. Ending finishes what is being answered, and takes no more.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from infold.search.shared.frames import Disconnected, is_same_user, receive, send
from infold.search.shared.rendezvous import CARD, leave, listen

MOST_CONNECTIONS: Final = 128
ENDING_SECONDS: Final = 10.0  # that requests in flight have when the owner ends
_SEND_SECONDS: Final = 30.0  # that a client has to take its answer
_GREETING_SECONDS: Final = 5.0
_GREETING_BYTES: Final = 1024
_PAUSE_SECONDS: Final = 0.05


class IndexService:
    """Gives each frame to `answer`, from a thread of its client's own, until `end`; the card lies in `folder`.

    Only who holds the folder's lock may make one. `answer` raises Disconnected for what is no call.
    """

    def __init__(self, answer: Callable[[bytes], bytes], folder: Path, card_name: str = CARD) -> None:
        self._answer = answer
        self._folder, self._card_name = folder, card_name
        self._listener, self.card = listen(folder, card_name)
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()
        self._is_ending = False
        self._thread = threading.Thread(target=self._take, name="infold-index", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stops taking calls, and waits for those in flight."""
        leave(self._folder, self.card, self._card_name)
        with self._lock:
            self._is_ending = True
            open_ = dict(self._connections)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in open_:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # wakes a thread that waits for a call; an answer still goes out
        deadline = time.monotonic() + ENDING_SECONDS
        for thread in (self._thread, *open_.values()):
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))

    def forget(self) -> None:
        """For a forked child: closes its copies of the sockets, and leaves everything else to the parent."""
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _take(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                if self._is_ending:
                    return
                time.sleep(_PAUSE_SECONDS)  # no descriptor is free: the client waits
                continue
            with self._lock:
                if self._is_ending or len(self._connections) >= MOST_CONNECTIONS:
                    connection.close()
                    continue
                thread = threading.Thread(target=self._serve, args=(connection,), name="infold-index-call", daemon=True)
                self._connections[connection] = thread
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self._is_welcome(connection):
                while (request := self._next(connection)) is not None:
                    said = self._answer(request)
                    connection.settimeout(_SEND_SECONDS)
                    send(connection, said)
        except (Disconnected, TimeoutError, OSError):
            pass  # the client is gone, or will ask the next owner
        finally:
            with self._lock:
                self._connections.pop(connection, None)
            connection.close()

    def _next(self, connection: socket.socket) -> bytes | None:
        """The next call; None where this owner takes no more."""
        if self._is_ending:
            return None
        connection.settimeout(None)
        request = receive(connection)
        return None if self._is_ending else request

    def _is_welcome(self, connection: socket.socket) -> bool:
        """Whether the other side is this user, and has read the card."""
        if not is_same_user(connection):
            return False
        connection.settimeout(_GREETING_SECONDS)
        word = receive(connection, _GREETING_BYTES)
        return hmac.compare_digest(word, self.card.word.encode())
