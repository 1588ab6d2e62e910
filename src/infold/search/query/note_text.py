"""A note as it stands: where in it a passage of the index is now, from which heading on, and the headings within.

Pure functions of its text, apart from cutting it again. Which notes are read, and kept, belongs to
`search.query.excerpts`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.errors import NoteUnreadable, PathRefused
from infold.search.index.contract import Hit
from infold.text import CHARACTERS_PER_TOKEN, content_hash
from infold.vault.lines import BOM, Lines

if TYPE_CHECKING:
    from infold.catalogue.passages import PassageCut
    from infold.settings import SearchParams

_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_BEFORE_SIGN: Final = " \ufeff"  # of a heading
_MAY_HEAD: Final = frozenset("#=- \ufeff")  # what a heading, or the line that makes one of the line above, begins with
_MAY_OUTLINE: Final = frozenset("#`~ \ufeff")
_LINE_END: Final = re.compile(r"(\r\n?|\n)")
_LINE: Final = attrgetter("line")
_MARKUP: Final = re.compile(r"[\W_]+")
_BLANK: Final = " \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029\ufeff"
_OUTLINED: Final = re.compile(r"\ufeff? {0,3}(?:(?P<fence>`{3,}|~{3,})|(?P<hashes>#{1,6})(?:[ \t]+|$))")
_MOST_HEADINGS: Final = 20_000  # whose letters and digits are kept, for the next search
_SIGNS: Final = 5  # of a line, the last of which a heading's `#` may be
_NEAR: Final = 64  # lines above a passage that are looked at before all of its note are
_MOST_ORDINALS: Final = 8  # of passages with one text, tried before a note is cut again
_FEW: Final = 2  # passages with the same first and last line
_EMPTY: Final = re.compile(rf"[{_BLANK}]*$")

_Found = tuple[str, int, int]  # a passage and its lines
_Shown = tuple[str, int, int, str | None]  # what is shown of it, its lines, and the nearest heading


class InnerHeading(NamedTuple):
    """A heading inside a passage: its line, as it is written, and the titles in force from there."""

    line: int
    heading: str
    trail: tuple[str, ...]


class NoteText:
    """A note as it stands, by its lines. However many passages it has, each of its lines is looked through once."""

    def __init__(
        self, path: str, text: str, params: SearchParams, kept: Callable[[str, str], list[PassageCut]] | None
    ) -> None:
        self._path = path
        self._kept = kept
        self._params = params
        self._lines, self._line_ends = _lines_of(text)
        self._longest = 4 * params.passage_tokens * CHARACTERS_PER_TOKEN  # of lines that can be a passage
        self._spans: dict[tuple[int, int], list[tuple[int, int]]] | None = None  # of passages
        self._passages: dict[str, _Found] | None = None
        self._headings: dict[str, list[int]] | None = None
        self._numbers: list[int] | None = None  # of the lines that look like headings
        self._outline: list[InnerHeading] | None = None
        self.size = len(text)  # characters

    def where_it_was(self, hit: Hit) -> _Found | None:
        """The lines of `hit`, where they are its passage still. Lines that hold more than one passage are none."""
        start, end = hit.start_line, hit.end_line
        if not 1 <= start <= end <= len(self._lines):
            return None
        if sum(map(len, self._lines[start - 1 : end])) + end - start > self._longest:
            return None
        passage = self._between(start, end)
        return (passage, start, end) if _is_that(hit, passage) else None

    def beside_another(self, hit: Hit) -> _Found | None:
        """The passage of `hit` on its lines, which hold a part of another too; not where they hold several passages."""
        lines = hit.start_line, hit.end_line
        spans = self._cut_by_lines().get(lines, ())
        for start, end in spans if len(spans) <= _FEW else ():
            passage = self._text()[start:end]
            if _is_that(hit, passage):
                return passage, *lines
        return None

    def cut_again(self) -> dict[str, _Found]:
        """By id, the passages that the note as it is now has."""
        from infold.search.index.point_ids import passage_ids

        if self._passages is None:
            text = self._text()
            found = [(text[start:end], *lines) for lines, some in self._cut_by_lines().items() for start, end in some]
            ids = passage_ids(self._path, [content_hash(passage) for passage, _, _ in found])
            self._passages = dict(zip(ids, found, strict=True))
        return self._passages

    def _cut_by_lines(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """Where the passages of the note start and end, by their first and last line, in order."""
        if self._spans is None:
            text = self._text()
            starts = Lines(text).starts
            found: dict[tuple[int, int], list[tuple[int, int]]] = {}
            for start, end, _ in self._cuts(text):
                lines = bisect_right(starts, start), bisect_right(starts, end - 1)
                found.setdefault(lines, []).append((start, end))
            self._spans = found
        return self._spans

    def _cuts(self, text: str) -> list[PassageCut]:
        if self._kept is not None:
            try:
                return self._kept(self._path, text)
            except (NoteUnreadable, PathRefused):
                return []
        from infold.catalogue.passages import cuts
        from infold.vault.note import parse

        params = self._params
        return cuts(parse(self._path, text), params.passage_tokens, params.overlap_tokens, params.max_passages)

    def from_heading(self, passage: str, start: int, end: int, trail: tuple[str, ...]) -> _Shown:
        """`passage` from its nearest heading on: the headings above that one say nothing of it.

        Where it is headings and nothing else, as entries of a log are, each is text: from the first on that is not
        above the nearest.
        """
        if not trail:
            return (passage, start, end, None)
        if first := self._first_of_headings(start, end, trail):
            return (self._rest(passage, first, end), first, end, self._line(first).strip())
        wanted = heading_text(trail[-1])
        for number in range(start, end + 1):  # the headings that the passage opens with
            if self._is_heading(number):
                if heading_text(self._line(number)) == wanted:
                    return (self._rest(passage, number, end), number, end, self._line(number).strip())
            elif not (self._matches(_EMPTY, number) or self._matches(_UNDERLINE, number)):
                break
        if above := self._nearest_above(start, wanted):
            return (passage, start, end, self._line(above).strip())
        return (passage, start, end, f"{'#' * min(len(trail), 6)} {trail[-1]}")

    def _first_of_headings(self, start: int, end: int, trail: tuple[str, ...]) -> int:
        """The first line of a passage of headings alone that is not above the others; 0 where there is other text."""
        headings = []
        for number in range(start, end + 1):
            if self._is_heading(number):
                headings.append(number)
            elif not self._matches(_EMPTY, number):
                return 0
        if len(headings) < 2:
            return 0
        above = {heading_text(each) for each in trail[:-1]}
        return next((number for number in headings if heading_text(self._line(number)) not in above), 0)

    def last_heading(self, first: int, last: int) -> InnerHeading | None:
        """The last of the headings on these lines that are written with `#`, outside of code."""
        if "#" not in "".join([line[:_SIGNS] for line in self._lines[first - 1 : last]]):
            return None
        if self._outline is None:
            self._outline = list(_outline(self._lines))
        at = bisect_right(self._outline, last, key=_LINE)
        return self._outline[at - 1] if at and self._outline[at - 1].line >= first else None

    def _rest(self, passage: str, number: int, end: int) -> str:
        rest = self._between(number, end)
        return rest if passage.endswith(rest) else passage

    def _nearest_above(self, line: int, wanted: str) -> int:
        """The last line above that looks like this heading; 0 where none does."""
        lines, least = self._lines, max(line - _NEAR, 1)
        for number in range(line - 1, least - 1, -1):
            may_head = lines[number - 1][:1] in _MAY_HEAD or lines[number][:1] in _MAY_HEAD
            if may_head and self._is_heading(number) and heading_text(self._line(number)) == wanted:
                return number
        if least == 1:
            return 0
        alike = self._heading_lines().get(wanted, [])
        at = bisect_left(alike, line)
        return alike[at - 1] if at else 0

    def _heading_lines(self) -> dict[str, list[int]]:
        """Which lines look like each heading, in order; whether one is a heading, its title tells."""
        if self._headings is None:
            found: dict[str, list[int]] = {}
            for number in self._heading_numbers():
                found.setdefault(heading_text(self._line(number)), []).append(number)
            self._headings = found  # when it is whole, for several threads may ask
        return self._headings

    def _heading_numbers(self) -> list[int]:
        """The lines that look like headings."""
        if self._numbers is None:
            self._numbers = sorted(set(filter(self._is_heading, _near_headings(self._lines))))
        return self._numbers

    def _is_heading(self, number: int) -> bool:
        if not self._may_be_heading(number):
            return False
        if self._matches(_HEADING, number):
            return True
        return number < len(self._lines) and self._matches(_UNDERLINE, number + 1)

    def _may_be_heading(self, number: int) -> bool:
        """Whether the first sign of this line or of the next allows it: most lines need no pattern."""
        signs = [line[:1] for line in self._lines[number - 1 : number + 1]]
        return not _MAY_HEAD.isdisjoint(signs)

    def _matches(self, pattern: re.Pattern[str], number: int) -> bool:
        line = self._lines[number - 1]
        return pattern.match(line, 1 if line.startswith(BOM) else 0) is not None

    def _line(self, number: int) -> str:
        return self._lines[number - 1].lstrip(BOM)

    def _between(self, start: int, end: int) -> str:
        lines = self._lines[start - 1 : end]
        if not self._line_ends:
            return "\n".join(lines).strip(_BLANK)
        return _joined(lines, self._line_ends[start - 1 :]).strip(_BLANK)

    def _text(self) -> str:
        return _joined(self._lines, self._line_ends) if self._line_ends else "\n".join(self._lines)


def _lines_of(text: str) -> tuple[list[str], list[str]]:
    """The lines of `text`, and how each of them ends; no ends where all are alike."""
    if "\r" not in text:
        return text.split("\n"), []
    parts = _LINE_END.split(text)
    return parts[::2], parts[1::2]


def _joined(lines: Sequence[str], line_ends: Sequence[str]) -> str:
    """These lines with their ends, the last one without."""
    return "".join(line + end for line, end in zip_longest(lines, line_ends[: len(lines) - 1], fillvalue=""))


@lru_cache(maxsize=_MOST_HEADINGS)
def heading_text(line: str) -> str:
    """A heading as it may be compared: its letters and digits alone."""
    return _MARKUP.sub(" ", line).strip().casefold()


def _near_headings(lines: Sequence[str]) -> Iterator[int]:
    """The lines that may be headings, by their first sign or that of the line below: most lines need no pattern."""
    for number in [number for number, line in enumerate(lines, 1) if line[:1] in _MAY_HEAD]:
        line = lines[number - 1]
        bare = line.lstrip(_BEFORE_SIGN)
        if bare.startswith("#"):
            yield number
        elif number > 1 and bare.startswith(("=", "-")) and not bare.rstrip(_BLANK).strip(bare[0]):
            yield number - 1


def _outline(lines: Sequence[str]) -> Iterator[InnerHeading]:
    """The headings with `#` outside of fenced code, with the titles in force."""
    above: list[tuple[int, str]] = []
    fence = ""
    for number in [number for number, line in enumerate(lines, 1) if line[:1] in _MAY_OUTLINE]:
        line = lines[number - 1]
        match = _OUTLINED.match(line)
        if match is None:
            continue
        if match["fence"]:
            if not fence:
                fence = match["fence"]
            elif match["fence"].startswith(fence):
                fence = ""
            continue
        if fence:
            continue
        level = len(match["hashes"])
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, _without_closing(line[match.end() :].rstrip(" \t"))))
        yield InnerHeading(number, line.strip(_BLANK), tuple(title for _, title in above))


def _without_closing(title: str) -> str:
    """The title of a heading without the signs that may close it."""
    if not title.endswith("#"):
        return title
    bare = title.rstrip("#")
    return bare.rstrip(" \t") if bare.endswith((" ", "\t")) else title


def _is_that(hit: Hit, passage: str) -> bool:
    """Whether `hit` is of this text: the passages of a note are numbered, and its number is not known."""
    from infold.search.index.point_ids import point_id

    digest = content_hash(passage)
    return any(point_id(hit.path, ordinal, digest) == hit.id for ordinal in range(_MOST_ORDINALS))
