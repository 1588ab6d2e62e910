"""Where in a note a paragraph reads on: the section it belongs under, and the piece it follows or precedes.

A place is an offset between two blocks, never inside one. Turning places into edits belongs to `inserting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.librarian.offline import weights
from infold.librarian.offline.reading import NoteFeatures, NoteSection, Piece, Query
from infold.vault.note import parse
from infold.vault.records import BlockKind
from infold.vault.structure import (
    SHOWN,
    beginning,
    belong_together,
    is_numbered,
    may_open,
    style_of,
    touches,
)

_ITEM: Final = BlockKind.LIST_ITEM
_MERGED: Final = 5.0  # what it costs to run into a list, which would make one of two
_LIST: Final = 4.0  # what a list is worth to an item, beside what `weights` says of its section

GAP_FIGURES: Final = (
    "nearer",  # how near the one piece beside it is that is nearer
    "shown_below",  # a section begins here, and not with prose: with a list, code, a table, a quote
    "announced",  # a list, code or a table stands below without a lead-in, and the paragraph announces
)


@dataclass(frozen=True, slots=True)
class InsertionPoint:
    """Between two blocks of a note: after the block that ends at `after`, before the one that starts at `before`.

    None for either where there is no such block. `joins`: the block that is the item of a list which the text joins.
    """

    after: int | None
    before: int | None
    joins: ListPlace | None = None


@dataclass(frozen=True, slots=True)
class ListPlace:
    """How the items of a list stand: their marker, their indent, and what parts one from the next."""

    style: str
    indent: str
    gap: str


def best_section(query: Query, reading: NoteFeatures, scores: npt.NDArray[np.float64]) -> int:
    """The section with the best score; never the one above the note's title, where that is empty.

    An item of a list looks for a list.
    """
    allowed = scores.copy()
    sections = reading.sections
    if query.signs.is_item:
        allowed += [_LIST * any(_may_join(query, piece) for piece in section.pieces) for section in sections]
    if len(sections) > 1 and not sections[0].pieces and sections[1].level == 1:
        allowed[0] = -np.inf
    return int(np.argmax(allowed))


def place_in(query: Query, reading: NoteFeatures, position: int, liking: Sequence[float]) -> InsertionPoint:
    """Where in section `position` of a note the paragraph reads on. `liking`: how near each piece of the note is."""
    section = reading.sections[position]
    pieces = section.pieces
    item = _item_to_follow(query, reading, position, liking)
    gap = item + 1 if item is not None else _gap(query, reading, position, liking)
    after = pieces[gap - 1].block.end if gap else _above(reading, position)
    before = pieces[gap].block.start if gap < len(pieces) else _below(reading, position)
    return InsertionPoint(after, before, None if item is None else _list_at(pieces, item))


def end_of(reading: NoteFeatures) -> InsertionPoint:
    """The end of a note."""
    blocks = reading.note.blocks
    return InsertionPoint(blocks[-1].end if blocks else None, None)


def _above(reading: NoteFeatures, position: int) -> int | None:
    heading = reading.sections[position].heading
    if heading is not None:
        return heading.end
    front = reading.note.front_matter
    return front.end if front and front.end > front.start else None


def _below(reading: NoteFeatures, position: int) -> int | None:
    following = reading.sections[position + 1 : position + 2]
    return following[0].heading.start if following and following[0].heading else None


def _own(likings: Sequence[float], reading: NoteFeatures, position: int) -> Sequence[float]:
    """The likings of one section's pieces."""
    first = sum(len(earlier.pieces) for earlier in reading.sections[:position])
    return likings[first : first + len(reading.sections[position].pieces)]


def _may_join(query: Query, piece: Piece) -> bool:
    """Whether a bullet may become an item of the list that `piece` stands in. Nothing joins numbered steps."""
    styles = style_of(query.text), style_of(piece.text)
    return piece.block.kind is _ITEM and all(style and not is_numbered(style) for style in styles)


