"""What a parsed note is made of: frozen records, and nothing that reads or decides.

Offsets are characters of the note's text, lines count from 1. `vault.note` makes these records. What a note has by the
dozen is a tuple: made in a third of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


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
    DEFINITION = "definition"  # lines that say where [reference] links lead


class Heading(NamedTuple):
    """A heading: `title` is its plain text, `raw` the line as written (an underlined heading in its `#` form)."""

    level: int
    title: str
    raw: str
    start: int
    end: int
    line: int


class Block(NamedTuple):
    """A block of a note: `text[start:end]` is whole lines without the last line end. `trail` is the titles above it."""

    kind: BlockKind
    start: int
    end: int
    line: int
    end_line: int
    trail: tuple[str, ...]


class Link(NamedTuple):
    """A link within the vault, as written. `target` is decoded and without anchor ('' for `[[#Heading]]`)."""

    target: str
    anchor: str  # 'Heading', 'H1#H2' or '^block', without the leading '#'; '' where there is none
    alias: str | None  # the shown text where it differs from the target
    raw: str
    is_wiki: bool
    is_embed: bool
    start: int
    end: int
    line: int
    context: str  # the line it stands on, stripped, at most 300 characters


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The YAML block at the top. `values` is {} where it cannot be read; `problem` then says why, with the line.

    Front matter that is opened and never closed is text: `start` and `end` are equal and only `problem` is set.
    """

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
    comments: tuple[tuple[int, int], ...] = ()  # spans of %% comments %%, delimiters included
    plain_from: int | None = None  # where a text with too many blocks and links begins to be read as one block

    def block_text(self, block: Block) -> str:
        """The text of one of this note's blocks."""
        return self.text[block.start : block.end]
