"""The text behind a hit, as it stands now: what the index found may be gone from its file, or have moved.

A hit is taken at its word only where its text still stands there: the id of a passage is made of its text. Sources
that are no notes (transcripts, memory) bring a `Texts` of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from infold.errors import NoteUnreadable, PathRefused
from infold.search.index import Hit
from infold.settings import Params
from infold.text import content_hash
from infold.vault.files import decode, read_bytes
from infold.vault.lines import Lines

_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_MARKUP: Final = re.compile(r"[\W_]+")
_BLANK: Final = " \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029\ufeff"
_MOST_ORDINALS: Final = 64  # tried before a note is cut again
_MOST_READ: Final = 256  # texts that are held at once


@dataclass(frozen=True, slots=True)
class Stretch:
    """The text of a hit, the lines it stands on now, and the nearest heading as written."""

    text: str
    start_line: int
    end_line: int
    heading: str | None


class Texts(Protocol):
    """Gives the texts of one source's hits."""

    def stretch(self, hit: Hit) -> Stretch | None:
        """The text of `hit` as it stands now; None where it no longer does."""


class NoteTexts:
    """The notes of a vault, each read once. For one search: what changes later is not seen."""

    def __init__(self, vault: Path, params: Params) -> None:
        self._vault = vault
        self._params = params
        self._read: dict[str, tuple[str, Lines] | None] = {}

    def stretch(self, hit: Hit) -> Stretch | None:
        """The passage of `hit`, read from its note."""
        found = self._text(hit.path)
        if found is None:
            return None
        text, lines = found
        where = hit.start_line, hit.end_line
        passage = _between(text, lines, *where)
        if passage is None or not _is_that(hit, passage):
            moved = self._cut_again(hit, text)
            if moved is None:
                return None
            passage, where = moved[0], moved[1:]
        return _from_heading(passage, where, hit.trail, text, lines)

    def _text(self, path: str) -> tuple[str, Lines] | None:
        if path not in self._read:
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            try:
                text = decode(read_bytes(self._vault, path, self._params.vault.max_note_bytes), path)
            except (NoteUnreadable, PathRefused):
                self._read[path] = None
            else:
                self._read[path] = text, Lines(text)
        return self._read[path]

    def _cut_again(self, hit: Hit, text: str) -> tuple[str, int, int] | None:
        """The passage with the id of `hit`, where the note as it is now still has it."""
        from infold.search.points import point_id
        from infold.tables.passages import cut
        from infold.vault.note import parse

        search = self._params.search
        for ordinal, passage in enumerate(cut(parse(hit.path, text), search.passage_tokens, search.overlap_tokens)):
            if point_id(hit.path, ordinal, passage.text_hash) == hit.id:
                return passage.text, passage.start_line, passage.end_line
        return None


def heading_text(line: str) -> str:
    """A heading as it may be compared: its letters and digits alone."""
    return _MARKUP.sub(" ", line).strip().casefold()


def _is_that(hit: Hit, passage: str) -> bool:
    """Whether `hit` is of this text: the passages of a note are numbered, and its number is not known."""
    from infold.search.points import point_id

    digest = content_hash(passage)
    return any(point_id(hit.path, ordinal, digest) == hit.id for ordinal in range(_MOST_ORDINALS))


def _between(text: str, lines: Lines, start: int, end: int) -> str | None:
    if not 1 <= start <= end <= len(lines.starts):
        return None
    return text[lines.starts[start - 1] : lines.ends[end - 1]].strip(_BLANK)


def _from_heading(passage: str, where: tuple[int, int], trail: tuple[str, ...], text: str, lines: Lines) -> Stretch:
    """`passage` from its nearest heading on: the headings above that one say nothing of it."""
    start, end = where
    if not trail:
        return Stretch(passage, start, end, None)
    wanted = heading_text(trail[-1])
    for number in range(start, end + 1):  # the headings that the passage opens with
        line = _line(text, lines, number)
        if _is_heading(text, lines, number):
            if heading_text(line) == wanted:
                rest = _between(text, lines, number, end) or ""
                inside = rest if passage.endswith(rest) else passage
                return Stretch(inside, number, end, line.strip())
        elif line.strip(_BLANK) and not _UNDERLINE.match(line):
            break
    for number in range(start - 1, 0, -1):
        line = _line(text, lines, number)
        if heading_text(line) == wanted and _is_heading(text, lines, number):
            return Stretch(passage, start, end, line.strip())
    return Stretch(passage, start, end, f"{'#' * min(len(trail), 6)} {trail[-1]}")


def _is_heading(text: str, lines: Lines, number: int) -> bool:
    """Whether a line looks like a heading; whether it is one, its title tells."""
    if _HEADING.match(_line(text, lines, number)):
        return True
    return number < len(lines.starts) and bool(_UNDERLINE.match(_line(text, lines, number + 1)))


def _line(text: str, lines: Lines, number: int) -> str:
    return text[lines.starts[number - 1] : lines.ends[number - 1]].lstrip("\ufeff")
