"""Passages: the windows of a note that search looks through (spec 3, section 5, Chunking Strategy).

A note is cut at its first and second level headings; a section that is too long at its blocks, a block that is too
long at its blank lines, sentences and lines, and what has none of these by characters. Code and tables stay whole
where they fit. Consecutive passages of one section overlap. Every passage is one slice of the note's text, so its lines
are exact.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from operator import itemgetter
from typing import Final

from infold.text import CHARACTERS_PER_TOKEN, content_hash, without_runs
from infold.vault.lines import Lines
from infold.vault.link_lines import without_link_lines
from infold.vault.outside import outside_texts
from infold.vault.records import BlockKind, Heading, Note

SECTION_LEVEL: Final = 2  # sections begin at headings of this level and above

PassageSpan = tuple[int, int]
PassageCut = tuple[int, int, int]  # where a passage starts and ends, and which heading it stands under, or -1
_AT_ONCE: Final = 1000  # spans read ahead

_BLANKS: Final = (  # white space, and the byte order mark
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_BLANK_LINES: Final = re.compile(r"(?:\r\n|\r(?!\n)|\n)[ \t]*[\r\n]\s*")
_LINE_ENDS: Final = re.compile(r"\r\n|\r|\n")
_SENTENCE_ENDS: Final = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+|(?<=[。！？])")
# The same ends in a quarter of the time, each with the sign before it.
_SENTENCE_ENDINGS: Final = re.compile(r"[.!?…。！？](?:(?<=[。！？])|[\"'”’)\]*_]*\s+)")
_SPACES: Final = re.compile(r"\s+")
_SIGN: Final = r"[^\s\ufeff]"
_BETWEEN: Final = {  # the commonest breaks by what stands between them, which takes a tenth of the time
    _LINE_ENDS: re.compile(rf"{_SIGN}(?:[^\r\n]*\S)?"),
    _SPACES: re.compile(rf"{_SIGN}\S*"),
}
_BLOCK_BREAKS: Final = {
    BlockKind.CODE: (_LINE_ENDS, _SPACES),
    BlockKind.TABLE: (_LINE_ENDS, _SPACES),
}
_PROSE_BREAKS: Final = (_BLANK_LINES, _SENTENCE_ENDINGS, _LINE_ENDS, _SPACES)
_OVERLAP_STARTS: Final = (re.compile(rf"{_LINE_ENDS.pattern}|{_SENTENCE_ENDS.pattern}"), _SPACES)


@dataclass(frozen=True, slots=True)
class Passage:
    """A window of a note: lines `start_line` to `end_line` (from 1, both included), under the headings of `trail`."""

    path: str
    start_line: int
    end_line: int
    trail: tuple[str, ...]
    text: str
    text_hash: str
    start: int = 0  # where it stands in the note's text, in characters
    end: int = 0


def cut(note: Note, max_tokens: int = 400, overlap_tokens: int = 80, max_passages: int = 1500) -> list[Passage]:
    """The first `max_passages` passages of `note`, in order: none over `max_tokens`, no front matter in them.

    No line of the body is left out before the last of them ends. Consecutive passages of a section share at most
    `overlap_tokens`, less where a block kept whole needs the room.
    """
    return passages_of(note, cuts(note, max_tokens, overlap_tokens, max_passages))


def passages_of(note: Note, found: Iterable[PassageCut]) -> list[Passage]:
    """The passages that `cuts` found."""
    path, text = note.path, note.text
    line_starts = Lines(text).starts
    trails = list(heading_trails(note.headings))
    return [
        passage_at(path, text, start, end, trails[heading] if heading >= 0 else (), line_starts)
        for start, end, heading in found
    ]


def cuts(note: Note, max_tokens: int, overlap_tokens: int, max_passages: int) -> list[PassageCut]:
    """Where `cut` cuts."""
    limit = max_tokens * CHARACTERS_PER_TOKEN
    overlap = min(overlap_tokens, max_tokens // 2) * CHARACTERS_PER_TOKEN
    return list(islice(_cuts(note, limit, overlap), max_passages))


def _cuts(note: Note, limit: int, overlap: int) -> Iterator[PassageCut]:
    text = note.text
    headings = [heading.start for heading in note.headings]
    has_runs = without_runs(text) is not text
    for section in _by_whose(text, _sections(note)):
        for start, end, own in _windows(note, section, limit, overlap):
            if has_runs and not without_runs(text[start:end]).strip():
                continue  # a part of a picture pasted as data, or the like
            yield start, end, _heading_of(note, headings, own, end)


def passage_at(
    path: str, text: str, start: int, end: int, trail: tuple[str, ...], line_starts: Sequence[int]
) -> Passage:
    """The passage that is `text[start:end]` of a note."""
    return Passage(
        path=path,
        start_line=bisect_right(line_starts, start),
        end_line=bisect_right(line_starts, end - 1),
        trail=trail,
        text=text[start:end],
        text_hash=content_hash(text[start:end]),
        start=start,
        end=end,
    )


def indexed_text(passage: Passage, title: str) -> str:
    """What search reads of a passage: the note's title and the headings above it, then its text without data.

    What says only where links lead is not read: definitions of links, rows of a table that hold nothing but links.
    """
    return below_headings(passage, title, read_text(passage))


def read_text(passage: Passage) -> str:
    """What search reads of a passage's own text."""
    return without_runs(without_link_lines(passage.text))


