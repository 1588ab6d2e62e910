"""The outline of a note's body, as pulldown-cmark (`pyromark`) sees it: top-level blocks, links, tags, code spans.

The parser counts in bytes of UTF-8; `CharacterOffsets` turns them into characters. Everything here is raw: `vault.note`
makes records of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

import pyromark

from infold.vault.records import BlockKind

# A link can stand in an image's description and the other way round; deeper than this is an attack on memory.
MAX_LINK_DEPTH: Final = 4

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
    "Heading": BlockKind.HEADING,
    "BlockQuote": BlockKind.QUOTE,
    "CodeBlock": BlockKind.CODE,
    "HtmlBlock": BlockKind.HTML,
    "FootnoteDefinition": BlockKind.FOOTNOTE,
    "Table": BlockKind.TABLE,
}
_CODE: Final = frozenset(("Code", "InlineMath", "DisplayMath", "Html", "InlineHtml"))
# The signs that end a tag are Obsidian's; a tag of digits only is none.
_TAG: Final = re.compile(
    r"(?:^|(?<=[\s(\[{,;\"'“‘]))#([^\s\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)"
)
_ENDS: Final = frozenset(("Link", "Image", "CodeBlock"))
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_STEP: Final = 1024


class CharacterOffsets:
    """Byte offsets of a text's UTF-8 form as character offsets of the text."""

    def __init__(self, text: str) -> None:
        self._data: bytes | None = None
        if text.isascii():
            return
        self._data = text.encode()
        self._before = [0]  # characters before each multiple of _STEP bytes
        for start in range(0, len(self._data), _STEP):
            characters = len(self._data[start : start + _STEP].translate(None, _CONTINUATION))
            self._before.append(self._before[-1] + characters)

    def __call__(self, offset: int) -> int:
        """The number of characters that begin before byte `offset`."""
        if self._data is None:
            return offset
        step, rest = divmod(offset, _STEP)
        return self._before[step] + len(self._data[offset - rest : offset].translate(None, _CONTINUATION))

    def many(self, offsets: list[int], base: int) -> list[int]:
        """Each of `offsets` in characters, plus `base`."""
        if self._data is None:
            return [base + offset for offset in offsets] if base else offsets
        return [base + self(offset) for offset in offsets]


@dataclass(slots=True)
class RawBlock:
    """A top-level block in bytes; `level` and `title` are a heading's."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RawLink:
    """A link in bytes, with its destination as written and the text it shows."""

    start: int
    end: int
    destination: str
    is_wiki: bool
    has_alias: bool
    is_embed: bool
    shown: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Outline:
    """What stands in a body. Blocks and code are in order; links are in the order they end."""

    blocks: list[RawBlock] = field(default_factory=list)
    links: list[RawLink] = field(default_factory=list)
    code: list[tuple[int, int]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


def outline(body: str) -> Outline:
    """Reads `body`, a note's text without front matter."""
    found = Outline()
    reader = _Reader(found)
    events: Any = _MARKDOWN.events_with_range(body)  # typed as a union too wide to walk fast
    for event, span in events:  # the loop takes half of all parsing: what matters to nobody is let pass right here
        if event.__class__ is str:
            reader.sign(event, span["start"], span["end"])
        elif "Text" in event:
            if reader.sinks or "#" in event["Text"]:
                reader.text(event["Text"])
        elif "Start" in event:
            value = event["Start"]
            if reader.depth and value.__class__ is str and value != "Item":
                reader.depth += 1
            else:
                reader.start(value, span["start"], span["end"])
        elif "End" in event:
            reader.depth -= 1
            value = event["End"]
            if value.__class__ is dict or value in _ENDS:
                reader.end(value)
        else:
            reader.code(event, span["start"], span["end"])
    return found


class _Reader:
    """The state while events pass."""

    def __init__(self, found: Outline) -> None:
        self.found = found
        self.depth = 0
        self.in_list = False
        self.in_code = False
        self.open_links: list[RawLink | None] = []
        self.sinks: list[list[str]] = []

    def sign(self, event: str, start: int, end: int) -> None:
        """Breaks, rules and task markers."""
        if event in ("SoftBreak", "HardBreak"):
            for sink in self.sinks:
                sink.append(" ")
        elif event == "Rule" and self.depth == 0:
            self.found.blocks.append(RawBlock(BlockKind.RULE, start, end))

    def text(self, value: str) -> None:
        """Text that belongs to a heading or link, or may hold tags."""
        for sink in self.sinks:
            sink.append(value)
        if "#" in value and not self.in_code and not self.open_links:
            self.found.tags += [tag for tag in _TAG.findall(value) if not tag.isdigit()]

    def start(self, value: Any, start: int, end: int) -> None:
        """The start of a top-level block, a list item, a link or a code block."""
        name = value if isinstance(value, str) else next(iter(value))
        if self.depth == 0:
            self._start_block(name, value, start, end)
        elif self.depth == 1 and self.in_list and name == "Item":
            self.found.blocks.append(RawBlock(BlockKind.LIST_ITEM, start, end))
        self.depth += 1
        if name in ("Link", "Image"):
            self._start_link(value[name], start, end, is_embed=name == "Image")
        elif name == "CodeBlock":
            self.in_code = True
            self.found.code.append((start, end))

    def end(self, value: Any) -> None:
        """The end of a link, an image, a code block or something with a level; the depth is outside it already."""
        if value == "CodeBlock":
            self.in_code = False
        elif isinstance(value, str):
            link = self.open_links.pop()
            if link is not None:
                self.sinks.pop()
                self.found.links.append(link)
        elif self.depth == 0:
            self.sinks.clear()  # of a heading

    def code(self, event: Any, start: int, end: int) -> None:
        """Code, math and HTML, where neither `%%` nor `#` mean anything."""
        for name, value in event.items():  # always exactly one
            if name in _CODE:
                self.found.code.append((start, end))
                if "Html" not in name:
                    for sink in self.sinks:
                        sink.append(value)

    def _start_block(self, name: str, value: Any, start: int, end: int) -> None:
        self.in_list = name == "List"
        kind = _BLOCKS.get(name)
        if kind is None:
            return
        block = RawBlock(kind, start, end)
        if kind is BlockKind.HEADING:
            block.level = int(value["Heading"]["level"][1])
            self.sinks = [block.title]
        self.found.blocks.append(block)

    def _start_link(self, link: Any, start: int, end: int, *, is_embed: bool) -> None:
        if len(self.open_links) >= MAX_LINK_DEPTH:
            self.open_links.append(None)
            return
        kind = link["link_type"]
        is_wiki = isinstance(kind, dict)
        has_alias = bool(is_wiki and kind["WikiLink"]["has_pothole"])
        raw = RawLink(start, end, link["dest_url"], is_wiki, has_alias, is_embed)
        self.open_links.append(raw)
        self.sinks.append(raw.shown)
