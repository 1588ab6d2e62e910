"""What changed in one note, as a reader wants it: hunks of lines, changed lines word by word, a little around them.

Pure text in, records out. Colours belong to whoever shows them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Final, Literal

from infold.vault.splices import Splice

DifferenceKind = Literal["same", "added", "removed"]
RowKind = Literal["same", "added", "removed", "changed"]

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_TOKEN: Final = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_COMPARED: Final = 1_000_000  # tokens of one side times tokens of the other
_ALIKE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a line that was there, came or went."""

    kind: DifferenceKind
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line: `number` is its line after the change, None where it is gone; `changed` mixes kinds of segments."""

    kind: RowKind
    number: int | None
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines that lie near each other, with the lines around them."""

    rows: tuple[Row, ...]


def hunks(before: str, after: str, context: int = 2) -> list[Hunk]:
    """The changed lines in order, word by word where a line was changed, with `context` lines around them."""
    old = [line.rstrip("\r\n") for line in _LINE.findall(before)]
    new = [line.rstrip("\r\n") for line in _LINE.findall(after)]
    rows = list(_rows(old, new, context))
    near = [False] * len(rows)
    for at, row in enumerate(rows):
        if row.kind != "same":
            near[max(0, at - context) : at + context + 1] = [True] * len(near[max(0, at - context) : at + context + 1])
    grouped = groupby(range(len(rows)), key=lambda at: near[at])
    return [Hunk(tuple(rows[at] for at in group)) for is_near, group in grouped if is_near]


def line_splices(before: str, after: str) -> list[Splice]:
    """Whole lines as splices that turn `before` into `after`."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    ends = [0, *accumulate(map(len, old))]
    changes = _line_changes(old, new)
    return [Splice(ends[i1], ends[i2], "".join(new[j1:j2])) for tag, i1, i2, j1, j2 in changes if tag != "equal"]


def same_insertions(text: str, splice: Splice) -> list[Splice]:
    """All insertions of whole lines that give the same text: a difference cannot tell which of equal lines is new."""
    if splice.start != splice.end:
        return [splice]
    lines, new = _LINE.findall(text), _LINE.findall(splice.text)
    starts = [0, *accumulate(map(len, lines))]
    at = starts.index(splice.start) if splice.start in starts else None
    if at is None or not new:
        return [splice]
    found = [splice]
    up, moved = at, new
    while up and lines[up - 1] == moved[-1]:
        up, moved = up - 1, [moved[-1], *moved[:-1]]
        found.append(Splice(starts[up], starts[up], "".join(moved)))
    down, moved = at, new
    while down < len(lines) and lines[down] == moved[0]:
        down, moved = down + 1, [*moved[1:], moved[0]]
        found.append(Splice(starts[down], starts[down], "".join(moved)))
    return found


def words(before: str, after: str) -> list[Segment]:
    """What leads from `before` to `after`, in segments of whole words."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(old) * len(new) > _MOST_COMPARED:
        return [Segment("removed", before), Segment("added", after)]
    segments: list[Segment] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            segments.append(Segment("same", "".join(new[j1:j2])))
            continue
        if i2 > i1:
            segments.append(Segment("removed", "".join(old[i1:i2])))
        if j2 > j1:
            segments.append(Segment("added", "".join(new[j1:j2])))
    return segments


def _rows(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[Row]:
    """All changed lines, and of those between two changes what lies within `context`, with one more to part them."""
    for tag, i1, i2, j1, j2 in _line_changes(old, new):
        if tag == "equal":
            near = range(j1, j2) if j2 - j1 <= 2 * context else (*range(j1, j1 + context + 1), *range(j2 - context, j2))
            yield from (Row("same", j + 1, (Segment("same", new[j]),)) for j in near)
        elif tag == "replace":
            yield from _replaced(old[i1:i2], new[j1:j2], j1 + 1)
        else:
            yield from (Row("removed", None, (Segment("removed", line),)) for line in old[i1:i2])
            yield from (Row("added", j + 1, (Segment("added", new[j]),)) for j in range(j1, j2))


def _line_changes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """The line-wise opcodes; the equal lines at both ends are set aside first, which makes long notes quick."""
    shorter = min(len(old), len(new))
    top = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - top) if old[-1 - i] != new[-1 - i]), shorter - top)
    old_end, new_end = len(old) - end, len(new) - end
    yield "equal", 0, top, 0, top
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old[top:old_end], new[top:new_end]).get_opcodes():
        yield tag, i1 + top, i2 + top, j1 + top, j2 + top
    yield "equal", old_end, len(old), new_end, len(new)


def _replaced(old: Sequence[str], new: Sequence[str], number: int) -> Iterator[Row]:
    """Lines that took the place of others: one flow of words where they are alike, else out and in."""
    segments = words("\n".join(old), "\n".join(new))
    same = sum(len(s.text) for s in segments if s.kind == "same")
    if same < _ALIKE * min(len("\n".join(old)), len("\n".join(new))):
        yield from (Row("removed", None, (Segment("removed", line),)) for line in old)
        yield from (Row("added", number + i, (Segment("added", line),)) for i, line in enumerate(new))
        return
    line: list[Segment] = []
    for segment in segments:
        first, *others = segment.text.split("\n")
        line.append(Segment(segment.kind, first))
        for part in others:
            if segment.kind == "removed" and any(s.text for s in line if s.kind != "removed"):
                line.append(Segment("removed", f"⏎{part}"))
                continue
            row = _row(line, number if segment.kind != "removed" else None)
            number += row.number is not None
            yield row
            line = [Segment(segment.kind, part)]
    yield _row(line, number)


def _row(segments: Sequence[Segment], number: int | None) -> Row:
    kept = tuple(s for s in segments if s.text)
    kinds = {s.kind for s in kept}
    if number is None:
        return Row("removed", None, kept or (Segment("removed", ""),))
    kind: RowKind = "added" if kinds == {"added"} else "same" if kinds <= {"same"} else "changed"
    return Row(kind, number, kept or (Segment("same", ""),))
