"""Places become edits: anchors that stand in the note exactly once, and the new text beside them.

The note's own text is never rewritten: every edit is the anchor as it stands, with text before or after it. Whether an
edit keeps the rules is asked of `librarian.rules` before it is given out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infold.librarian.answers import Edit
from infold.librarian.offline.placing import InsertionPoint
from infold.text import collapse_spaces
from infold.vault.records import Note
from infold.vault.structure import is_numbered, restyled, style_of

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Paragraphs of the inbox that go to one place of a note, in their order; the first `joining` go into its list."""

    place: InsertionPoint
    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    joining: int = 0


def edit_for(note: Note, insertion: Insertion) -> Edit | None:
    """One edit that puts the paragraphs in their place; None where no anchor is unique."""
    place = insertion.place
    joins = place.joins if insertion.joining else None
    is_item = joins is not None and insertion.joining == len(insertion.texts)  # nothing but items of the list
    between = joins.gap if joins else "\n\n"
    new = _together(insertion)
    if place.after is not None:
        anchor = _ending_at(note, place.after)
        if anchor is not None:
            tail = "" if is_item else _missing_blank(note.text[place.after : place.before])
            return _edit(note, anchor, anchor + between + new + (tail if place.before is not None else ""), insertion)
    if place.before is not None:
        anchor = _starting_at(note, place.before)
        if anchor is not None:
            lead = "" if joins or place.after is None else _missing_blank(note.text[place.after : place.before])
            return _edit(note, anchor, lead + new + (between if is_item else "\n\n") + anchor, insertion)
    return None


def _together(insertion: Insertion) -> str:
    """The new texts as they stand one below the other: items as one list, all else with a line between."""
    items, others = insertion.texts[: insertion.joining], insertion.texts[insertion.joining :]
    joins = insertion.place.joins
    parts = [joins.gap.join(restyled(text, joins.style, joins.indent) for text in items)] if joins and items else []
    above = ""
    for text in others:
        style = style_of(text)
        if style and not is_numbered(style) and style == style_of(above):
            parts[-1] += f"\n{text}"
        else:
            parts.append(text)
        above = text
    return "\n\n".join(parts)


def quote(note: Note, start: int, end: int) -> str | None:
    """`note.text[start:end]`, with what stands around it until it stands there once; None where it never does."""
    even = collapse_spaces(note.text)
    text = note.text[start:end]
    starts = [block.start for block in note.blocks if block.start < start]
    ends = [block.end for block in note.blocks if block.end > end]
    while not _is_once(even, text):
        if starts:
            start = starts.pop()
        elif ends:
            end = ends.pop(0)
        else:
            return None
        text = note.text[start:end]
    return text


def _edit(note: Note, find: str, replace: str, insertion: Insertion) -> Edit:
    return Edit(file=note.path, find=find, replace=replace, paragraphs=list(insertion.numbers))


def _ending_at(note: Note, end: int) -> str | None:
    """Text that ends at `end`, from the start of a block, and stands in the note once."""
    even = collapse_spaces(note.text)
    for block in reversed([block for block in note.blocks if block.start < end]):
        text = note.text[block.start : end]
        if text.strip() and _is_once(even, text):
            return text
    return None


def _starting_at(note: Note, start: int) -> str | None:
    even = collapse_spaces(note.text)
    for block in (block for block in note.blocks if block.end > start):
        text = note.text[start : block.end]
        if text.strip() and _is_once(even, text):
            return text
    return None


def _is_once(even: str, text: str) -> bool:
    wanted = collapse_spaces(text)
    first = even.find(wanted)
    return bool(wanted) and first >= 0 and even.find(wanted, first + 1) < 0


def _missing_blank(gap: str) -> str:
    """The line end that a gap lacks to hold a blank line."""
    return "\n" if len(_LINE_END.findall(gap)) < 2 else ""


def merged(insertions: Sequence[Insertion]) -> list[Insertion]:
    """Insertions with those of one place put together: what joins a list first, then paragraphs as in the inbox."""
    by_place: dict[tuple[int | None, int | None], list[Insertion]] = {}
    for insertion in insertions:
        by_place.setdefault((insertion.place.after, insertion.place.before), []).append(insertion)
    return [_as_one(sorted(own, key=lambda one: (one.place.joins is None, one.numbers))) for own in by_place.values()]


def _as_one(ordered: Sequence[Insertion]) -> Insertion:
    joining = sum(len(one.texts) for one in ordered if one.place.joins is not None)
    numbers = tuple(n for one in ordered for n in one.numbers)
    return Insertion(ordered[0].place, numbers, tuple(text for one in ordered for text in one.texts), joining)
