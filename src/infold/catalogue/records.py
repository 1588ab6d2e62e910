"""What the catalogue says of a note, in the shapes that are asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from infold.catalogue.days import DayFrom
    from infold.catalogue.passages import Passage
    from infold.vault.records import Note


RAW: Final = -15  # of zlib: a stream without a header and a sum of its own


class CataloguedNote(NamedTuple):
    """A note as the catalogue has it, its outline and links aside."""

    path: str
    sha256: str
    title: str
    words: int
    tokens: int
    day: str  # ISO
    day_from: DayFrom
    packed_headings: bytes
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    origin: str  # as its front matter says, or ""
    trust: str
    problem: str | None  # why a part of it could not be read, with the line

    @property
    def headings(self) -> tuple[str, ...]:
        """Lines as written."""
        return unpacked_strings(self.packed_headings)


class Stamp(NamedTuple):
    """A file as it was when its bytes were compared last."""

    path: str
    size: int
    mtime_ns: int
    is_certain: bool  # it was written long enough before that for its time to tell it from any later one
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
    packed_headings: bytes

    @property
    def headings(self) -> tuple[str, ...]:
        """Lines as written."""
        return unpacked_strings(self.packed_headings)


class WrittenNote(NamedTuple):
    """A note whose text is at hand: as parsed, with its passages."""

    note: Note
    sha256: str
    passages: list[Passage]


def strings(written: str) -> tuple[str, ...]:
    """A list of strings as a row has it, in JSON; none is empty text."""
    return tuple(json.loads(written)) if written else ()


def packed_strings(written: str) -> bytes:
    """Such text in half the room."""
    import zlib  # here, because most commands read no headings

    return zlib.compress(written.encode(), 6, RAW) if written else b""


def unpacked_strings(packed: bytes) -> tuple[str, ...]:
    """The strings of it."""
    import zlib

    return strings(zlib.decompress(packed, RAW).decode()) if packed else ()
