"""Where in a note a paragraph reads on: the section it belongs under, and the piece it follows or precedes.

A place is an offset between two blocks, never inside one. Turning places into edits belongs to `inserting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.librarian.offline.reading import SHOWN, Query, Reading, Section, continues, opening
from infold.vault.records import BlockKind

_ITEM: Final = BlockKind.LIST_ITEM
_LIST: Final = 4.0  # what a list is worth to an item, beside what `weights` says of its section


@dataclass(frozen=True, slots=True)
class Place:
    """Between two blocks of a note: after the block that ends at `after`, before the one that starts at `before`.

    None for either where there is no such block. `is_item`: among the items of a list.
    """

    after: int | None
    before: int | None
    is_item: bool = False


def best_section(query: Query, reading: Reading, scores: npt.NDArray[np.float64]) -> int:
    """The section with the best score; never the one above the note's title, where that is empty.

    An item of a list looks for a list.
    """
    allowed = scores.copy()
    sections = reading.sections
    if query.signs.is_item:
        allowed += [_LIST * any(piece.block.kind is _ITEM for piece in section.pieces) for section in sections]
    if len(sections) > 1 and not sections[0].pieces and sections[1].level == 1:
        allowed[0] = -np.inf
    return int(np.argmax(allowed))


def place_in(query: Query, reading: Reading, position: int, liking: Sequence[float]) -> Place:
    """Where in section `position` of a note the paragraph reads on. `liking`: how near each piece of the note is."""
    section = reading.sections[position]
    gap, is_item = _gap(query, reading, position, liking)
    pieces = section.pieces
    after = pieces[gap - 1].block.end if gap else _above(reading, position)
    before = pieces[gap].block.start if gap < len(pieces) else _below(reading, position)
    return Place(after, before, is_item)


def end_of(reading: Reading) -> Place:
    """The end of a note."""
    blocks = reading.note.blocks
    return Place(blocks[-1].end if blocks else None, None)


def _above(reading: Reading, position: int) -> int | None:
    heading = reading.sections[position].heading
    if heading is not None:
        return heading.end
    front = reading.note.front_matter
    return front.end if front and front.end > front.start else None


def _below(reading: Reading, position: int) -> int | None:
    following = reading.sections[position + 1 : position + 2]
    return following[0].heading.start if following and following[0].heading else None


def _gap(query: Query, reading: Reading, position: int, likings: Sequence[float]) -> tuple[int, bool]:
    """How many of the section's pieces come before the paragraph, and whether it joins a list there."""
    section = reading.sections[position]
    pieces = section.pieces
    if not pieces:
        return 0, False
    first = sum(len(earlier.pieces) for earlier in reading.sections[:position])
    liking = likings[first : first + len(pieces)]
    kinds = [piece.block.kind for piece in pieces]
    if query.signs.is_item and _ITEM in kinds:
        items = [i for i, kind in enumerate(kinds) if kind is _ITEM]
        return max(items, key=lambda i: (liking[i], i)) + 1, True
    lonely = section.unannounced
    if query.signs.announces and lonely:
        return max(lonely, key=lambda i: (liking[i], -i)), False
    if _opens(query, reading, section, position):
        return 0, False
    gaps = [gap for gap in range(len(pieces) + 1) if not _is_inside(gap, section)]
    goes_on = continues(query.text)

    def worth(gap: int) -> float:
        before = float(liking[gap - 1]) if gap else 0.0
        after = float(liking[gap]) if gap < len(pieces) else 0.0
        best = max(before, 0.9 * after) + 0.3 * min(before, after)
        if gap == 0 and goes_on:
            best -= 0.5
        return best + 0.05 * (gap == len(pieces))

    return max(gaps, key=lambda gap: (worth(gap), gap)), False


def _opens(query: Query, reading: Reading, section: Section, position: int) -> bool:
    """Whether the paragraph reads as the note's first: it begins with the words of the title."""
    if position > 0 and section.level != 1:
        return False
    first = opening(query, max(3, len(reading.title_terms) + 1))
    return bool(reading.title_terms) and reading.title_terms.keys() <= first


def _is_inside(gap: int, section: Section) -> bool:
    """Whether something that belongs together would be parted: a list, or what announces and what is announced."""
    pieces = section.pieces
    if not 0 < gap < len(pieces):
        return False
    before, after = pieces[gap - 1], pieces[gap]
    if before.block.kind is _ITEM and after.block.kind is _ITEM:
        return True
    return before.signs.announces and after.block.kind in SHOWN
