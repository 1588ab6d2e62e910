"""What belongs together in a note and is not parted: lead-ins, lists, steps, callouts, and the note's beginning.

Pure text in, problems out. What must stay byte for byte belongs to `vault.protect`, where text goes to whoever edits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from infold.errors import StructureBroken
from infold.text import folded_words
from infold.vault.note import parse
from infold.vault.records import Block, BlockKind, Note
from infold.vault.splices import Moved, Splice, spliced

if TYPE_CHECKING:
    from infold.vault.edits import LocatedEdit

SHOWN: Final = frozenset((BlockKind.LIST_ITEM, BlockKind.CODE, BlockKind.TABLE))
_NEVER_ALONE: Final = frozenset((BlockKind.CODE, BlockKind.TABLE))
_LED_TO: Final = SHOWN | {BlockKind.QUOTE, BlockKind.HTML}
_LEADING: Final = frozenset((BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE))
_SWALLOWED: Final = frozenset((BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE))
_TEXT: Final = _SWALLOWED | SHOWN
_MARKER: Final = re.compile(r"[ \t]*(?:([-*+])|(\d{1,9})([.)]))(?=\s|\Z)")
_EMPHASIS: Final = "*_~= \t\r\n"
_NO_PROSE: Final = ("!", "|", "`", "~", ">", "<")
_FIGURE: Final = re.compile(r"(?:\s*!(?:\[\[[^\]\n]+\]\]|\[[^\]\n]*\]\([^()\n]*\)))+\s*|\s*\$\$.*\$\$\s*", re.DOTALL)
_OPENING_WORDS: Final = 6  # beside the words of the title
_LEAST_STEM: Final = 4


@dataclass(frozen=True, slots=True)
class StructureProblem:
    """Something of a note that an edit parts: at which line, in words."""

    line: int
    what: str
    hint: str


def check_structure(text: str, changes: Sequence[LocatedEdit]) -> None:
    """Refuses changes of a note that part what belongs together, or that stand above its first sentence.

    Raises StructureBroken, naming what is parted by its line.
    """
    for problem in structure_problems(text, [splice for change in changes for splice in change.splices]):
        raise StructureBroken(f"the edit {problem.what} at line {problem.line}", hint=problem.hint)


def structure_problems(text: str, splices: Sequence[Splice]) -> Iterator[StructureProblem]:
    """All that these splices, which do not overlap, part in `text`."""
    adding = [splice for splice in splices if splice.text.strip()]
    if adding:
        edited = _Edited(parse("", text), parse("", spliced(text, splices)), Moved(splices))
        yield from edited.parted(adding)
        yield from edited.split(adding)
        yield from edited.above_the_beginning(adding)


def list_style(note: Note, item: Block) -> str:
    """How a list marks its items: `-`, `*`, `+`, or `1.` and `1)` for numbers. Items of one list have one style."""
    return style_of(note.text, item.start)


def style_of(text: str, start: int = 0) -> str:
    """The style of the list item that begins at `start`; '' where none does."""
    found = _MARKER.match(text, start)
    return "" if found is None else found[1] or f"1{found[3]}"


def restyled(item: str, style: str, indent: str) -> str:
    """An item of a bulleted list, with its nested lines, as an item of another one: its marker, its indent."""
    found = _MARKER.match(item)
    if found is None or found[1] is None or is_numbered(style):
        return item
    own = item[: found.start(1)]
    lines = [line.removeprefix(own) for line in f"{own}{style}{item[found.end(1) :]}".splitlines(keepends=True)]
    return "".join(indent + line if line.strip() else line for line in lines)


def is_numbered(style: str) -> bool:
    """Whether a list of this style is a sequence of steps."""
    return style.startswith("1")


def announces(text: str) -> bool:
    """Whether a text ends with a colon: what it announces follows."""
    return text.rstrip(_EMPHASIS).endswith((":", "："))


def is_figure(text: str) -> bool:
    """Whether a paragraph is nothing but images, embedded notes, or a formula of its own."""
    return _FIGURE.fullmatch(text) is not None


def leads_in(note: Note, first: Block, second: Block) -> bool:
    """Whether `first`, right above `second`, announces it: by a colon, or as prose that runs into a list."""
    if first.kind in _LEADING and second.kind is BlockKind.PARAGRAPH and is_figure(note.block_text(second)):
        return announces(note.block_text(first))
    if first.kind not in _LEADING or second.kind not in _LED_TO or (first.kind is second.kind):
        return False
    return (first.kind is BlockKind.PARAGRAPH and touches(first, second)) or announces(note.block_text(first))


def touches(first: Block, second: Block) -> bool:
    """Whether no line is left between two blocks that follow each other."""
    return second.line - first.end_line < 2


def belong_together(note: Note, first: Block, second: Block) -> bool:
    """Whether nothing else should come between two blocks that follow each other.

    So it is with items of one list, with a lead-in and what it leads to, and with prose right above code or a table.
    """
    if first.kind is second.kind is BlockKind.LIST_ITEM:
        return list_style(note, first) == list_style(note, second)
    return leads_in(note, first, second) or (first.kind is BlockKind.PARAGRAPH and second.kind in _NEVER_ALONE)


def beginning(note: Note) -> Block | None:
    """The paragraph a note begins with, below its front matter and title; None where it begins otherwise."""
    is_titled = False
    for block in note.blocks:
        if block.kind is BlockKind.HEADING:
            if is_titled or not _is_title(note, block):
                return None
            is_titled = True
        elif block.kind in _TEXT or block.kind is BlockKind.HTML:
            return block if block.kind is BlockKind.PARAGRAPH else None
    return None


def opens_note(title: str, text: str) -> bool:
    """Whether `text` reads as the beginning of a note: prose that comes to all words of the title at once."""
    if style_of(text) or text.lstrip().startswith(_NO_PROSE):
        return False
    wanted = folded_words(title)
    first = folded_words(text)[: len(wanted) + _OPENING_WORDS]
    return bool(wanted) and all(any(_alike(word, other) for other in first) for word in wanted)


def may_open(note: Note, text: str) -> bool:
    """Whether `text` may stand above a note's first paragraph: it reads as its beginning, which that one does not."""
    lead = beginning(note)
    return lead is None or (opens_note(note.title, text) and not opens_note(note.title, note.block_text(lead)))


