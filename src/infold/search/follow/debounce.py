"""Which changes in a vault matter to the index, and when they have settled enough to be looked at.

Pure: file events and moments in, decisions out. Listening and syncing belong to `search.follow.watcher`. Which notes
are left out by rule is for the sync to say; here it is enough that nothing that matters is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from infold.vault.ignore import GITIGNORE, INFOLDIGNORE, OBSIDIAN_SETTINGS
from infold.vault.names import is_note_name

MOST_PATHS: Final = 200  # of more than these, a look at everything is cheaper
LONGEST_WAIT: Final = 10  # times the debounce: what never rests is looked at all the same


class FileEvent(NamedTuple):
    """Something happened to the file or folder at a vault-relative path. `is_folder` as it is now, if it is at all."""

    path: str
    is_gone: bool
    is_new: bool
    is_folder: bool


@dataclass(frozen=True, slots=True)
class Touched:
    """What has to be looked at: these notes, or everything."""

    paths: frozenset[str] = frozenset()
    everything: bool = False

    def __or__(self, other: Touched) -> Touched:
        paths = self.paths | other.paths
        if self.everything or other.everything or len(paths) > MOST_PATHS:
            return EVERYTHING
        return Touched(paths)

    def __bool__(self) -> bool:
        return self.everything or bool(self.paths)


NOTHING: Final = Touched()
EVERYTHING: Final = Touched(everything=True)


def touched(events: Iterable[FileEvent], was_folder: Callable[[str], bool]) -> Touched:
    """What these events ask for.

    A note that was written, made, renamed or deleted asks for itself. A folder that came or went asks for everything:
    systems tell of the folder alone, not of the notes in it. So does a file of rules about what is left out. Dot files
    and other files ask for nothing, among them what editors save by way of (`.note.md.swp`, `4913`, `note.md~`).
    """
    found = NOTHING
    for event in events:
        found |= _asked_by(event, was_folder)
    return found


def _asked_by(event: FileEvent, was_folder: Callable[[str], bool]) -> Touched:
    *above, name = event.path.split("/")
    if event.path == OBSIDIAN_SETTINGS:
        return EVERYTHING
    if not name or any(part.startswith(".") for part in above):
        return NOTHING
    if name in {GITIGNORE, INFOLDIGNORE}:
        return EVERYTHING
    if name.startswith("."):
        return NOTHING
    if event.is_folder or was_folder(event.path):
        return EVERYTHING if event.is_new or event.is_gone else NOTHING
    return Touched(frozenset({event.path})) if is_note_name(name) else NOTHING


class Settling:
    """What was touched and has not been looked at. It is due once nothing more came for `quiet_seconds`."""

    def __init__(self, quiet_seconds: float) -> None:
        self._quiet_seconds = quiet_seconds
        self._touched = NOTHING
        self._first = self._last = 0.0

    def add(self, found: Touched, now: float) -> None:
        """More was touched."""
        if found:
            self._first = self._first if self._touched else now
            self._last = now
            self._touched |= found

    def due_in(self, now: float) -> float | None:
        """The seconds until it is due, 0 where it is; None where nothing waits."""
        if not self._touched:
            return None
        due = min(self._last + self._quiet_seconds, self._first + LONGEST_WAIT * self._quiet_seconds)
        return max(0.0, due - now)

    def take(self) -> Touched:
        """What was touched, now to be looked at."""
        found, self._touched = self._touched, NOTHING
        return found
