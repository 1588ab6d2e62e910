"""The outline of a note's body, as pulldown-cmark (`pyromark`) sees it: top-level blocks, links, tags, code spans.

The parser counts in bytes of UTF-8; `CharacterOffsets` turns them into characters. Everything here is raw: `vault.note`
makes records of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import pyromark

from infold.vault.records import BlockKind

# A link can stand in an image's description and the other way round; deeper than this is an attack on memory.
MAX_LINK_DEPTH: Final = 4
# More blocks, links and spans of code than this are no note a person wrote: the rest of the text is one block.
MAX_PARTS: Final = 20_000

_OPTIONS: Final = pyromark.Options
_MARKDOWN: Final = pyromark.Markdown(
    options=_OPTIONS.ENABLE_TABLES
    | _OPTIONS.ENABLE_FOOTNOTES
    | _OPTIONS.ENABLE_STRIKETHROUGH
    | _OPTIONS.ENABLE_TASKLISTS
    | _OPTIONS.ENABLE_MATH
    | _OPTIONS.ENABLE_WIKILINKS
)
_BLOCKS: Final = {
    "Paragraph": BlockKind.PARAGRAPH,
    "BlockQuote": BlockKind.QUOTE,
    "CodeBlock": BlockKind.CODE,
    "HtmlBlock": BlockKind.HTML,
    "FootnoteDefinition": BlockKind.FOOTNOTE,
    "Table": BlockKind.TABLE,
    "Item": BlockKind.LIST_ITEM,
}
_CODE: Final = frozenset(("Code", "InlineMath", "DisplayMath", "Html", "InlineHtml"))
# The signs that end a tag are Obsidian's; a tag of digits only is none.
_TAG: Final = re.compile(
    r"(?:^|(?<=[\s(\[{,;\"'“‘]))#([^\s\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)"
)
_ENDS: Final = frozenset(("Link", "Image", "CodeBlock"))
_BREAKS: Final = frozenset(("SoftBreak", "HardBreak"))
_TELLING: Final = (b"#", b"`", b"$", b"<", b"&")  # in a paragraph: no tag, code, math or HTML is without one of these
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_STEP: Final = 256  # a power of two


class CharacterOffsets:
    """Byte offsets of a text's UTF-8 form as character offsets of the text."""

    def __init__(self, text: str) -> None:
        self._data: bytes | None = None
        self._before: list[int] = []
        if text.isascii():
            return
        self._data = text.encode()
        self._before.append(0)  # characters before each multiple of _STEP bytes
        for start in range(0, len(self._data), _STEP):
            characters = len(self._data[start : start + _STEP].translate(None, _CONTINUATION))
            self._before.append(self._before[-1] + characters)

    def __call__(self, offset: int) -> int:
        """The number of characters that begin before byte `offset`."""
        return self.many([offset], 0)[0]

    def many(self, offsets: list[int], base: int) -> list[int]:
        """Each of `offsets` in characters, plus `base`."""
        data, before = self._data, self._before
        if data is None:
            return [base + offset for offset in offsets] if base else offsets
        return [
            base + before[offset // _STEP] + len(data[offset & -_STEP : offset].translate(None, _CONTINUATION))
            for offset in offsets
        ]


class RawBlock(NamedTuple):
    """A top-level block in bytes; `level` and `title` are a heading's."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: Sequence[str] = ()


class RawLink(NamedTuple):
    """A link in bytes, with its destination as written and the text it shows."""

    start: int
    end: int
    destination: str
    is_wiki: bool
    has_alias: bool
    is_embed: bool
    shown: list[str]


@dataclass(slots=True)
class Outline:
    """What stands in a body. Blocks and code are in order; links are in the order they end.

    `plain_from` is where the body was too much to be read on, in bytes.
    """

    blocks: list[RawBlock] = field(default_factory=list)
    links: list[RawLink] = field(default_factory=list)
    code: list[tuple[int, int]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    plain_from: int | None = None


def outline(body: str) -> Outline:
    """Reads `body`, a note's text without front matter."""
    found = Outline()
    reader = _Reader(found)
    may_be_over = len(body) >= MAX_PARTS  # no part of it is without a sign
    sinks, blocks = reader.sinks, found.blocks
    depth, in_list = 0, False
    events: Any = _MARKDOWN.events_with_range(body)  # typed as a union too wide to walk fast
    for event, span in events:  # what is frequent, or matters to nobody, is dealt with right here
        if "Text" in event:  # a key of a mapping; no event without properties holds it in its name
            text = event["Text"]
            if sinks or "#" in text:
                reader.text(text)
        elif "Start" in event:
            value = event["Start"]
            if value.__class__ is not str:
                in_list = in_list or (depth == 0 and "List" in value)
                reader.start(value, span["start"], span["end"], depth)
            elif (depth == 0 or (depth == 1 and in_list and value == "Item")) and value in _BLOCKS:
                blocks.append(RawBlock(_BLOCKS[value], span["start"], span["end"]))
            depth += 1
        elif "End" in event:
            depth -= 1
            value = event["End"]
            is_end = value.__class__ is str and value in _ENDS
            if is_end and reader.end(value) and depth == 1 and reader.is_told(body, span["end"]):
                break
            if may_be_over and depth <= in_list and reader.is_over(body, span["end"]):  # the end of a block or item
                break
            if depth == 0:
                in_list = False
                sinks.clear()  # of a heading
        elif event.__class__ is str:
            reader.sign(event, span["start"], span["end"], depth)
        else:
            reader.code(event, span["start"], span["end"])
    return found


class _Reader:
    """The state while events pass, depth and lists aside."""

    def __init__(self, found: Outline) -> None:
        self.found = found
        self.in_code = False
        self.open_links: list[RawLink | None] = []
        self.sinks: list[list[str]] = []

    def is_over(self, body: str, end: int) -> bool:
        """Whether the note has had its share of work; what follows the block that ends at byte `end` is one block."""
        found = self.found
        if len(found.blocks) + len(found.links) + len(found.code) < MAX_PARTS:
            return False
        found.plain_from = end
        whole = body.encode()
        if whole[end:].strip():
            found.blocks.append(RawBlock(BlockKind.PARAGRAPH, end, len(whole)))
        return True

    def sign(self, event: str, start: int, end: int, depth: int) -> None:
        """A break within a heading or link, or a rule between blocks."""
        if depth == 0 and event == "Rule":
            self.found.blocks.append(RawBlock(BlockKind.RULE, start, end))
        elif event in _BREAKS:
            for sink in self.sinks:
                sink.append(" ")

    def text(self, value: str) -> None:
        """Text that belongs to a heading or link, or may hold tags."""
        for sink in self.sinks:
            sink.append(value)
        if "#" in value and not self.in_code and not self.open_links:
            self.found.tags += [tag for tag in _TAG.findall(value) if not tag.isdigit()]

    def start(self, value: Mapping[str, Any], start: int, end: int, depth: int) -> None:
        """The start of what has properties: a top-level block, a link or a code block."""
        if "Link" in value:
            self._start_link(value["Link"], start, end, is_embed=False)
        elif "Image" in value:
            self._start_link(value["Image"], start, end, is_embed=True)
        elif "Heading" in value:
            if depth == 0:
                title: list[str] = []
                self.sinks.append(title)
                level = int(value["Heading"]["level"][1])
                self.found.blocks.append(RawBlock(BlockKind.HEADING, start, end, level, title))
        else:
            (name,) = value
            if depth == 0 and name in _BLOCKS:
                self.found.blocks.append(RawBlock(_BLOCKS[name], start, end))
            if name == "CodeBlock":
                self.in_code = True
                self.found.code.append((start, end))

    def is_told(self, body: str, end: int) -> bool:
        """Whether a paragraph has its share of links at byte `end`, and nothing after them that is looked for.

        Then what the parser makes of the rest of it is not walked through.
        """
        block = self.found.blocks[-1]
        if block.kind is not BlockKind.PARAGRAPH or self.open_links:
            return False
        rest = body.encode()[end : block.end]
        return not any(sign in rest for sign in _TELLING) and self.is_over(body, block.end)

    def end(self, name: str) -> bool:
        """The end of a link, an image or a code block; whether it is the last link there may be."""
        if name == "CodeBlock":
            self.in_code = False
            return False
        link = self.open_links.pop()
        if link is None:
            return False
        self.sinks.pop()
        self.found.links.append(link)
        return len(self.found.links) == MAX_PARTS

    def code(self, event: Any, start: int, end: int) -> None:
        """Code, math and HTML, where neither `%%` nor `#` mean anything."""
        for name, value in event.items():  # always exactly one
            if name in _CODE:
                self.found.code.append((start, end))
                if "Html" not in name:
                    for sink in self.sinks:
                        sink.append(value)

    def _start_link(self, link: Any, start: int, end: int, *, is_embed: bool) -> None:
        if len(self.open_links) >= MAX_LINK_DEPTH or len(self.found.links) >= MAX_PARTS:
            self.open_links.append(None)
            return
        kind = link["link_type"]
        is_wiki = kind.__class__ is dict
        has_alias = bool(is_wiki and kind["WikiLink"]["has_pothole"])
        raw = RawLink(start, end, link["dest_url"], is_wiki, has_alias, is_embed, [])
        self.open_links.append(raw)
        self.sinks.append(raw.shown)
