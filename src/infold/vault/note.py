"""One note: its text, and what stands where in it.

`parse` turns text into a `Note` with pulldown-cmark (`pyromark`). Offsets are characters of the text, lines count from
1. Reading files belongs to `vault.files`, resolving links to `vault.links`, changing text to `vault.edits`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from infold.vault.comments import MARK, MASKED, comment_spans, mask
from infold.vault.front_matter import BOM, list_value, read_front_matter, strings, text_value
from infold.vault.names import stem
from infold.vault.outline import CharacterOffsets, Outline, RawBlock, RawLink, outline
from infold.vault.records import Block, BlockKind, FrontMatter, Heading, Link, Note

__all__ = ["Block", "BlockKind", "FrontMatter", "Heading", "Link", "Note", "parse", "plain_text", "stem"]

MAX_CONTEXT: Final = 300

_BLANK: Final = " \t\r\n"
_LINE_END: Final = re.compile(r"\r\n?|\n")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_WEB_SCHEME: Final = re.compile(r"(?:https?|ftp|file|mailto|obsidian):", re.IGNORECASE)
_BLOCK_ID: Final = re.compile(r"(?:(?<=[ \t\r\n>])|\A)\^([A-Za-z0-9-]+)[ \t]*(?=[\r\n]|\Z)")
_TRAILING_ID: Final = re.compile(r"\s\^[A-Za-z0-9-]+\s*\Z")
_WIKI: Final = re.compile(r"(!?)\[\[([^\[\]\r\n]+)\]\]")


def parse(path: str, text: str) -> Note:
    """The note at `path` with this text. Never raises: whatever is not understood stays text."""
    front_matter = read_front_matter(text)
    base = front_matter.end if front_matter is not None else 0
    if base == 0 and text.startswith(BOM):
        base = 1
    body = text[base:] if base else text
    found, spans = _outline(body)
    offsets = CharacterOffsets(body)
    lines = _Lines(text)
    comments = tuple((base + start, base + end) for start, end in spans)
    blocks, headings = _blocks(text, base, found, offsets, lines, comments)
    if front_matter is not None and front_matter.end > front_matter.start:
        start, end = front_matter.start, front_matter.end
        blocks.insert(0, Block(BlockKind.FRONT_MATTER, start, end, 1, lines.number(end), ()))
    values = front_matter.values if front_matter is not None else {}
    links = _front_matter_links(text, front_matter, lines)
    links += _links(text, base, found, offsets, lines)
    tags = [tag.lstrip("#") for tag in list_value(values, "tags", "tag", split_on=r"[,\s]+")]
    first = next((heading.title for heading in headings if heading.level == 1 and heading.title), "")
    return Note(
        path=path,
        text=text,
        title=text_value(values, "title") or first or stem(path),
        front_matter=front_matter,
        headings=tuple(headings),
        blocks=tuple(blocks),
        links=tuple(links),
        tags=tuple(dict.fromkeys(tag for tag in (*tags, *found.tags) if tag)),
        aliases=list_value(values, "aliases", "alias", split_on=","),
        block_ids=_block_ids(text, blocks) if "^" in body else (),
        comments=comments,
    )


def plain_text(note: Note) -> str:
    """The note's text without front matter, comments, HTML tags and embeds, each link as the text it shows.

    What makes structure (heading marks, bullets, fences, line ends) stays.
    """
    start = note.front_matter.end if note.front_matter is not None else 0
    cuts: list[tuple[int, int, str]] = [(begin, end, "") for begin, end in note.comments]
    cuts += [(link.start, link.end, _shown(link)) for link in note.links if link.start >= start]
    cuts.sort(key=lambda cut: (cut[0], -cut[1]))
    pieces: list[str] = []
    for begin, end, instead in cuts:
        if begin < start:
            continue
        pieces += [note.text[start:begin], instead]
        start = end
    pieces.append(note.text[start:])
    text = "".join(pieces).removeprefix(BOM)
    if "](" in text:
        text = _INLINE_LINK.sub(r"\1", text)
    return _HTML.sub("", text) if "<" in text else text


_INLINE_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:\s+\"[^\"\n]*\")?\)")
_HTML: Final = re.compile(r"<!--[\s\S]*?-->|</?[A-Za-z][^<>\n]*>")


def _shown(link: Link) -> str:
    if link.alias is not None:
        return "" if link.is_embed and link.alias.isdigit() else link.alias
    return "" if link.is_embed else link.target or link.anchor.rpartition("#")[2]


def _outline(body: str) -> tuple[Outline, list[tuple[int, int]]]:
    """The outline of `body` with comments masked, and the spans of the comments in characters."""
    found = outline(body)
    if MARK not in body:
        return found, []
    offsets = CharacterOffsets(body)
    code = [(offsets(start), offsets(end)) for start, end in found.code]
    spans = comment_spans(body, code)
    return (outline(mask(body, spans)) if spans else found), spans


class _Lines:
    """Line numbers of offsets, and the text of the line an offset stands on."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def number(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def start(self, offset: int) -> int:
        return self._starts[bisect_right(self._starts, offset) - 1]

    def end(self, offset: int) -> int:
        """The end of the line at `offset`, its line end excluded."""
        number = bisect_right(self._starts, offset)
        if number == len(self._starts):
            return len(self._text)
        end = self._starts[number] - 1
        return end - 1 if end and self._text[end] == "\n" and self._text[end - 1] == "\r" else end

    def context(self, start: int, end: int) -> str:
        """The line of `start`, stripped; of a long line the part around the link."""
        first, last = self.start(start), self.end(start)
        if last - first > MAX_CONTEXT:
            spare = max(0, MAX_CONTEXT - (end - start)) // 2
            first = max(first, min(start - spare, last - MAX_CONTEXT))
        return self._text[first : min(last, first + MAX_CONTEXT)].strip()


