"""Where the processes that share an index meet: a socket in a private folder, and a card in the index that names it.

Socket addresses are short (108 characters), index folders may lie deep: so the socket lies in a folder of this user
alone, under the runtime or the temporary folder. Its owner and mode are checked by both sides; the peer's user too,
where the system tells it; and the card, which only who may read the index can read, holds a word to say first.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from infold.durable.files import Disk
from infold.environment import Environment
from infold.errors import StateUnwritable
from infold.search.index.process_lock import ProcessLock
from infold.search.shared.frames import is_private
from infold.search.shared.protocol import PROTOCOL

CARD: Final = "owner.json"
RESIDENT_CARD: Final = "resident.json"  # of the process that serves searches; it ends where this is taken away
RESIDENT_LOCK: Final = "resident.lock"
_BACKLOG: Final = 64
_WORD_BYTES: Final = 16
_MOST_FOLDER_BYTES: Final = 60  # a socket's whole address has 104 on some systems


class OwnerInfo(NamedTuple):
    """How to reach the owner of an index: its process, its socket, the word to say first."""

    process: int
    address: str
    word: str
    protocol: int = PROTOCOL


def read_card(folder: Path, name: str = CARD) -> OwnerInfo | None:
    """The card in an index's folder; None where there is none that can be trusted."""
    try:
        values = json.loads((folder / name).read_bytes())
        card = OwnerInfo(int(values["process"]), str(values["address"]), str(values["word"]), int(values["protocol"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return card if is_private(os.path.dirname(card.address)) else None  # noqa: PTH120 - as the client does


def is_serving(folder: Path) -> bool:
    """Whether a process serves searches of the index in `folder`."""
    claim = ProcessLock(folder / RESIDENT_LOCK)
    if not claim.file.exists():
        return False
    is_free = claim.take()
    claim.release()
    return not is_free


def retire(folder: Path) -> bool:
    """Has the process that serves searches of the index in `folder` end; whether there was one to be told."""
    try:
        (folder / RESIDENT_CARD).unlink()
    except OSError:
        return False
    return True


def listen(folder: Path, name: str = CARD) -> tuple[socket.socket, OwnerInfo]:
    """A socket for the owner of the index in `folder`, and the card that names it; a dead owner's socket is removed.

    Only who holds the index's lock may call this.
    """
    meeting = _private_folder()
    place = blake2b(os.fsencode(folder.resolve() / name), digest_size=8).hexdigest()
    for left in meeting.glob(f"{place}-*"):
        left.unlink(missing_ok=True)
    card = OwnerInfo(
        os.getpid(), str(meeting / f"{place}-{os.getpid()}-{os.urandom(3).hex()}"), os.urandom(_WORD_BYTES).hex()
    )
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(card.address)
        listener.listen(_BACKLOG)
        _write_card(folder / name, card)
    except OSError as error:
        listener.close()
        raise StateUnwritable(f"The search index cannot be shared by {card.address}: {error}.") from error
    return listener, card


def leave(folder: Path, card: OwnerInfo, name: str = CARD) -> None:
    """Takes card and socket away; another's card is left alone."""
    with contextlib.suppress(OSError):
        if read_card(folder, name) == card:
            (folder / name).unlink()
    with contextlib.suppress(OSError):
        Path(card.address).unlink()


def _write_card(file: Path, card: OwnerInfo) -> None:
    said = {"process": card.process, "address": card.address, "word": card.word, "protocol": card.protocol}
    Disk().write_whole(file, json.dumps(said).encode(), is_shared=True, is_durable=False)


def _private_folder() -> Path:
    """The folder of this user for sockets: in the session's runtime folder where there is one, else a temporary one."""
    candidates = []
    for folder in _meeting_folders():
        candidates.append(str(folder))
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
        if len(os.fsencode(folder)) <= _MOST_FOLDER_BYTES and is_private(str(folder)):
            return folder
    names = ", ".join(dict.fromkeys(candidates))
    raise StateUnwritable(
        f"No private folder for the search index's socket: {names}.",
        hint="Set TMPDIR or XDG_RUNTIME_DIR to a folder of yours with a short path.",
    )


def _meeting_folders() -> Iterator[Path]:
    """Where that folder may be, best first."""
    user = os.getuid()
    runtime = Environment().get("XDG_RUNTIME_DIR")
    if runtime:
        yield Path(runtime, "infold")
    import tempfile  # here, because it loads what makes random numbers

    yield Path(tempfile.gettempdir(), f"infold-{user}")
    yield Path(f"/tmp/infold-{user}")  # noqa: S108 - checked
