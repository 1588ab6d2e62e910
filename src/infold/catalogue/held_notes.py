"""Notes read just now, held while others are to be made of them: points of the index, summaries.

In the process that asked, they are held by the catalogue; what a worker has read it holds itself, for the jobs that
come to it next.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.workers import is_worker

if TYPE_CHECKING:
    from infold.catalogue.cutting import Cutting
    from infold.catalogue.records import WrittenNote

MOST_CHARACTERS: Final = 32_000_000  # of texts that are held, and of their passages


class HeldNote(NamedTuple):
    """The text of a note, the hash of its bytes, and where it was parsed, the note with its passages."""

    sha256: str
    text: str
    written: WrittenNote | None = None  # without blocks and links, as an index needs it

    @property
    def characters(self) -> int:
        """How much room it takes."""
        return len(self.text) + sum(len(each.text) for each in (self.written.passages if self.written else ()))


class HeldNotes:
    """Notes by path; for any number of threads. The longest unused go where there are too many.

    With `is_first_kept` none goes, and none more is taken then: for whoever asks for each once, in the same order.
    """

    def __init__(self, *, is_first_kept: bool = False) -> None:
        self._lock = RLock()
        self._is_first_kept = is_first_kept
        self._notes: OrderedDict[str, HeldNote] = OrderedDict()
        self._characters = 0

    def get(self, path: str) -> HeldNote | None:
        """The note at `path`, where it is held."""
        with self._lock:
            held = self._notes.get(path)
            if held is not None:
                self._notes.move_to_end(path)
            return held

    def hold(self, path: str, note: HeldNote) -> None:
        """Holds a note."""
        with self._lock:
            self.drop([path])
            if self._is_first_kept and self._characters > MOST_CHARACTERS:
                return
            self._notes[path] = note
            self._characters += note.characters
            while self._characters > MOST_CHARACTERS and len(self._notes) > 1 and not self._is_first_kept:
                self.drop([next(iter(self._notes))])

    def drop(self, paths: Iterable[str]) -> None:
        """Holds these no longer."""
        with self._lock:
            for path in paths:
                held = self._notes.pop(path, None)
                self._characters -= held.characters if held is not None else 0

    def clear(self) -> None:
        """Holds nothing any more."""
        with self._lock:
            self._notes.clear()
            self._characters = 0


_of_worker: Final[dict[tuple[Path, Cutting], HeldNotes]] = {}


def held_by_worker(root: Path, cutting: Cutting) -> HeldNotes | None:
    """What this worker holds of a vault's notes, read so; None where this process is none."""
    return _of_worker.setdefault((root, cutting), HeldNotes(is_first_kept=True)) if is_worker() else None
