"""What else than prose can be cut out of a note: short jottings, items of lists, lists with their lead-in.

Pure. Which of them a case takes belongs to `evaluation.cases`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from infold.inbox.paragraphs import number_paragraphs
from infold.text import collapse_spaces, word_count
from infold.vault.records import Block, BlockKind, Note
from infold.vault.structure import announces, is_numbered, leads_in, list_style

FormKind = Literal["short", "item", "list"]

_SHORT_WORDS: Final = (6, 24)
_ITEM_WORDS: Final = 5
_LEAST_ITEMS: Final = 3
_LIST_WORDS: Final = (8, 180)
_LEAST_NOTE_WORDS: Final = 60
_NO_PROSE: Final = ("!", "<", "|", "%%", "[^", ":::", "#")
_LINK: Final = re.compile(r"\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)|https?://\S+")
_LINE_ENDS: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Form:
    """A stretch of a note that can be cut out: `note.text[start:end]`, whole blocks."""

    kind: FormKind
    path: str
    start: int
    end: int
    trail: tuple[str, ...]


def draw_forms(notes: Mapping[str, Note], draw: random.Random, count: int) -> list[Form]:
    """`count` of each kind, each out of another note; fewer where the vault has not so many. Lists come last."""
    drawn: list[Form] = []
    used: set[str] = set()
    for kind in ("short", "item", "list"):
        pool = [form for path in sorted(notes) for form in forms_of(notes[path]) if form.kind == kind]
        draw.shuffle(pool)
        for form in pool:
            if form.path not in used and sum(one.kind == kind for one in drawn) < count:
                used.add(form.path)
                drawn.append(form)
    return drawn


def forms_of(note: Note) -> Iterator[Form]:
    """All that can be cut out of a note, in order; each is one paragraph of an inbox."""
    if word_count(note.text) < _LEAST_NOTE_WORDS:
        return
    blocks = note.blocks
    for at, block in enumerate(blocks):
        after = blocks[at + 1] if at + 1 < len(blocks) else None
        text = note.block_text(block)
        if block.kind is not BlockKind.PARAGRAPH or text.lstrip().startswith(_NO_PROSE):
            continue
        if after is not None and after.kind is BlockKind.LIST_ITEM and leads_in(note, block, after):
            last = _list_from(note, at + 1)[-1]
            yield from _if_one("list", note, block, last, _LIST_WORDS)
        elif not announces(text):
            yield from _if_one("short", note, block, block, _SHORT_WORDS)
    for items in _bullets(note):
        if len(items) >= _LEAST_ITEMS:
            for item in items:
                if word_count(_LINK.sub("", note.block_text(item))) >= _ITEM_WORDS:
                    yield from _if_one("item", note, item, item, (_ITEM_WORDS, _LIST_WORDS[1]))


def without(text: str, start: int, end: int) -> str:
    """`text` without that stretch; of the white space around it the part with more line ends stays."""
    head, tail = text[:start].rstrip(" \t\r\n"), text[end:].lstrip(" \t\r\n")
    above, below = text[len(head) : start], text[end : len(text) - len(tail)]
    if not tail:
        return head + (below or "")
    if not head:
        return tail
    return head + max(above, below, key=lambda gap: len(_LINE_ENDS.findall(gap))) + tail


def _list_from(note: Note, at: int) -> Sequence[Block]:
    style = list_style(note, note.blocks[at])
    items = []
    for block in note.blocks[at:]:
        if block.kind is not BlockKind.LIST_ITEM or list_style(note, block) != style:
            break
        items.append(block)
    return items


def _bullets(note: Note) -> Iterator[list[Block]]:
    def kind(block: Block) -> str:
        return list_style(note, block) if block.kind is BlockKind.LIST_ITEM else ""

    for style, run in groupby(note.blocks, key=kind):
        if style and not is_numbered(style):
            yield list(run)


def _if_one(kind: FormKind, note: Note, first: Block, last: Block, words: tuple[int, int]) -> Iterator[Form]:
    text = note.text[first.start : last.end]
    numbered = number_paragraphs(text)
    is_one = len(numbered) == 1 and collapse_spaces(numbered[0].paragraph.text) == collapse_spaces(text)
    if is_one and words[0] <= word_count(text) <= words[1] and note.text.count(text) == 1:
        yield Form(kind, note.path, first.start, last.end, first.trail)
