"""The inbox as numbered paragraphs (spec 1, Phase 1).

A paragraph is what a blank line sets apart: prose, a quote, a code block, a table. Each item of a list is a thought of
its own, with all that is nested in it; a numbered list is a sequence and stays whole. A line that leads in what follows
("Ingredients:", or prose that runs into a list) is one with it. Front matter, headings, rules and comments are the
inbox's own frame: they carry no paragraph and stay where they are.
Taking paragraphs out of the text again belongs to `inbox.inbox_text`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from infold.librarian.answers import Paragraph
from infold.vault.files import decode, read_bytes
from infold.vault.note import parse
from infold.vault.records import Block, BlockKind, Note
from infold.vault.structure import is_numbered, leads_in, list_style, touches
from infold.workspace import Workspace

_FRAME: Final = {BlockKind.FRONT_MATTER, BlockKind.HEADING, BlockKind.RULE, BlockKind.COMMENT}


@dataclass(frozen=True, slots=True)
class InboxParagraph:
    """A numbered paragraph and where it stands: `inbox_text[start:end]` is its text."""

    paragraph: Paragraph
    start: int
    end: int


def number_paragraphs(text: str, path: str = "inbox.md") -> tuple[InboxParagraph, ...]:
    """The paragraphs of an inbox text, numbered from 1 in their order. Pure."""
    note = parse(path, text)
    return tuple(
        InboxParagraph(Paragraph(n, text[start:end], trail), start, end)
        for n, (start, end, trail) in enumerate(_spans(note), start=1)
    )


def read_paragraphs(workspace: Workspace) -> list[Paragraph] | None:
    """The paragraphs that wait in the inbox; None where there is no inbox. Raises NoteUnreadable."""
    inbox = workspace.inbox
    if not inbox.exists():
        return None
    data = read_bytes(inbox.parent, inbox.name, workspace.params.vault.max_note_bytes)
    return [entry.paragraph for entry in number_paragraphs(decode(data, inbox.name), inbox.name)]


def _spans(note: Note) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    for run in _runs(note):
        start, end = run[0].start, run[-1].end
        if note.text[start:end].strip():
            yield start, end, _trail_below_title(run[0], note)


def _runs(note: Note) -> Iterator[list[Block]]:
    """Blocks that make one paragraph, in order; the frame parts them."""
    run: list[Block] = []
    for block in note.blocks:
        if run and (block.kind in _FRAME or not _continues(run, block, note)):
            yield run
            run = []
        if block.kind not in _FRAME:
            run.append(block)
    if run:
        yield run


def _continues(run: list[Block], block: Block, note: Note) -> bool:
    """Whether `block` belongs to the paragraph that `run` has begun."""
    last = run[-1]
    if block.kind is BlockKind.FOOTNOTE:
        return True
    if last.kind is BlockKind.LIST_ITEM and block.kind is BlockKind.LIST_ITEM:
        style = list_style(note, block)
        return style == list_style(note, last) and (is_numbered(style) or run[0].kind is not BlockKind.LIST_ITEM)
    return touches(last, block) or leads_in(note, last, block)


def _trail_below_title(block: Block, note: Note) -> tuple[str, ...]:
    """The headings above the block, without the inbox's own title."""
    first = note.headings[0] if note.headings else None
    if first and first.level == 1 and block.trail[:1] == (first.title,):
        return block.trail[1:]
    return block.trail