def below_headings(passage: Passage, title: str, text: str) -> str:
    """What is read of a passage below the note's title and the headings above it."""
    headings = passage.trail[1:] if passage.trail[:1] == (title,) else passage.trail
    above = " > ".join(part for part in (title, *headings) if part)
    return f"{above}\n{text}" if above else text


def written_title(note: Note) -> str:
    """The note's title where its text gives one, else "": a title taken from the file's name changes with the name."""
    front_title = note.front_matter.values.get("title") if note.front_matter else None
    if isinstance(front_title, str) and front_title.strip() == note.title:
        return note.title
    return note.title if any(h.level == 1 and h.title == note.title for h in note.headings) else ""


def heading_trails(headings: Iterable[Heading]) -> Iterator[tuple[str, ...]]:
    """For each heading, the titles in force from there."""
    above: list[tuple[int, str]] = []
    for heading in headings:
        while above and above[-1][0] >= heading.level:
            above.pop()
        above.append((heading.level, heading.title))
        yield tuple(title for _, title in above)


def _heading_of(note: Note, starts: Sequence[int], start: int, end: int) -> int:
    """The heading in force at the first text of `start` to `end` that is not itself a heading; -1 where none is."""
    at = bisect_right(starts, start)
    if at and starts[at - 1] == start:
        while at < len(starts) and _trimmed(note.text, (note.headings[at - 1].end, end))[0] == starts[at] < end:
            at += 1
    return at - 1


def _sections(note: Note) -> Iterator[PassageSpan]:
    """The body, cut before each heading of the first two levels; headings without text go with what follows."""
    start = said_from = note.front_matter.end if note.front_matter else 0
    for heading in note.headings:
        if heading.level > SECTION_LEVEL or heading.start < said_from:
            continue
        if note.text[said_from : heading.start].strip("\ufeff \t\r\n"):
            yield start, heading.start
            start = heading.start
        said_from = heading.end
    yield start, len(note.text)


def _by_whose(text: str, sections: Iterable[PassageSpan]) -> Iterator[PassageSpan]:
    """The sections, parted where text from outside begins and ends: no passage holds both that and one's own."""
    outside = outside_texts(text)
    if not outside:
        yield from sections
        return
    edges = [edge for each in outside for edge in (each.start, each.end)]
    for start, end in sections:
        inner = [start, *(edge for edge in edges if start < edge < end), end]
        yield from pairwise(inner)


