"""One note: its text, and what stands where in it.

`parse` turns text into a `Note` with pulldown-cmark (`pyromark`). Offsets are characters of the text, lines count from
1. Reading files belongs to `vault.files`, resolving links to `vault.links`, changing text to `vault.edits`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final

from infold.vault.blocks import Source, read_block_ids, read_blocks, read_headings
from infold.vault.comments import MARK, comment_spans, mask
from infold.vault.front_matter import list_value, read_front_matter, text_value
from infold.vault.lines import BOM, Lines
from infold.vault.names import stem
from infold.vault.outline import CharacterOffsets, Outline, outline
from infold.vault.records import Block, BlockKind, FrontMatter, Heading, Link, Note
from infold.vault.written_links import read_front_matter_links, read_links

__all__ = ["Block", "BlockKind", "FrontMatter", "Heading", "Link", "Note", "parse", "plain_text", "stem"]

_INLINE_LINK: Final = re.compile(r"\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:\s+\"[^\"\n]*\")?\)")
_ENDS_CODE: Final = re.compile(r"[`~$<>]")
_TAGS: Final = re.compile(r"</?[A-Za-z][^<>\n]*>")
_HTML: Final = re.compile(rf"<!--[\s\S]*?-->|{_TAGS.pattern}")


def parse(path: str, text: str, *, with_blocks: bool = True) -> Note:
    """The note at `path` with this text. Never raises: whatever is not understood stays text.

    Without blocks (and block ids) it takes three quarters of the time.
    """
    front_matter = read_front_matter(text)
    base = front_matter.end if front_matter is not None else 0
    if base == 0 and text.startswith(BOM):
        base = 1
    body = text[base:] if base else text
    offsets = CharacterOffsets(body)
    found, spans = _outline(body, offsets)
    comments = tuple((base + start, base + end) for start, end in spans)
    source = Source(text, base, offsets, Lines(text), comments)
    headings, blocks = read_blocks(found, source) if with_blocks else (read_headings(found, source), [])
    links = read_links(found, source)
    values: dict[str, Any] = {}
    if front_matter is not None:
        values = front_matter.values
        links = read_front_matter_links(front_matter, source) + links
        start, end = front_matter.start, front_matter.end
        if end > start and with_blocks:
            blocks.insert(0, Block(BlockKind.FRONT_MATTER, start, end, 1, source.lines.number(end), ()))
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
        block_ids=read_block_ids(text, blocks) if "^" in body else (),
        comments=comments,
        plain_from=None if found.plain_from is None else base + offsets(found.plain_from),
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
        text = _as_shown(text)
    return _without_html(text) if "<" in text else text


def _as_shown(text: str) -> str:
    """`text` with the links of Markdown as the text that they show."""
    pieces: list[str] = []
    at = 0
    for link in _INLINE_LINK.finditer(text):  # found by its bracket, ten times as fast as by a sign that may precede it
        start = link.start()
        pieces += (text[at : start - 1 if start > at and text[start - 1] == "!" else start], link[1])
        at = link.end()
    return "".join((*pieces, text[at:])) if at else text


def _without_html(text: str) -> str:
    """`text` without tags and comments; one that is never closed is text, and is looked for once."""
    closed = text.rfind("-->") + 3 if "<!--" in text else 2
    return _TAGS.sub("", text) if closed == 2 else _HTML.sub("", text[:closed]) + _TAGS.sub("", text[closed:])


def _shown(link: Link) -> str:
    if link.alias is not None:
        return "" if link.is_embed and link.alias.isdigit() else link.alias
    return "" if link.is_embed else link.target or link.anchor.rpartition("#")[2]


def _outline(body: str, offsets: CharacterOffsets) -> tuple[Outline, list[tuple[int, int]]]:
    """The outline of `body` with comments masked, and the spans of the comments in characters.

    What would be comments if no `%%` stood in code is masked first: where that hides the end of no code and no mark
    stands in code then, which is nearly everywhere, that was the only reading.
    """
    if MARK not in body:
        return outline(body), []
    spans = comment_spans(body, [])
    if not _may_end_code(body, spans):
        found = outline(mask(body, spans))
        if not _in_code(found, spans, offsets):
            return found, spans
    found = outline(body)
    spans = comment_spans(body, [(offsets(start), offsets(end)) for start, end in found.code])
    return (outline(mask(body, spans)) if spans else found), spans


def _may_end_code(body: str, spans: Sequence[tuple[int, int]]) -> bool:
    return any(_ENDS_CODE.search(body, start, end) for start, end in spans)


def _in_code(found: Outline, spans: Sequence[tuple[int, int]], offsets: CharacterOffsets) -> bool:
    """Whether a comment opens within code."""
    openings = [start for start, _ in spans]
    code = ((offsets(start), offsets(end)) for start, end in found.code)
    return any(bisect_left(openings, start) < bisect_left(openings, end) for start, end in code)
