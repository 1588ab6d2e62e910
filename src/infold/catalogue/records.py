"""What the catalogue says of a note, in the shapes that are asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from infold.catalogue.days import DayFrom
    from infold.catalogue.passages import Passage
    from infold.vault.records import Note


class CataloguedNote(NamedTuple):
    """A note as the catalogue has it, its outline and links aside."""

    path: str
    sha256: str
    title: str
    words: int
    tokens: int
    day: str  # ISO
    day_from: DayFrom
    headings: tuple[str, ...]  # lines as written
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    origin: str  # as its front matter says, or ""
    trust: str
    problem: str | None  # why a part of it could not be read, with the line


class Stamp(NamedTuple):
    """A file as it was when its bytes were compared last."""

    path: str
    size: int
    mtime_ns: int
    checked_ns: int
    sha256: str


class NoteTitle(NamedTuple):
    """What a note is called."""

    path: str
    title: str
    aliases: tuple[str, ...]


class ListedNote(NamedTuple):
    """What a list of all notes says of one: little, for there are tens of thousands of them."""

    path: str
    sha256: str
    title: str
    words: int
    written_headings: str  # JSON

    @property
    def headings(self) -> tuple[str, ...]:
        """Lines as written."""
        return strings(self.written_headings)


class WrittenNote(NamedTuple):
    """A note whose text is at hand: as parsed, with its passages."""

    note: Note
    sha256: str
    passages: list[Passage]


def strings(written: str) -> tuple[str, ...]:
    """A list of strings as a row has it, in JSON."""
    return () if written == "[]" else tuple(json.loads(written))
