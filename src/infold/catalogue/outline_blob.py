"""The outline of a note as it is kept, and a note made of it and its text again, without a second parse.

What can be told from the text beside a position (lines, titles above, the context of a link) is worked out again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgpack

from infold.catalogue.link_blob import LinkRow, unpack_links
from infold.catalogue.passages import Passage, PassageCut, heading_trails, passage_at
from infold.vault.front_matter import read_front_matter
from infold.vault.lines import Lines
from infold.vault.records import Block, BlockKind, Heading, Link, Note

_KINDS: Final = tuple(BlockKind)
_CODES: Final = {kind: code for code, kind in enumerate(_KINDS)}
_KIND_BITS: Final = 4
_KIND_MASK: Final = (1 << _KIND_BITS) - 1
_HEADING: Final = _CODES[BlockKind.HEADING]

_Span = tuple[int, int, int]  # code of the kind, start, end


def pack_outline(note: Note) -> bytes:
    """Blocks, headings, ids of blocks and comments of `note`; its links are kept by themselves.

    Of a heading that stands in a block of its own, under the title that its line says, the block tells all.
    """
    flat: list[int] = []
    spans: list[tuple[int, int]] = []
    position = 0
    for kind, start, end, _, _, _ in note.blocks:  # distances are small numbers, and those take a byte
        flat += (_CODES[kind] | (start - position) << _KIND_BITS, end - start)
        position = end
        if kind is BlockKind.HEADING:
            spans.append((start, end))
    text = note.text
    places: list[tuple[int, int]] = []
    odd: list[tuple[int, int, str]] = []
    for number, (level, title, _, start, end, _) in enumerate(note.headings):
        places.append((start, end))
        if (level, title) != _plain_heading(text[start:end]):
            odd.append((number, level, title))
    elsewhere = None if places == spans else places
    packed: bytes = msgpack.packb((flat, odd, elsewhere, note.block_ids, note.comments, note.plain_from))
    return packed


def pack_passages(cuts: Iterable[PassageCut]) -> bytes:
    """Where the passages of a note stand and under which heading; their text is the note's."""
    flat: list[int] = []
    position = 0
    for start, end, heading in cuts:
        flat += (start - position, end - start, heading)
        position = start
    packed: bytes = msgpack.packb(flat)
    return packed


def unpack_cuts(packed: bytes) -> Iterator[PassageCut]:
    """Where the passages of a note stand and under which heading, as `pack_passages` was given it."""
    flat = msgpack.unpackb(packed)
    position = 0
    for at in range(0, len(flat), 3):
        position += flat[at]
        yield position, position + flat[at + 1], flat[at + 2]


def _passages(
    path: str, text: str, headings: Iterable[Heading], packed: bytes, line_starts: Sequence[int]
) -> list[Passage]:
    trails = list(heading_trails(headings))
    passages: list[Passage] = []
    for start, end, ordinal in unpack_cuts(packed):
        trail = trails[ordinal] if ordinal >= 0 else ()
        passages.append(passage_at(path, text, start, end, trail, line_starts))
    return passages


def unpack_note(
    path: str,
    text: str,
    outline: bytes,
    links: tuple[bytes, bytes],
    *,
    title: str,
    tags: Sequence[str],
    aliases: Sequence[str],
    with_blocks: bool = True,
    passages: bytes | None = None,
) -> tuple[Note, list[Passage]]:
    """The note that `vault.note.parse` gives of this text, and its passages, where they are wanted too."""
    flat, odd, elsewhere, block_ids, comments, plain_from = msgpack.unpackb(outline)
    lines = Lines(text)
    spans = _spans(flat)
    headings = _headings(spans, odd, elsewhere, text, lines)
    note = Note(
        path=path,
        text=text,
        title=title,
        front_matter=read_front_matter(text),
        headings=tuple(headings),
        blocks=tuple(_blocks(spans, headings, lines)) if with_blocks else (),
        links=tuple(_link(row, text, lines) for row in unpack_links(*links)),
        tags=tuple(tags),
        aliases=tuple(aliases),
        block_ids=tuple(block_ids),
        comments=tuple((start, end) for start, end in comments),
        plain_from=plain_from,
    )
    return note, [] if passages is None else _passages(path, text, headings, passages, lines.starts)


def _spans(flat: Sequence[int]) -> list[_Span]:
    """Kind, start and end of each block."""
    spans: list[_Span] = []
    end = 0
    for code, length in zip(flat[0::2], flat[1::2], strict=True):
        start = end + (code >> _KIND_BITS)
        end = start + length
        spans.append((code & _KIND_MASK, start, end))
    return spans


def _headings(
    spans: Sequence[_Span],
    odd: Iterable[tuple[int, int, str]],
    elsewhere: Sequence[tuple[int, int]] | None,
    text: str,
    lines: Lines,
) -> list[Heading]:
    places = [span[1:] for span in spans if span[0] == _HEADING] if elsewhere is None else elsewhere
    said = {number: (level, title) for number, level, title in odd}
    headings: list[Heading] = []
    for number, (start, end) in enumerate(places):
        line = text[start:end]
        level, title = said.get(number) or _plain_heading(line)
        headings.append(Heading(level, title, _written(line, level, title), start, end, lines.number(start)))
    return headings


def _plain_heading(line: str) -> tuple[int, str]:
    """Level and title of a heading whose title is plain text."""
    marks, _, title = line.strip().partition(" ")
    return len(marks), " ".join(title.split())


def _written(line: str, level: int, title: str) -> str:
    stripped = line.strip()
    return stripped if stripped.startswith("#") else f"{'#' * level} {title}"


def _blocks(spans: Iterable[_Span], headings: Sequence[Heading], lines: Lines) -> Iterator[Block]:
    starts = lines.starts
    coming = iter(headings)
    levels: list[int] = []
    trail: tuple[str, ...] = ()
    for code, start, end in spans:
        kind = _KINDS[code]
        heading = next(coming) if kind is BlockKind.HEADING else None
        if heading is not None:
            while levels and levels[-1] >= heading.level:
                levels.pop()
            trail = trail[: len(levels)]
        yield Block(kind, start, end, bisect_right(starts, start), bisect_right(starts, end), trail)
        if heading is not None:
            levels.append(heading.level)
            trail = (*trail, heading.title)


def _link(row: LinkRow, text: str, lines: Lines) -> Link:
    return Link(
        target=row.name,
        anchor=row.anchor,
        alias=row.alias,
        raw=text[row.start : row.end],
        is_wiki=bool(row.is_wiki),
        is_embed=bool(row.is_embed),
        start=row.start,
        end=row.end,
        line=row.line,
        context=lines.context(row.start, row.end),
    )