def _item_to_follow(query: Query, reading: NoteFeatures, position: int, likings: Sequence[float]) -> int | None:
    """The position of the item after which a bullet joins its list; None for all other text."""
    pieces = reading.sections[position].pieces
    liking = _own(likings, reading, position)
    items = [i for i, piece in enumerate(pieces) if _may_join(query, piece)]
    return max(items, key=lambda i: (liking[i], i)) if items else None


def _list_at(pieces: Sequence[Piece], item: int) -> ListPlace:
    """How the list stands that the piece at `item` is in. It is a loose one where a line parts its items."""
    text = pieces[item].text
    style = style_of(text)
    beside = [
        (pieces[i].block, pieces[i + 1].block)
        for i in (item - 1, item)
        if 0 <= i < len(pieces) - 1 and style_of(pieces[i].text) == style == style_of(pieces[i + 1].text)
    ]
    is_loose = bool(beside) and not any(touches(*pair) for pair in beside)
    return ListPlace(style, text[: len(text) - len(text.lstrip())], "\n\n" if is_loose else "\n")


def _gap(query: Query, reading: NoteFeatures, position: int, likings: Sequence[float]) -> int:
    """How many of the section's pieces come before the paragraph."""
    pieces = reading.sections[position].pieces
    gaps, figures = open_gaps(query, reading, position, likings)
    if not gaps:
        return len(pieces)
    worth = figures @ weights.vector(weights.GAP, GAP_FIGURES)
    first, last = _styles_at_ends(query.text)
    for row, gap in enumerate(gaps):
        runs_on = gap and first and first == style_of(pieces[gap - 1].text)
        runs_into = gap < len(pieces) and last and last == style_of(pieces[gap].text)
        worth[row] -= _MERGED * bool(runs_on or runs_into)
    return gaps[max(range(len(gaps)), key=lambda row: (worth[row], row))]


def open_gaps(
    query: Query, reading: NoteFeatures, position: int, likings: Sequence[float]
) -> tuple[list[int], npt.NDArray[np.float64]]:
    """Where in section `position` the paragraph may stand, in pieces above it, and a row of GAP_FIGURES for each."""
    section = reading.sections[position]
    pieces = section.pieces
    many = len(pieces)
    may_open = not pieces or _may_open(query, reading, section)
    gaps = [gap for gap in range(many + 1) if (gap or may_open) and not _is_inside(gap, query, reading, section)]
    liking = _own(likings, reading, position)
    nearer = np.maximum([*liking, 0.0], [0.0, *liking])
    at = np.arange(many + 1)
    begins_shown = many > 0 and not section.begins_with_prose
    announced = np.isin(at, section.unannounced) & query.signs.announces
    return gaps, np.column_stack([nearer, (at == 0) & begins_shown, announced]).astype(np.float64)[gaps]


def _styles_at_ends(text: str) -> tuple[str, str]:
    """The styles of the lists that a paragraph begins and ends with; '' where it does not."""
    blocks = [block for block in parse("", text).blocks if block.kind is _ITEM]
    ends = [style_of(text, block.start) for block in blocks]
    if not ends:
        return "", ""
    return style_of(text), ends[-1] if blocks[-1].end >= len(text.rstrip()) else ""


def _may_open(query: Query, reading: NoteFeatures, section: NoteSection) -> bool:
    """Whether the paragraph may stand above the first piece: above a note's first sentence only its opening may."""
    lead = beginning(reading.note)
    return lead is None or section.pieces[0].block != lead or may_open(reading.note, query.text)


def _is_inside(gap: int, query: Query, reading: NoteFeatures, section: NoteSection) -> bool:
    """Whether something that belongs together would be parted, or text from the list, code or table right below it."""
    pieces = section.pieces
    if not 0 < gap < len(pieces):
        return False
    before, after = pieces[gap - 1].block, pieces[gap].block
    if belong_together(reading.note, before, after):
        return True
    return before.kind is BlockKind.PARAGRAPH and after.kind in SHOWN and not query.signs.announces
