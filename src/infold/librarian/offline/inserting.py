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
from infold.librarian.offline.placing import Place
from infold.text import collapse_spaces
from infold.vault.records import Note

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Paragraphs of the inbox that go to one place of a note, in their order."""

    place: Place
    numbers: tuple[int, ...]
    texts: tuple[str, ...]


def edit_for(note: Note, insertion: Insertion) -> Edit | None:
    """One edit that puts the paragraphs in their place; None where no anchor is unique."""
    place = insertion.place
    between = _list_gap(note.text, place) if place.is_item else "\n\n"
    new = between.join(insertion.texts)
    if place.after is not None:
        anchor = _ending_at(note, place.after)
        if anchor is not None:
            tail = "" if place.is_item else _missing_blank(note.text[place.after : place.before])
            return _edit(note, anchor, anchor + between + new + (tail if place.before is not None else ""), insertion)
    if place.before is not None:
        anchor = _starting_at(note, place.before)
        if anchor is not None:
            lead = "" if place.is_item or place.after is None else _missing_blank(note.text[place.after : place.before])
            return _edit(note, anchor, lead + new + between + anchor, insertion)
    return None


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


def _list_gap(text: str, place: Place) -> str:
    """What stands between two items there: a line end, or a blank line where the list is a loose one."""
    if place.after is None or place.before is None:
        return "\n"
    gap = text[place.after : place.before]
    return "\n\n" if not gap.strip() and len(_LINE_END.findall(gap)) > 1 else "\n"


def merged(insertions: Sequence[Insertion]) -> list[Insertion]:
    """Insertions with those of one place put together, paragraphs in the order of the inbox."""
    by_place: dict[Place, list[tuple[int, str]]] = {}
    for insertion in insertions:
        by_place.setdefault(insertion.place, []).extend(zip(insertion.numbers, insertion.texts, strict=True))
    return [
        Insertion(place, tuple(n for n, _ in sorted(entries)), tuple(text for _, text in sorted(entries)))
        for place, entries in by_place.items()
    ]
