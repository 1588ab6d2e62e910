"""One note read and written at a time: under the vault's lock, against what was read, as a change that can be undone.

What a note gets to say belongs to whoever writes it; several notes at once, and taking back, to `durable.changes`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from infold.durable.change import Change, ChangeKind
from infold.durable.changes import Changes
from infold.durable.files import Disk
from infold.durable.records import FileChange
from infold.errors import NoteChanged, NoteUnreadable
from infold.vault.files import read_bytes, safe_path
from infold.workspace import Workspace

WAIT_SECONDS: Final = 30.0  # many agents may write at once, each for milliseconds
_ATTEMPTS: Final = 5

_T = TypeVar("_T")


class NoteWriter:
    """Reads and writes single notes of a vault that its caller holds."""

    def __init__(self, workspace: Workspace, changes: Changes) -> None:
        self._workspace = workspace
        self._changes = changes
        self.disk = Disk()

    def read(self, path: str) -> bytes | None:
        """The bytes of the note at `path`; None where there is none. The inbox may lie outside the vault.

        Raises NoteUnreadable, PathRefused.
        """
        place = self._workspace
        if path == place.inbox_path and not place.inbox.is_relative_to(place.vault):
            return self._outside()
        if not safe_path(place.vault, path).exists():
            return None
        return read_bytes(place.vault, path, place.params.vault.max_note_bytes)

    def write(self, path: str, before: bytes | None, after: bytes, kind: ChangeKind, summary: str) -> Change:
        """Gives the note at `path` new bytes, if it still has those that were read.

        Raises NoteChanged where it has not, NoteUnreadable where the result would be too large to be read again.
        """
        most = self._workspace.params.vault.max_note_bytes
        if len(after) > most:
            raise NoteUnreadable(
                f"{path} would have {len(after)} bytes, more than vault.max_note_bytes ({most}).",
                hint="Write to another page, or raise the setting.",
            )
        return self._changes.plan(kind, [FileChange(path, before, after)], summary).apply()

    def _outside(self) -> bytes | None:
        inbox = self._workspace.inbox
        try:
            return inbox.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise NoteUnreadable(f"{inbox} cannot be read: {error.strerror or error}.") from error


@contextlib.contextmanager
def note_writer(workspace: Workspace) -> Iterator[NoteWriter]:
    """The vault, held for this caller; what a killed process left behind is put right first.

    Raises VaultBusy where another holds it for too long.
    """
    with Changes(workspace).held(WAIT_SECONDS) as changes:
        yield NoteWriter(workspace, changes)


def on_what_stands(attempt: Callable[[], _T]) -> _T:
    """What `attempt` gives, which reads a note and adds to it; made anew where somebody saved the note meanwhile.

    Raises NoteChanged where that goes on.
    """
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(NoteChanged):
            return attempt()
    return attempt()
