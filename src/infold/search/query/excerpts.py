"""The text behind a hit, as it stands now: what the index found may be gone from its file, or have moved.

A hit is taken at its word only where its text still stands there: the id of a passage is made of its text. Sources
that are no notes (transcripts, memory) bring a `Texts` of their own.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from infold.errors import NoteUnreadable, PathRefused
from infold.search.index.contract import Hit
from infold.search.query.note_text import InnerHeading, NoteText
from infold.search.query.snippets import prose_of
from infold.search.query.sought_words import Prose
from infold.vault.files import decode, read_with_status, safe_path

if TYPE_CHECKING:
    from infold.catalogue.passages import PassageCut
    from infold.settings import Params

_MOST_READ: Final = 256  # texts that are held at once by one search
_MOST_HELD: Final = 32_000_000  # characters of them
_MOST_KEPT: Final = 1_500  # notes, for the searches to come
_MOST_KEPT_CHARACTERS: Final = 2_500_000  # of them; with what is worked out of a text, some seven bytes each
_LONGEST_KEPT: Final = 200_000  # characters of one of them
_SETTLED_NS: Final = 2_000_000_000  # after which a file's time tells one state of it from the next

Stamp = tuple[int, ...]


def _no_heading(_: int) -> None:
    """No further heading inside."""


@dataclass(frozen=True)
class Excerpt:
    """The text of a hit, the lines it stands on now, and the nearest heading as written.

    `heading_at` gives the heading further in that a line stands under, None where it stands under none.
    """

    text: str
    start_line: int
    end_line: int
    heading: str | None
    heading_at: Callable[[int], InnerHeading | None] = _no_heading

    @cached_property
    def prose(self) -> Prose:
        """The text to cut snippets of: without the heading that is named beside it, unless there is nothing else."""
        text, heading = self.text, self.heading
        if heading is not None and text.startswith(heading):
            text = text[len(heading) :].lstrip("\r\n \t") or text
        return prose_of(text)


class Texts(Protocol):
    """Gives the texts of one source's hits."""

    def stretch(self, hit: Hit) -> Excerpt | None:
        """The text of `hit` as it stands now; None where it no longer does."""


TextsOf = Callable[[str], Texts | None]  # of a group; None where hits of it have no text to look at


class _Kept(NamedTuple):
    note: _ReadNote
    stamp: Stamp | None
    moment: int | None  # in which it was known to be as it was read


class KeptNotes:
    """Notes as they were read last, for the searches to come: some 18 MB at most. For any number of threads.

    One is taken only where its file has the stamp that it was read with, or nothing changed in the whole vault since.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._notes: dict[str, _Kept] = {}  # those asked for last at the end
        self._characters = 0

    def get(self, path: str, moment: int | None, stamp: Callable[[], Stamp | None]) -> _ReadNote | None:
        """The note at `path`, where it is kept and as it was; `moment` numbers the state of the vault."""
        with self._turn:
            kept = self._notes.pop(path, None)
            if kept is None:
                return None
            if moment is None or kept.moment != moment:
                now = stamp()
                if now is None or now != kept.stamp:
                    self._characters -= kept.note.size
                    return None
                kept = kept._replace(moment=moment)
            self._notes[path] = kept
            return kept.note

    def keep(self, path: str, note: _ReadNote, stamp: Stamp | None, moment: int | None) -> None:
        """Keeps a note that was read after its file had this stamp, None where that does not tell.

        The one that was asked for longest ago goes.
        """
        if note.size > _LONGEST_KEPT:
            return
        with self._turn:
            former = self._notes.pop(path, None)
            self._notes[path] = _Kept(note, stamp, moment)
            self._characters += note.size - (former.note.size if former is not None else 0)
            while len(self._notes) > _MOST_KEPT or self._characters > _MOST_KEPT_CHARACTERS:
                self._characters -= self._notes.pop(next(iter(self._notes))).note.size


class NoteTexts:
    """The notes of a vault, each read once, and cut at most once. For one search: what changes later is not seen.

    `read` gives the text at a path where it is no file of the vault, and `kept` where the passages of a note with that
    text are, where that is known without parsing it; both raise NoteUnreadable or PathRefused. `notes` are those of
    former searches, and `moment` numbers the state of the vault where that is known.
    """

    def __init__(
        self,
        vault: Path,
        params: Params,
        read: Callable[[str], str] | None = None,
        kept: Callable[[str, str], list[PassageCut]] | None = None,
        notes: KeptNotes | None = None,
        moment: int | None = None,
    ) -> None:
        self._vault = vault
        self._params = params
        self._kept = kept
        self._read_text = read
        self._notes, self._moment = notes, moment
        self._read: dict[str, _ReadNote | None] = {}
        self._held = 0
        self._folders: set[str] = set()  # that are no links, as far as notes in them were read

    def stretch(self, hit: Hit) -> Excerpt | None:
        """The passage of `hit`, read from its note."""
        note = self._note(hit.path)
        return None if note is None else note.stretch(hit)

    def _note(self, path: str) -> _ReadNote | None:
        if path not in self._read:
            if len(self._read) >= _MOST_READ or self._held > _MOST_HELD:
                self._read.clear()
                self._held = 0
            try:
                note = self._read[path] = self._note_at(path)
            except (NoteUnreadable, PathRefused):
                self._read[path] = None
            else:
                self._held += note.size
        return self._read[path]

    def _note_at(self, path: str) -> _ReadNote:
        """The note as a former search read it, or read now, for the next one."""
        notes, moment = self._notes, self._moment
        if notes is not None and (known := notes.get(path, moment, lambda: self._stamp(path))) is not None:
            return known
        if self._read_text is not None:
            return self._made(path, self._read_text(path))
        data, status = read_with_status(self._vault, path, self._params.vault.max_note_bytes, self._folders)
        note, stamp = self._made(path, decode(data, path)), _stamp_of(status)
        if notes is not None and (stamp is not None or moment is not None):
            notes.keep(path, note, stamp, moment)
        return note

    def _stamp(self, path: str) -> Stamp | None:
        """That of the file as it is now; None where there is none, or it may not be read."""
        try:
            return _stamp_of(os.lstat(safe_path(self._vault, path)))
        except (OSError, PathRefused):
            return None

    def _made(self, path: str, text: str) -> _ReadNote:
        return _ReadNote(NoteText(path, text, self._params.search, self._kept))


def _stamp_of(status: os.stat_result) -> Stamp | None:
    """What tells a file from one written since; None where that is too soon to tell."""
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    if time.time_ns() - newest < _SETTLED_NS:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class _ReadNote:
    """A note with the excerpts that were taken of it."""

    def __init__(self, note: NoteText) -> None:
        self._note = note
        self._excerpts: dict[tuple[object, ...], Excerpt | None] = {}
        self.size = note.size

    def stretch(self, hit: Hit) -> Excerpt | None:
        """The passage of `hit`, where it stands now."""
        key = hit.id, hit.start_line, hit.trail
        if key not in self._excerpts:
            self._excerpts[key] = self._taken(hit)
        return self._excerpts[key]

    def _taken(self, hit: Hit) -> Excerpt | None:
        note = self._note
        found = note.where_it_was(hit) or note.beside_another(hit) or note.cut_again().get(hit.id)
        if found is None:
            return None
        text, start, end, heading = note.from_heading(*found, hit.trail)
        return Excerpt(text, start, end, heading, partial(note.last_heading, start + 1))