def _blocks(
    text: str,
    base: int,
    found: Outline,
    offsets: CharacterOffsets,
    lines: _Lines,
    comments: Sequence[tuple[int, int]],
) -> tuple[list[Block], list[Heading]]:
    """Blocks in whole lines, in order, and the headings. Non-blank lines without an event become blocks too."""
    blocks: list[Block] = []
    headings: list[Heading] = []
    trail: list[tuple[int, str]] = []
    position = base

    def titles() -> tuple[str, ...]:
        return tuple(title for _, title in trail)

    for raw in found.blocks:
        begin, stop = base + offsets(raw.start), base + offsets(raw.end)
        start = lines.start(begin) if begin - base else base
        end = lines.end(begin + max(0, len(text[begin:stop].rstrip(_BLANK)) - 1))
        if start < position:  # two blocks on one line, as in `[^a]: [^b]: x`: they are one
            last = blocks[-1]
            position = max(position, end)
            blocks[-1] = replace(last, end=position, end_line=lines.number(position))
            continue
        blocks += _leftovers(text, position, start, titles(), lines)
        if raw.kind is BlockKind.HEADING:
            while trail and trail[-1][0] >= raw.level:
                trail.pop()
        is_comment = raw.kind is BlockKind.PARAGRAPH and _is_comment(text, start, end, comments)
        kind = BlockKind.COMMENT if is_comment else raw.kind
        block = Block(kind, start, end, lines.number(start), lines.number(end), titles())
        blocks.append(block)
        if raw.kind is BlockKind.HEADING:
            headings.append(_heading(raw, text, block))
            trail.append((raw.level, headings[-1].title))
        position = end
    blocks += _leftovers(text, position, len(text), titles(), lines)
    return blocks, headings


