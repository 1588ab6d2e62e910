"""Documents as trees, without a model: Markdown by its headings, plain text by its paragraphs and sentences.

Every text of a node is a piece of the document as it is written there; serialising the tree gives a document with every
word, in the order of the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, groupby
from operator import itemgetter
from typing import Final

from infold.docmem.node import Context
from infold.docmem.tree_builder import TreeDraft, shortened
from infold.vault.lines import BOM
from infold.vault.note import parse
from infold.vault.records import BlockKind

# A sentence ends at its sign, with the quotes and brackets that close it, before white space and a capital; an initial
# and the commonest abbreviations end none.
_SHORT: Final = "".join(rf"(?<!\b{word}\.)" for word in ("[A-Z]", "Dr", "Mr", "Mrs", "Ms", "Prof", "St", "vs", "etc"))
_SENTENCE_END: Final = re.compile(
    rf"(?<=[.!?…]){_SHORT}[\"'”’)\]*_]*(?=\s+[\"'“‘(\[*_]*[^\sa-z])|(?<=[。！？])[」』”’）]*"
)
_WHOLE: Final = re.compile(
    r"`[^`]*`|\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^)]{0,2000}\)|<[^<>]*>|\$[^$]*\$|%%.*?%%|==.*?==", re.DOTALL
)
_LINE_END: Final = re.compile(r"\r\n?")


def markdown_draft(text: str, name: str, top: str = "root") -> TreeDraft:
    """A Markdown text by its headings: each is a `section` with what is below it, blocks are memories.

    A block's context is memory:KIND:LINES, so `memory:paragraph:L12` or `memory:list_item:L14-16`; nested items are
    below theirs, the sentences of a paragraph below a node without text. Front matter becomes the first node. All of it
    is readonly (spec 2, Import).
    """
    note = parse(name, text)
    draft = TreeDraft(Context(top, "markdown", shortened(name)), is_readonly=True)
    levels = {heading.line: heading for heading in note.headings}
    above: list[tuple[int, TreeDraft]] = [(0, draft)]
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
        elif block.kind is BlockKind.LIST_ITEM:
            _add_item(above[-1][1], block.line, written)
        elif block.kind is BlockKind.PARAGRAPH:
            _add_paragraph(above[-1][1], block.line, written)
        else:
            above[-1][1].add(Context("memory", str(block.kind), _lines(block.line, block.end_line)), written)
    return draft


def text_draft(text: str, name: str, top: str = "root") -> TreeDraft:
    """A plain text by its paragraphs, which blank lines set apart, and their sentences.

    A paragraph of several sentences is a node without text over them, one of a single sentence a memory. All of it is
    readonly (spec 2, Import).
    """
    draft = TreeDraft(Context(top, "text", shortened(name)), is_readonly=True)
    for first, lines in _paragraphs(_LINE_END.sub("\n", text.removeprefix(BOM)).split("\n")):
        _add_paragraph(draft, first, "\n".join(lines))
    return draft


def _add_paragraph(above: TreeDraft, first: int, paragraph: str) -> None:
    """A memory a sentence, below a node without text where there are several."""
    lines = _lines(first, first + _count_lines(paragraph) - 1)
    pieces = list(_sentences(first, paragraph))
    if len(pieces) == 1:
        above.add(Context("memory", "paragraph", lines), paragraph.strip())
        return
    over = above.add(Context("paragraph", "sentences", lines))
    for line, sentence in pieces:
        over.add(Context("memory", "sentence", _lines(line, line + _count_lines(sentence) - 1)), sentence)


def _add_item(above: TreeDraft, first: int, item: str) -> None:
    """A list item, and below it those that are nested in it; what it goes on to say after them is a memory as well."""
    lines = re.findall(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", item)
    made: dict[tuple[int, ...], TreeDraft] = {}
    for items, numbered in groupby(zip(_items_of(item, len(lines)), count(first), lines), key=itemgetter(0)):
        found = list(numbered)
        while found and not found[-1][2].strip():
            found.pop()
        if not found:
            continue
        over = next((made[items[:depth]] for depth in range(len(items), -1, -1) if items[:depth] in made), above)
        kind = "paragraph" if items in made else "list_item"
        text = "".join(line for _, _, line in found).rstrip("\r\n")
        node = over.add(Context("memory", kind, _lines(found[0][1], found[-1][1])), text)
        made.setdefault(items, node)


def _items_of(item: str, count: int) -> list[tuple[int, ...]]:
    """Of each line the items that it is in, the outermost first; numbers tell them apart."""
    from markdown_it import MarkdownIt  # takes a while to load, and only lists need it

    within: list[tuple[int, ...]] = [()] * count
    for number, token in enumerate(MarkdownIt("commonmark").parse(item)):
        if token.type == "list_item_open" and token.map is not None:
            for line in range(token.map[0], min(token.map[1], count)):
                within[line] = (*within[line], number)
    return within


def _paragraphs(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines in a row that are not blank, and the number of the first."""
    numbered = enumerate(lines, start=1)
    for is_text, group in groupby(numbered, key=lambda entry: bool(entry[1].strip())):
        if is_text:
            found = list(group)
            yield found[0][0], [line for _, line in found]


def _sentences(line: int, paragraph: str) -> Iterator[tuple[int, str]]:
    """The sentences as written, and the line on which each begins. Code, links and formulas are not cut."""
    whole = [match.span() for match in _WHOLE.finditer(paragraph)]
    ends = (match.end() for match in _SENTENCE_END.finditer(paragraph))
    start = 0
    for end in (*(end for end in ends if not any(a < end < b for a, b in whole)), len(paragraph)):
        piece = paragraph[start:end]
        if piece.strip():
            line += _count_lines(piece[: len(piece) - len(piece.lstrip())]) - 1
            yield line, piece.strip()
            line += _count_lines(piece.lstrip()) - 1
            start = end


def _lines(first: int, last: int) -> str:
    return f"L{first}" if first == last else f"L{first}-{last}"


def _count_lines(text: str) -> int:
    return 1 + len(re.findall(r"\r\n?|\n", text))
