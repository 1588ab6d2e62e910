"""Documents as trees, without a model: Markdown by its headings, plain text by its paragraphs and sentences.

Every text of a node is a piece of the document as it is written there; serialising the tree gives a document with every
word, in the order of the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from infold.docmem.drafts import Draft, shortened
from infold.docmem.node import Context
from infold.vault.front_matter import BOM
from infold.vault.note import parse
from infold.vault.records import BlockKind

# A sentence ends at its sign, with the quotes and brackets that close it, before white space and a capital; an initial
# and the commonest abbreviations end none.
_SHORT: Final = "".join(rf"(?<!\b{word}\.)" for word in ("[A-Z]", "Dr", "Mr", "Mrs", "Ms", "Prof", "St", "vs", "etc"))
_SENTENCE_END: Final = re.compile(
    rf"(?<=[.!?…]){_SHORT}[\"'”’)\]*_]*(?=\s+[\"'“‘(\[*_]*[^\sa-z])|(?<=[。！？])[」』”’）]*"
)
_LINE_END: Final = re.compile(r"\r\n?")


def markdown_draft(text: str, name: str, top: str = "root") -> Draft:
    """A Markdown text by its headings: each is a `section` with what is below it, blocks are memories.

    A block's context is memory:KIND:LINES, so `memory:paragraph:L12` or `memory:list_item:L14-16`. Front matter
    becomes the first node. All of it is readonly (spec 2, Import).
    """
    note = parse(name, text)
    draft = Draft(Context(top, "markdown", shortened(name)), is_readonly=True)
    levels = {heading.line: heading for heading in note.headings}
    above: list[tuple[int, Draft]] = [(0, draft)]
    for block in note.blocks:
        written = note.block_text(block).removeprefix(BOM)
        heading = levels.get(block.line) if block.kind is BlockKind.HEADING else None
        if heading is not None:
            while above[-1][0] >= heading.level:
                above.pop()
            section = above[-1][1].add(Context("section", f"h{heading.level}", shortened(heading.title)), written)
            above.append((heading.level, section))
        elif block.kind is BlockKind.FRONT_MATTER:
            draft.add(Context("metadata", "front_matter", "yaml"), written)
        else:
            above[-1][1].add(Context("memory", str(block.kind), _lines(block.line, block.end_line)), written)
    return draft


def text_draft(text: str, name: str, top: str = "root") -> Draft:
    """A plain text by its paragraphs, which blank lines set apart, and their sentences.

    A paragraph of several sentences is a node without text over them, one of a single sentence a memory. All of it is
    readonly (spec 2, Import).
    """
    draft = Draft(Context(top, "text", shortened(name)), is_readonly=True)
    for first, lines in _paragraphs(_LINE_END.sub("\n", text.removeprefix(BOM)).split("\n")):
        pieces = list(_sentences(first, "\n".join(lines)))
        if len(pieces) == 1:
            draft.add(Context("memory", "paragraph", _lines(first, first + len(lines) - 1)), pieces[0][1])
            continue
        above = draft.add(Context("paragraph", "sentences", _lines(first, first + len(lines) - 1)))
        for line, sentence in pieces:
            above.add(Context("memory", "sentence", _lines(line, line + sentence.count("\n"))), sentence)
    return draft


def _paragraphs(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines in a row that are not blank, and the number of the first."""
    numbered = enumerate(lines, start=1)
    for is_text, group in groupby(numbered, key=lambda entry: bool(entry[1].strip())):
        if is_text:
            found = list(group)
            yield found[0][0], [line for _, line in found]


def _sentences(line: int, paragraph: str) -> Iterator[tuple[int, str]]:
    """The sentences as written, and the line on which each begins."""
    start = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(paragraph)), len(paragraph)):
        piece = paragraph[start:end]
        if piece.strip():
            line += piece[: len(piece) - len(piece.lstrip())].count("\n")
            yield line, piece.strip()
            line += piece.lstrip().count("\n")
            start = end


def _lines(first: int, last: int) -> str:
    return f"L{first}" if first == last else f"L{first}-{last}"
