"""A note as nested nodes: article, sections by heading level, paragraphs (spec 5, Parsing strategy).

Pure functions over a parsed note. Summaries belong to `navigator.contextual`, what is stored to `navigator.store`.

An id is made of the id above it, the node's own words (a heading's title, a paragraph's text) and its place among
equals there: an edit elsewhere changes no id, and a section keeps its own whatever happens within it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Final

from infold.text import collapse_spaces, content_hash
from infold.vault.lines import BOM
from infold.vault.names import stem
from infold.vault.records import Block, BlockKind, Heading, Note

_NAMESPACE: Final = "6f0d5c1e-2b0a-5d7e-9d57-1f6b5f2c8a11"
_UNSAID: Final = frozenset(  # blocks that say nothing of their own; the article's text has them
    (BlockKind.FRONT_MATTER, BlockKind.HEADING, BlockKind.RULE, BlockKind.COMMENT, BlockKind.DEFINITION)
)


class NodeType(StrEnum):
    """The levels, from the broadest to the finest."""

    ARTICLE = "article"
    SECTION = "section"
    PARAGRAPH = "paragraph"


@dataclass(frozen=True)
class NoteNode:
    """A part of a note. `text` is the note's own text of it, children included; `trail` the titles above it.

    `start` and `end` are characters of the file's text, `line` and `end_line` count from 1. `ordinal` is the place
    among all nodes of the note in reading order, 0 the article.
    """

    id: str
    parent_id: str | None
    type: NodeType
    path: str
    title: str  # an article's or section's; '' for a paragraph
    trail: tuple[str, ...]
    text: str
    start: int
    end: int
    line: int
    end_line: int
    level: int  # of the heading; 0 for the article and for paragraphs
    ordinal: int

    @cached_property
    def content_hash(self) -> str:
        """The identity of the text."""
        return content_hash(self.text)

    @cached_property
    def context_hash(self) -> str:
        """What a contextual summary is kept under: the text and the titles above it, and no path.

        A renamed note keeps its summaries, also where its title is only its name; an equal paragraph below other titles
        has its own.
        """
        titles = [*self.trail, self.title]
        if titles[0] == stem(self.path):
            titles[0] = ""
        return content_hash("\0".join((self.type, *titles, self.text)))


@dataclass(slots=True)
class _Open:
    """A node whose end is not known yet."""

    id: str
    parent_id: str | None
    title: str
    trail: tuple[str, ...]
    start: int
    line: int
    level: int
    ordinal: int


def article_nodes(note: Note) -> tuple[NoteNode, ...]:
    """The nodes of `note` in reading order, the article first; each after its parent.

    A heading opens a section below the nearest heading of a lower level, so skipped levels nest too. The blocks of a
    section that stand above its first sub-heading are its paragraphs as much as those of a leaf (spec 5 splits leaves
    and leaves that open). Neighbouring items of a list are one paragraph.
    """
    return tuple(_Builder(note).build())


class _Builder:
    def __init__(self, note: Note) -> None:
        self._note = note
        text = note.text
        start = note.front_matter.end if note.front_matter is not None else 0
        if start == 0 and text.startswith(BOM):
            start = 1
        while start < len(text) and text[start].isspace():
            start += 1
        self._end = len(text.rstrip()) if text[start:].strip() else start
        self._last_line = note.blocks[-1].end_line if note.blocks else 1
        self._equals: Counter[tuple[str, str, str]] = Counter()
        first = next((block for block in note.blocks if block.kind is not BlockKind.FRONT_MATTER), None)
        article = _derived(_NAMESPACE, note.path)
        self._stack = [_Open(article, None, note.title, (), start, first.line if first else 1, 0, 0)]
        self._found: list[NoteNode | None] = [None]

    def build(self) -> Iterator[NoteNode]:
        headings = {heading.line: heading for heading in self._note.headings}
        for first, last in _paragraph_runs(self._note.blocks):
            heading = headings.get(first.line) if first.kind is BlockKind.HEADING else None
            if heading is not None:
                self._open(heading)
            elif first.kind not in _UNSAID:
                self._add(first, last)
        while self._stack:
            self._close(self._end, self._last_line)
        yield from (node for node in self._found if node is not None)

    def _open(self, heading: Heading) -> None:
        while self._stack[-1].level >= heading.level:
            self._close(heading.start, heading.line - 1)
        above = self._stack[-1]
        trail = (*above.trail, above.title)
        title = collapse_spaces(heading.title)
        new = self._new_id(above.id, NodeType.SECTION, title)
        self._stack.append(
            _Open(new, above.id, title, trail, heading.start, heading.line, heading.level, len(self._found))
        )
        self._found.append(None)

    def _close(self, end: int, line: int) -> None:
        opened = self._stack.pop()
        kind = NodeType.SECTION if self._stack else NodeType.ARTICLE
        text = self._note.text[opened.start : end].rstrip()
        node = NoteNode(
            id=opened.id,
            parent_id=opened.parent_id,
            type=kind,
            path=self._note.path,
            title=opened.title,
            trail=opened.trail,
            text=text,
            start=opened.start,
            end=opened.start + len(text),
            line=opened.line,
            end_line=max(line, opened.line),
            level=opened.level,
            ordinal=opened.ordinal,
        )
        self._found[opened.ordinal] = node

    def _add(self, first: Block, last: Block) -> None:
        above = self._stack[-1]
        text = self._note.text[first.start : last.end].removeprefix(BOM)
        if not text.strip():
            return
        self._found.append(
            NoteNode(
                id=self._new_id(above.id, NodeType.PARAGRAPH, collapse_spaces(text)),
                parent_id=above.id,
                type=NodeType.PARAGRAPH,
                path=self._note.path,
                title="",
                trail=(*above.trail, above.title),
                text=text,
                start=last.end - len(self._note.text[first.start : last.end]),
                end=last.end,
                line=first.line,
                end_line=last.end_line,
                level=0,
                ordinal=len(self._found),
            )
        )

    def _new_id(self, parent: str, kind: NodeType, words: str) -> str:
        key = (parent, kind, words)
        self._equals[key] += 1
        return _derived(parent, f"{kind}\0{words}\0{self._equals[key]}")


def _derived(parent: str, name: str) -> str:
    """What `uuid.uuid5` gives, in a quarter of its time: an import makes thousands."""
    made = hashlib.sha1(bytes.fromhex(parent.replace("-", "")) + name.encode(), usedforsecurity=False).hexdigest()
    variant = f"{int(made[16:18], 16) & 0x3F | 0x80:02x}"
    return f"{made[:8]}-{made[8:12]}-5{made[13:16]}-{variant}{made[18:20]}-{made[20:32]}"


def _paragraph_runs(blocks: Sequence[Block]) -> Iterator[tuple[Block, Block]]:
    """Each block by itself, but neighbouring list items together: first and last."""
    if not blocks:
        return
    first = blocks[0]
    for before, block in pairwise(blocks):
        if not (before.kind is block.kind is BlockKind.LIST_ITEM):
            yield first, before
            first = block
    yield first, blocks[-1]