def _windows(note: Note, section: PassageSpan, limit: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """The passages of a section: where each starts, where it ends, and where its own text starts after the overlap."""
    start, end = _trimmed(note.text, section)
    if start >= end:
        return
    if end - start <= limit:
        yield start, end, start
        return
    pieces = _Ahead(_pieces(note, (start, end), limit, limit - overlap))
    heads = {heading.start for heading in note.headings}
    first = 0
    while pieces.has(first):
        own = pieces[first][0]
        begin = own
        if first:
            room = min(overlap, limit - (pieces[first][1] - own))
            begin = _overlap_start(note.text, pieces[first - 1][1], own, room, floor=start)
        last = max(first, pieces.until(begin + limit, first))
        if pieces.has(last + 1):  # a heading stays with the text below it, unless there are only headings
            last = next((at for at in range(last, first - 1, -1) if pieces[at][0] not in heads), last)
        yield _trimmed(note.text, (begin, own))[0], pieces[last][1], own
        first = last + 1


class _Ahead(list[PassageSpan]):
    """Spans read as far as they are looked at, for a note may have more of them than it may have passages."""

    def __init__(self, spans: Iterable[PassageSpan]) -> None:
        super().__init__()
        self._spans = iter(spans)

    def has(self, index: int) -> bool:
        """Whether there is a span of this index."""
        if index >= len(self):
            self.extend(islice(self._spans, _AT_ONCE))
        return index < len(self)

    def until(self, end: int, first: int) -> int:
        """The last span that ends at `end` or before, looked for from `first` on."""
        while (not self or self[-1][1] <= end) and self.has(len(self)):
            pass
        return bisect_right(self, end, first, key=itemgetter(1)) - 1


def _pieces(note: Note, section: PassageSpan, limit: int, share: int) -> Iterator[PassageSpan]:
    """The smallest spans that a section is packed from: blocks that fit, and parts of those that do not.

    Parts are at most `share` long, which leaves room for the overlap.
    """
    start, end = section
    at = start
    for block in note.blocks[bisect_right(note.blocks, start, key=lambda block: block.end) :]:
        if block.start >= end:
            break
        if block.end <= at or block.kind is BlockKind.FRONT_MATTER:
            continue
        if block.start > at:
            yield from _parts(note.text, _trimmed(note.text, (at, block.start)), limit, share, _PROSE_BREAKS)
        span = max(block.start, at), min(block.end, end)
        breaks = _BLOCK_BREAKS.get(block.kind, _PROSE_BREAKS)
        yield from _parts(note.text, _trimmed(note.text, span), limit, share, breaks)
        at = span[1]
    yield from _parts(note.text, _trimmed(note.text, (at, end)), limit, share, _PROSE_BREAKS)


def _parts(
    text: str, span: PassageSpan, limit: int, share: int, breaks: tuple[re.Pattern[str], ...]
) -> Iterator[PassageSpan]:
    """`span`, or parts of it that are short enough, broken at the first kind of break that does it, else anywhere."""
    if span[0] >= span[1]:
        return
    if span[1] - span[0] <= limit:
        yield span
        return
    levels = [_broken(text, span, breaks[0])]
    while levels:
        for part in levels[-1]:
            if part[1] - part[0] <= share:
                yield part
                continue
            deeper = len(levels) < len(breaks)
            levels.append(_broken(text, part, breaks[len(levels)]) if deeper else _anywhere(text, part, share))
            break
        else:
            levels.pop()


def _broken(text: str, span: PassageSpan, breaks: re.Pattern[str]) -> Iterator[PassageSpan]:
    """What stands in `span` between these breaks, without white space at its ends."""
    if breaks in _BETWEEN:
        yield from map(re.Match.span, _BETWEEN[breaks].finditer(text, *span))
        return
    at = span[0]
    begin = max(0, at - 1)  # the sign before an ending may be the last one of what stands above
    for until in chain((match.end() for match in breaks.finditer(text, begin, span[1])), (span[1],)):
        part = _trimmed(text, (at, until))
        if part[0] < part[1]:
            yield part
        at = until


def _anywhere(text: str, span: PassageSpan, share: int) -> Iterator[PassageSpan]:
    """Slices of text that has no break; of data none, what stands around it is cut without it."""
    start, end = span
    if without_runs(text[start:end]).strip():
        yield from ((at, min(at + share, end)) for at in range(start, end, share))


def _overlap_start(text: str, before: int, own: int, room: int, floor: int) -> int:
    """Where a passage takes up the one before it: the earliest good break within `room` of its own text at `own`."""
    earliest = max(own - room, floor)
    if earliest >= before:
        return own
    for pattern in _OVERLAP_STARTS:
        for match in pattern.finditer(text, max(earliest - 4, floor), before):
            if earliest <= match.end() < before:
                return match.end()
    return earliest


def _trimmed(text: str, span: PassageSpan) -> PassageSpan:
    """`span` without white space (and BOM) at its ends."""
    start, end = span
    part = text[start:end]
    rest = part.lstrip(_BLANKS)
    start = end - len(rest)
    return start, start + len(rest.rstrip())
