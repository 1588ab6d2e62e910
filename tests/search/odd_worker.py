"""A worker in which something happens to some notes, or to the worker, just before these notes are read.

`INFOLD_TEST_ODD` says what by the note, in JSON: it is "changed", "gone", "garbled", or "away" for the moment; or the
worker is "killed".
"""

from __future__ import annotations

import errno
import json
import os
import signal
from pathlib import Path
from typing import Final

from infold import workers
from infold.catalogue import reading
from infold.errors import NoteUnreadable
from infold.vault.files import read_bytes

COMMAND: Final = f"from {__name__} import main; main()"
SAYS: Final = "INFOLD_TEST_ODD"


def main() -> None:
    """What a worker does, with that."""
    reading.read_bytes = read_oddly  # type: ignore[attr-defined]
    workers.main()


def read_oddly(root: Path, path: str, max_bytes: int) -> bytes:
    """The bytes of a note, after what happens to it."""
    happen(json.loads(os.environ[SAYS]).get(path, ""), root / path)
    return read_bytes(root, path, max_bytes)


def happen(what: str, file: Path) -> None:
    """What is said."""
    if what == "killed":
        if workers.is_worker():
            os.kill(os.getpid(), signal.SIGKILL)
    elif what == "changed":
        file.write_text("# Other\n\nA sourdough, not what it was. [[note 0001]]\n")
    elif what == "gone":
        file.unlink()
    elif what == "garbled":
        file.write_bytes(b"caf\xe9 levain\n")
    elif what == "away":
        raise NoteUnreadable(f"{file.name} cannot be read.") from OSError(errno.EIO, "Input/output error")
