"""Frames on a socket: a length and so many bytes. What is in them belongs to whoever sends them.

Fast to import: the client of `infold search` waits for nothing else.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

MAX_FRAME_BYTES = 512 * 1024 * 1024
_LENGTH_BYTES = 4
_READ_BYTES = 1024 * 1024
_CREDENTIALS_BYTES = 12  # of SO_PEERCRED: process, user, group


class Disconnected(Exception):
    """The other side is gone, or sends what is no frame."""


def send(connection: socket, body: bytes) -> None:
    """Sends one frame. Raises Disconnected, and TimeoutError where the socket has a limit."""
    try:
        connection.sendall(len(body).to_bytes(_LENGTH_BYTES, "big") + body)
    except TimeoutError:
        raise
    except OSError as error:
        raise Disconnected(str(error)) from error


def receive(connection: socket, most_bytes: int = MAX_FRAME_BYTES) -> bytes:
    """The next frame. Raises Disconnected, and TimeoutError where the socket has a limit."""
    length = int.from_bytes(_exactly(connection, _LENGTH_BYTES), "big")
    if length > most_bytes:
        raise Disconnected(f"a frame of {length} bytes")
    return _exactly(connection, length)


def is_same_user(connection: socket) -> bool:
    """Whether the other side runs as this user, as far as the system tells."""
    import _socket

    if not hasattr(_socket, "SO_PEERCRED"):
        return True  # then the folder's mode is what keeps others out
    data = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _CREDENTIALS_BYTES)
    return int.from_bytes(data[4:8], sys.byteorder) == os.getuid()


def is_private(folder: str) -> bool:
    """Whether it is a folder, no link, of this user, closed to others."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return found.st_mode & 0o170000 == 0o040000 and found.st_uid == os.getuid() and not found.st_mode & 0o077


def connect(address: str, word: str, seconds: float) -> socket:
    """A connection to whoever listens at `address`, greeted with `word`; its limit is `seconds`.

    Raises Disconnected where nobody is there or it is another user's, and TimeoutError.
    """
    import _socket  # the part of `socket` that is used here, without the four modules that the other loads

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(address)
        if not is_same_user(connection):
            raise Disconnected("the socket is another user's")
        send(connection, word.encode())
    except TimeoutError:
        connection.close()
        raise
    except (OSError, Disconnected) as error:
        connection.close()
        raise Disconnected(str(error)) from error
    return connection


def _exactly(connection: socket, count: int) -> bytes:
    parts = []
    while count:
        try:
            part = connection.recv(min(count, _READ_BYTES))
        except TimeoutError:
            raise
        except OSError as error:
            raise Disconnected(str(error)) from error
        if not part:
            raise Disconnected("the other side is gone")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