def _leftovers(text: str, start: int, end: int, trail: tuple[str, ...], lines: _Lines) -> list[Block]:
    """Blocks for the non-blank lines of a gap: reference definitions, for the most part."""
    if not text[start:end].strip(_BLANK):
        return []
    blocks: list[Block] = []
    position = start
    while position < end:
        last = min(lines.end(position), end)
        line = text[position:last]
        if line.strip(_BLANK):
            kind = BlockKind.DEFINITION if line.lstrip(_BLANK).startswith("[") else BlockKind.PARAGRAPH
            number = lines.number(position)
            before = blocks[-1] if blocks else None
            if before is not None and before.end_line == number - 1:
                blocks[-1] = Block(before.kind, before.start, last, before.line, number, trail)
            else:
                blocks.append(Block(kind, position, last, number, number, trail))
        following = _LINE_END.match(text, last)
        position = following.end() if following else end
    return blocks


def _is_comment(text: str, start: int, end: int, comments: Sequence[tuple[int, int]]) -> bool:
    """Whether nothing but comments and white space stands in the block."""
    if not text.startswith(MARK, start):
        return False
    first = bisect_left(comments, (start, start))
    for begin, stop in comments[first : bisect_left(comments, (end, end), first)]:
        if text[start:begin].strip(_BLANK):
            return False
        start = stop
    return not text[start:end].strip(_BLANK)


def _heading(raw: RawBlock, text: str, block: Block) -> Heading:
    title = " ".join(MASKED.sub("", "".join(raw.title)).split())
    title = _TRAILING_ID.sub("", title)
    line = text[block.start : block.end].strip()
    if not line.startswith("#"):
        line = f"{'#' * raw.level} {title}"
    return Heading(raw.level, title, line, block.start, block.end, block.line)


def _links(text: str, base: int, found: Outline, offsets: CharacterOffsets, lines: _Lines) -> list[Link]:
    links = [_link(text, base, raw, offsets, lines) for raw in sorted(found.links, key=lambda raw: raw.start)]
    return [link for link in links if link is not None]


def _link(text: str, base: int, raw: RawLink, offsets: CharacterOffsets, lines: _Lines) -> Link | None:
    """The record of a link, or None where it leads out of the vault or nowhere."""
    destination = raw.destination
    if raw.is_wiki:
        if raw.has_alias:
            destination = destination.removesuffix("\\")
        if "\n" in destination or "\r" in destination or _WEB_SCHEME.match(destination):
            return None
    elif not destination or _SCHEME.match(destination):
        return None
    target, _, anchor = destination.partition("#")
    if not raw.is_wiki:
        target, anchor = unquote(target), unquote(anchor)
    target, anchor = target.strip(), "#".join(part.strip() for part in anchor.split("#") if part.strip())
    if not target and not anchor:
        return None
    shown = MASKED.sub("", "".join(raw.shown)).strip() if raw.has_alias or not raw.is_wiki else ""
    start, end = base + offsets(raw.start), base + offsets(raw.end)
    return Link(
        target=target,
        anchor=anchor,
        alias=shown if shown and shown != target else None,
        raw=text[start:end],
        is_wiki=raw.is_wiki,
        is_embed=raw.is_embed,
        start=start,
        end=end,
        line=lines.number(start),
        context=lines.context(start, end),
    )


def _front_matter_links(text: str, front_matter: FrontMatter | None, lines: _Lines) -> list[Link]:
    """Links in quoted values of the front matter, as Obsidian's properties hold them."""
    if front_matter is None or not front_matter.values or text.find("[[", 0, front_matter.end) < 0:
        return []
    quoted = "\n".join(strings(front_matter.values))  # an unquoted [[x]] is a list in a list, so not among these
    links: list[Link] = []
    for match in _WIKI.finditer(text, front_matter.start, front_matter.end):
        if match[0] not in quoted:
            continue
        target, bar, alias = match[2].partition("|")
        raw = RawLink(match.start(), match.end(), target, True, bool(bar), bool(match[1]), [alias])
        link = _link(text, 0, raw, CharacterOffsets(""), lines)
        if link is not None:
            links.append(link)
    return links


def _block_ids(text: str, blocks: Sequence[Block]) -> tuple[str, ...]:
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
