"""Blocks and headings of a note, made of the raw outline: whole lines, in order, nothing left out."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from infold.vault.comments import MARK, MASKED
from infold.vault.lines import BLANK, LINE_END, Lines
from infold.vault.outline import CharacterOffsets, Outline, RawBlock
from infold.vault.records import Block, BlockKind, Heading

_InLines = tuple[RawBlock, int, int, int, int]  # a block, its first and last line, where they start and end

_BLOCK_ID: Final = re.compile(r"(?:(?<=[ \t\r\n>])|\A)\^([A-Za-z0-9-]+)[ \t]*(?=[\r\n]|\Z)")
_TRAILING_ID: Final = re.compile(r"\s\^[A-Za-z0-9-]+\s*\Z")


@dataclass(frozen=True, slots=True)
class Source:
    """A note's text, where its body begins, and how to find one's way in it."""

    text: str
    base: int
    offsets: CharacterOffsets  # of the body
    lines: Lines
    comments: tuple[tuple[int, int], ...]


def read_headings(found: Outline, source: Source) -> list[Heading]:
    """The headings, in order."""
    return [
        _heading(raw, source, line, start, end)
        for raw, line, _, start, end in _in_lines(found, source)
        if raw.kind is BlockKind.HEADING
    ]


def read_blocks(found: Outline, source: Source) -> tuple[list[Heading], list[Block]]:
    """Headings, and blocks in whole lines, both in order. Non-blank lines without an event become blocks too."""
    text = source.text
    headings: list[Heading] = []
    blocks: list[Block] = []
    levels: list[int] = []
    trail: tuple[str, ...] = ()
    position = source.base
    for raw, line, end_line, start, end in _in_lines(found, source):
        kind = raw.kind
        heading = _heading(raw, source, line, start, end) if kind is BlockKind.HEADING else None
        if heading is not None:
            headings.append(heading)
        if start < position:  # two blocks on one line, as in `[^a]: [^b]: x`: they are one
            position = max(position, end)
            blocks[-1] = blocks[-1]._replace(end=position, end_line=source.lines.number(position))
            continue
        if start > position and text[position:start].strip(BLANK):
            blocks += _leftovers(source, position, start, trail)
        if heading is not None:
            while levels and levels[-1] >= heading.level:
                levels.pop()
            trail = trail[: len(levels)]
        elif kind is BlockKind.PARAGRAPH and source.comments and _is_comment(source, start, end):
            kind = BlockKind.COMMENT
        blocks.append(Block(kind, start, end, line, end_line, trail))
        if heading is not None:
            levels.append(heading.level)
            trail = (*trail, heading.title)
        position = end
    blocks += _leftovers(source, position, len(text), trail)
    return headings, blocks


def _in_lines(found: Outline, source: Source) -> Iterator[_InLines]:
    """The top-level blocks in the lines they stand on, blank lines at their end left out."""
    text, base, starts, ends = source.text, source.base, source.lines.starts, source.lines.ends
    begins = source.offsets.many([raw.start for raw in found.blocks], base)
    stops = source.offsets.many([raw.end for raw in found.blocks], base)
    for raw, begin, stop in zip(found.blocks, begins, stops, strict=True):
        line = bisect_right(starts, begin)
        last = begin + len(text[begin:stop].rstrip(BLANK)) - 1
        end_line = bisect_right(starts, last, line) if last > begin else line
        yield raw, line, end_line, max(starts[line - 1], base), ends[end_line - 1]


def _leftovers(source: Source, start: int, end: int, trail: tuple[str, ...]) -> list[Block]:
    """Blocks for the non-blank lines of a gap: reference definitions, for the most part."""
    text, lines = source.text, source.lines
    if start >= end or not text[start:end].strip(BLANK):
        return []
    blocks: list[Block] = []
    position = start
    while position < end:
        last = min(lines.ends[lines.number(position) - 1], end)
        line = text[position:last]
        if line.strip(BLANK):
            kind = BlockKind.DEFINITION if line.lstrip(BLANK).startswith("[") else BlockKind.PARAGRAPH
            number = lines.number(position)
            if blocks and blocks[-1].end_line == number - 1:
                blocks[-1] = blocks[-1]._replace(end=last, end_line=number)
            else:
                blocks.append(Block(kind, position, last, number, number, trail))
        following = LINE_END.match(text, last)
        position = following.end() if following else end
    return blocks


def _is_comment(source: Source, start: int, end: int) -> bool:
    """Whether nothing but comments and white space stands in the block."""
    text, comments = source.text, source.comments
    if not text.startswith(MARK, start):
        return False
    first = bisect_left(comments, (start, start))
    for begin, stop in comments[first : bisect_left(comments, (end, end), first)]:
        if text[start:begin].strip(BLANK):
            return False
        start = stop
    return not text[start:end].strip(BLANK)


def _heading(raw: RawBlock, source: Source, line: int, start: int, end: int) -> Heading:
    title = raw.title[0] if len(raw.title) == 1 else "".join(raw.title)
    if MARK in title:
        title = MASKED.sub("", title)
    title = " ".join(title.split())
    if "^" in title:
        title = _TRAILING_ID.sub("", title)
    written = source.text[start:end].strip()
    if not written.startswith("#"):
        written = f"{'#' * raw.level} {title}"
    return Heading(raw.level, title, written, start, end, line)


def read_block_ids(text: str, blocks: Sequence[Block]) -> tuple[str, ...]:
    """Ids (`^id`) at the end of blocks; in lists at the end of any line."""
    ids: list[str] = []
    for block in blocks:
        if block.kind in (BlockKind.CODE, BlockKind.FRONT_MATTER, BlockKind.HTML, BlockKind.COMMENT):
            continue
        if text.find("^", block.start, block.end) < 0:
            continue
        is_list = block.kind is BlockKind.LIST_ITEM
        matches = _BLOCK_ID.finditer(text, block.start, block.end)
        ids += [match[1] for match in matches if is_list or match.end() == block.end]
    return tuple(dict.fromkeys(ids))