class _Edited:
    """A note before and after its splices."""

    def __init__(self, before: Note, after: Note, moved: Moved) -> None:
        self._before, self._after, self._moved = before, after, moved
        self._starts = [block.start for block in after.blocks]

    def parted(self, adding: Sequence[Splice]) -> Iterator[StructureProblem]:
        """Neighbours that something else stands between now, or that were taken into something else."""
        for first, second in pairwise(self._before.blocks):
            if any(first.end <= splice.start and splice.end <= second.start for splice in adding):
                above, below = self._now_at(first.end - 1, at_end=True), self._now_at(second.start)
                what = self._between(first, second, above, below)
                if what:
                    yield StructureProblem(second.line, *what)

    def split(self, adding: Sequence[Splice]) -> Iterator[StructureProblem]:
        """Callouts and items of lists that were one and are not any more."""
        for block in self._before.blocks:
            if block.kind not in (BlockKind.QUOTE, BlockKind.LIST_ITEM):
                continue
            if any(block.start < splice.start < block.end for splice in adding):
                first, last = self._now_at(block.start), self._now_at(block.end - 1, at_end=True)
                if first != last or self._after.blocks[first].kind is not block.kind:
                    what = "callout or quote" if block.kind is BlockKind.QUOTE else "item of a list"
                    hint = "Put new text above or below it, or mark each new line as part of it."
                    yield StructureProblem(block.line, f"splits the {what}", hint)

    def above_the_beginning(self, adding: Sequence[Splice]) -> Iterator[StructureProblem]:
        """New text above the note's first sentence that does not read as a beginning."""
        lead = beginning(self._before)
        if lead is None or not any(splice.end <= lead.start for splice in adding):
            return
        new = [block for block in self._after.blocks[: self._now_at(lead.start)] if block.kind in _TEXT]
        if new and not may_open(self._before, self._after.block_text(new[0])):
            hint = "Put it below that paragraph, which only text that says what the note is about may stand above."
            yield StructureProblem(lead.line, "stands above the note's first sentence", hint)

    def _between(self, first: Block, second: Block, above: int, below: int) -> tuple[str, str] | None:
        """What is wrong with the text that is new between two neighbours."""
        blocks = self._after.blocks
        if blocks[below].kind is not second.kind and second.kind in _SWALLOWED:
            return "takes in the text below it", "Leave a blank line between the new text and that text."
        new = blocks[above + 1 : below]
        if not new or not belong_together(self._before, first, second) or self._joins(first, second, new):
            return None
        if first.kind is BlockKind.LIST_ITEM is second.kind:
            style = list_style(self._before, first)
            if is_numbered(style):
                return "parts the steps of a numbered list", "Put the new text above or below all of its steps."
            return "parts a list", f"Add it as an item of that list, with {style}, or put it above or below the list."
        what = second.kind.value.replace("list_item", "list").replace("paragraph", "figure").replace("_", " ")
        return f"parts the {what} from the text that leads to it", f"Put it above that text, or below the {what}."

    def _joins(self, first: Block, second: Block, new: Sequence[Block]) -> bool:
        """Whether what is new goes on in the list, as items of its own style and the numbers that come next."""
        after = self._after
        if second.kind is BlockKind.LIST_ITEM:
            style = list_style(self._before, second)
            if all(block.kind is BlockKind.LIST_ITEM and list_style(after, block) == style for block in new):
                if not is_numbered(style):
                    return True
                numbers = [_number(self._before, first), *(_number(after, block) for block in new)]
                return first.kind is BlockKind.LIST_ITEM and all(b == a + 1 for a, b in pairwise(numbers))
        is_led = leads_in(self._before, first, second) or first.kind is BlockKind.LIST_ITEM
        return not is_led and announces(after.block_text(new[-1]))

    def _now_at(self, offset: int, *, at_end: bool = False) -> int:
        """The position of the block, after the splices, that holds what stood at `offset`."""
        now = self._moved.end(offset + 1) - 1 if at_end else self._moved.start(offset)
        return max(0, bisect_right(self._starts, now) - 1)


def _is_title(note: Note, heading: Block) -> bool:
    return note.headings[0].level == 1 and note.headings[0].line == heading.line


def _number(note: Note, item: Block) -> int:
    found = _MARKER.match(note.text, item.start)
    return int(found[2]) if found and found[2] else 0


def _alike(one: str, other: str) -> bool:
    """Whether two words are the same but for their endings."""
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one == other or shared >= max(_LEAST_STEM, max(len(one), len(other)) - 3)
