"""Where the processes that share an index meet: a socket in a private folder, and a card in the index that names it.

Socket addresses are short (108 characters), index folders may lie deep: so the socket lies in a folder of this user
alone, under the runtime or the temporary folder. Its owner and mode are checked by both sides; the peer's user too,
where the system tells it; and the card, which only who may read the index can read, holds a word to say first.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import stat
import struct
import tempfile
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from infold.durable.files import Disk
from infold.environment import Environment
from infold.errors import StateUnwritable
from infold.search.shared.protocol import PROTOCOL

CARD: Final = "owner.json"
_BACKLOG: Final = 64
_CREDENTIALS: Final = struct.Struct("3i")  # of SO_PEERCRED: process, user, group
_WORD_BYTES: Final = 16
_MOST_FOLDER_BYTES: Final = 60  # a socket's whole address has 104 on some systems


@dataclass(frozen=True, slots=True)
class Card:
    """How to reach the owner of an index: its process, its socket, the word to say first."""

    process: int
    address: str
    word: str
    protocol: int = PROTOCOL


def read_card(folder: Path) -> Card | None:
    """The card in an index's folder; None where there is none that can be trusted."""
    try:
        values = json.loads((folder / CARD).read_bytes())
        card = Card(int(values["process"]), str(values["address"]), str(values["word"]), int(values["protocol"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return card if _is_private(Path(card.address).parent) else None


def listen(folder: Path) -> tuple[socket.socket, Card]:
    """A socket for the owner of the index in `folder`, and the card that names it; a dead owner's socket is removed.

    Only who holds the index's lock may call this.
    """
    meeting = _private_folder()
    place = blake2b(os.fsencode(folder.resolve()), digest_size=8).hexdigest()
    for left in meeting.glob(f"{place}-*"):
        left.unlink(missing_ok=True)
    card = Card(
        os.getpid(), str(meeting / f"{place}-{os.getpid()}-{secrets.token_hex(3)}"), secrets.token_hex(_WORD_BYTES)
    )
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(card.address)
        listener.listen(_BACKLOG)
        _write_card(folder, card)
    except OSError as error:
        listener.close()
        raise StateUnwritable(f"The search index cannot be shared by {card.address}: {error}.") from error
    return listener, card


def leave(folder: Path, card: Card) -> None:
    """Takes card and socket away."""
    with contextlib.suppress(OSError):
        (folder / CARD).unlink()
    with contextlib.suppress(OSError):
        Path(card.address).unlink()


def is_same_user(connection: socket.socket) -> bool:
    """Whether the other side runs as this user, as far as the system tells."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # then the folder's mode is what keeps others out
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(data)[1] == os.getuid())


def _write_card(folder: Path, card: Card) -> None:
    said = {"process": card.process, "address": card.address, "word": card.word, "protocol": card.protocol}
    Disk().write_whole(folder / CARD, json.dumps(said).encode(), is_shared=True, is_durable=False)


def _private_folder() -> Path:
    """The folder of this user for sockets: in the session's runtime folder where there is one, else a temporary one."""
    user = os.getuid()
    candidates = [Path(tempfile.gettempdir(), f"infold-{user}"), Path(f"/tmp/infold-{user}")]  # noqa: S108 - checked
    runtime = Environment().get("XDG_RUNTIME_DIR")
    if runtime:
        candidates.insert(0, Path(runtime, "infold"))
    for folder in candidates:
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
        if len(os.fsencode(folder)) <= _MOST_FOLDER_BYTES and _is_private(folder):
            return folder
    names = ", ".join(dict.fromkeys(map(str, candidates)))
    raise StateUnwritable(
        f"No private folder for the search index's socket: {names}.",
        hint="Set TMPDIR or XDG_RUNTIME_DIR to a folder of yours with a short path.",
    )


def _is_private(folder: Path) -> bool:
    """Whether it is a folder, no link, of this user, closed to others."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
