"""The outline of a note as it is kept, and a note made of it and its text again, without a second parse.

What can be told from the text beside a position (lines, titles above, the context of a link) is worked out again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgpack

from infold.catalogue.passages import Passage, heading_trails, passage_at
from infold.vault.front_matter import read_front_matter
from infold.vault.lines import Lines
from infold.vault.records import Block, BlockKind, Heading, Link, Note

_KINDS: Final = tuple(BlockKind)
_CODES: Final = {kind: code for code, kind in enumerate(_KINDS)}


class LinkRow(NamedTuple):
    """A link as the note writes it. Where it leads stands beside it in the catalogue."""

    name: str  # the target as written, decoded and without anchor
    anchor: str
    alias: str | None
    is_wiki: bool
    is_embed: bool
    is_attachment: bool  # leads to no note by its form, so it cannot dangle
    start: int
    end: int
    line: int


def pack_outline(note: Note) -> bytes:
    """Headings, blocks, ids of blocks and comments of `note`; its links are rows of their own."""
    headings = [(heading.level, heading.title, heading.start, heading.end) for heading in note.headings]
    flat: list[int] = []
    position = 0
    for block in note.blocks:  # distances are small numbers, and those take a byte
        flat += (_CODES[block.kind], block.start - position, block.end - block.start)
        position = block.end
    packed: bytes = msgpack.packb((headings, flat, note.block_ids, note.comments, note.plain_from))
    return packed


def pack_passages(note: Note, passages: Sequence[Passage]) -> bytes:
    """Where the passages of `note` stand and under which heading; their text is the note's."""
    ordinals = {trail: number for number, (_, trail) in enumerate(heading_trails(note.headings))}
    flat: list[int] = []
    position = 0
    for passage in passages:
        flat += (passage.start - position, passage.end - passage.start, ordinals.get(passage.trail, -1))
        position = passage.start
    packed: bytes = msgpack.packb(flat)
    return packed


def unpack_passages(path: str, text: str, outline: bytes, packed: bytes) -> list[Passage]:
    """The passages of the note with this text."""
    headings = [Heading(level, title, "", start, end, 0) for level, title, start, end in msgpack.unpackb(outline)[0]]
    return _passages(path, text, headings, packed, Lines(text).starts)


def _passages(
    path: str, text: str, headings: Iterable[Heading], packed: bytes, line_starts: Sequence[int]
) -> list[Passage]:
    trails = [trail for _, trail in heading_trails(headings)]
    flat = msgpack.unpackb(packed)
    passages: list[Passage] = []
    position = 0
    for at in range(0, len(flat), 3):
        position += flat[at]
        start, end, ordinal = position, position + flat[at + 1], flat[at + 2]
        trail = trails[ordinal] if ordinal >= 0 else ()
        passages.append(passage_at(path, text, start, end, trail, line_starts))
    return passages


def unpack_note(
    path: str,
    text: str,
    outline: bytes,
    links: Iterable[LinkRow],
    *,
    title: str,
    tags: Sequence[str],
    aliases: Sequence[str],
    with_blocks: bool = True,
    passages: bytes | None = None,
) -> tuple[Note, list[Passage]]:
    """The note that `vault.note.parse` gives of this text, and its passages, where they are wanted too."""
    packed_headings, flat, block_ids, comments, plain_from = msgpack.unpackb(outline)
    lines = Lines(text)
    headings = [
        Heading(level, name, _written(text[start:end], level, name), start, end, lines.number(start))
        for level, name, start, end in packed_headings
    ]
    note = Note(
        path=path,
        text=text,
        title=title,
        front_matter=read_front_matter(text),
        headings=tuple(headings),
        blocks=tuple(_blocks(flat, headings, lines)) if with_blocks else (),
        links=tuple(_link(row, text, lines) for row in links),
        tags=tuple(tags),
        aliases=tuple(aliases),
        block_ids=tuple(block_ids),
        comments=tuple((start, end) for start, end in comments),
        plain_from=plain_from,
    )
    return note, [] if passages is None else _passages(path, text, headings, passages, lines.starts)


def _written(line: str, level: int, title: str) -> str:
    stripped = line.strip()
    return stripped if stripped.startswith("#") else f"{'#' * level} {title}"


def _blocks(flat: Sequence[int], headings: Sequence[Heading], lines: Lines) -> Iterator[Block]:
    starts = lines.starts
    coming = iter(headings)
    levels: list[int] = []
    trail: tuple[str, ...] = ()
    end = 0
    for at in range(0, len(flat), 3):
        kind, start = _KINDS[flat[at]], end + flat[at + 1]
        end = start + flat[at + 2]
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
