"""One note: its text, and what stands where in it.

`parse` turns text into a `Note` with pulldown-cmark (`pyromark`). Offsets are characters of the text, lines count from
1. Reading files belongs to `vault.files`, resolving links to `vault.links`, changing text to `vault.edits`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class BlockKind(StrEnum):
    """What a block of a note is."""

    FRONT_MATTER = "front_matter"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"  # one top-level item, with all that is nested in it
    QUOTE = "quote"  # callouts too
    CODE = "code"
    TABLE = "table"
    HTML = "html"
    COMMENT = "comment"  # a block that is one %% comment %%
    FOOTNOTE = "footnote"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: `title` is its plain text, `raw` the line as written without the line end."""

    level: int
    title: str
    raw: str
    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a note: `text[start:end]` is it, without its trailing line end. `trail` is the titles of the headings above it."""

    kind: BlockKind
    start: int
    end: int
    line: int
    end_line: int
    trail: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written. `target` is decoded and without anchor ('' for `[[#Heading]]`); `alias` is the shown text where it differs."""

    target: str
    anchor: str  # 'Heading', 'H1#H2' or '^block', without the leading '#'; '' where there is none
    alias: str | None
    raw: str
    is_wiki: bool
    is_embed: bool
    start: int
    end: int
    line: int
    context: str  # the line it stands on, stripped, at most 300 characters


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The YAML block at the top. `values` is {} where it cannot be read; `problem` then says why, with the line."""

    start: int
    end: int
    values: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A parsed note. `text` is the file's whole text, BOM and line ends as they are."""

    path: str
    text: str
    title: str  # front-matter title, else the first H1, else the file's stem
    front_matter: FrontMatter | None
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    links: tuple[Link, ...]
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    block_ids: tuple[str, ...]

    def block_text(self, block: Block) -> str:
        """The text of one of this note's blocks."""
        return self.text[block.start : block.end]
