"""The inbox as numbered paragraphs (spec 1, Phase 1).

A paragraph is what a blank line sets apart: prose, a list, a quote, a code block, a table. A list of whole sentences is
several thoughts and counts item by item; a line that announces what follows ("Ingredients:") stays with it. Front
matter, headings, rules and comments are the inbox's own frame: they carry no paragraph and stay where they are.
Taking paragraphs out of the text again belongs to `inbox.inbox_text`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from infold.librarian.answers import Paragraph
from infold.text import word_count
from infold.vault.note import parse
from infold.vault.records import Block, BlockKind, Note

_FRAME: Final = {BlockKind.FRONT_MATTER, BlockKind.HEADING, BlockKind.RULE, BlockKind.COMMENT}
_ATTACHED: Final = {BlockKind.LIST_ITEM, BlockKind.CODE, BlockKind.TABLE, BlockKind.QUOTE}
_ITEM_OF_ITS_OWN_WORDS: Final = 8


@dataclass(frozen=True, slots=True)
class InboxParagraph:
    """A numbered paragraph and where it stands: `inbox_text[start:end]` is its text."""

    paragraph: Paragraph
    start: int
    end: int


@dataclass(slots=True)
class _Run:
    blocks: list[Block]

    @property
    def kind(self) -> BlockKind:
        return self.blocks[0].kind


def number_paragraphs(text: str, path: str = "inbox.md") -> tuple[InboxParagraph, ...]:
    """The paragraphs of an inbox text, numbered from 1 in their order. Pure."""
    note = parse(path, text)
    return tuple(
        InboxParagraph(Paragraph(n, text[start:end], trail), start, end)
        for n, (start, end, trail) in enumerate(_spans(note), start=1)
    )


def _spans(note: Note) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    for run in _runs(note):
        if run.kind is BlockKind.LIST_ITEM and _is_list_of_thoughts(run, note):
            pieces = [[block] for block in run.blocks]
        else:
            pieces = [run.blocks]
        for blocks in pieces:
            start, end = blocks[0].start, blocks[-1].end
            if note.text[start:end].strip():
                yield start, end, _trail_below_title(blocks[0], note)


def _runs(note: Note) -> Iterator[_Run]:
    """Blocks that belong to one paragraph, in order; the frame parts them."""
    run: _Run | None = None
    for block in note.blocks:
        if block.kind in _FRAME:
            if run:
                yield run
            run = None
        elif run and _continues(run, block, note):
            run.blocks.append(block)
        else:
            if run:
                yield run
            run = _Run([block])
    if run:
        yield run


def _continues(run: _Run, block: Block, note: Note) -> bool:
    last = run.blocks[-1]
    if block.kind is BlockKind.LIST_ITEM and last.kind is BlockKind.LIST_ITEM:
        return True
    if block.kind is BlockKind.FOOTNOTE:
        return True
    between = note.text[last.end : block.start].replace("\r\n", "\n").replace("\r", "\n")
    touches = between.count("\n") < 2
    announces = note.block_text(last).rstrip().endswith((":", "："))
    return touches or (last.kind is BlockKind.PARAGRAPH and announces and block.kind in _ATTACHED)


def _is_list_of_thoughts(run: _Run, note: Note) -> bool:
    """Whether each item is a sentence of its own, so that each may belong elsewhere. A numbered list is a sequence."""
    texts = [note.block_text(block).lstrip() for block in run.blocks]
    return (
        len(texts) > 1
        and all(block.kind is BlockKind.LIST_ITEM for block in run.blocks)
        and not any(text[:1].isdigit() for text in texts)
        and all(word_count(text) >= _ITEM_OF_ITS_OWN_WORDS for text in texts)
    )


def _trail_below_title(block: Block, note: Note) -> tuple[str, ...]:
    """The headings above the block, without the inbox's own title."""
    first = note.headings[0] if note.headings else None
    if first and first.level == 1 and block.trail[:1] == (first.title,):
        return block.trail[1:]
    return block.trail
