"""Three-way merge of one note's lines, for taking a change back from under later ones.

Pure bytes in, pure bytes out. Which contents are merged belongs to `inbox.undo` and `inbox.settlement`.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from merge3 import Merge3

LineList = list[bytes]


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged bytes, and what of our change could not be made: the text of the other side stands there."""

    data: bytes
    conflicts: tuple[bytes, ...] = ()


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """`theirs`, with the change that leads from `base` to `ours` made in it too wherever the two do not meet.

    Where they meet, lines that our change takes out whole are still taken out if they stand there untouched; else the
    text of `theirs` stays, and the lines that our change was about are a conflict.
    """
    base, ours = _line_ends_like(theirs, base), _line_ends_like(theirs, ours)
    if theirs == base:
        return Merged(ours)
    b, a, t = (side.splitlines(keepends=True) for side in (base, ours, theirs))
    parts: LineList = []
    conflicts: list[bytes] = []
    for region in Merge3(b, a, t).merge_regions():
        kind, *bounds = region
        if kind == "unchanged":
            parts += b[bounds[0] : bounds[1]]
        elif kind in ("same", "a"):
            parts += a[bounds[0] : bounds[1]]
        elif kind == "b":
            parts += t[bounds[0] : bounds[1]]
        else:
            z0, z1, a0, a1, t0, t1 = bounds
            lines, left = _where_they_meet(b[z0:z1], a[a0:a1], t[t0:t1])
            parts += lines
            conflicts += left
    return Merged(b"".join(parts), tuple(conflicts))


def holds_change(before: bytes, after: bytes, current: bytes) -> bool:
    """Whether `current` was made from `after`, not from `before`: lines that came with `after` stand in it.

    A line-wise merge cannot tell: two equal insertions beside a blank line may be aligned on either side of it.
    """
    old, new, now = (Counter(line.strip() for line in data.splitlines()) for data in (before, after, current))
    return any(now[line] > old[line] for line in new - old if line)


def _where_they_meet(base: LineList, ours: LineList, theirs: LineList) -> tuple[LineList, list[bytes]]:
    result = list(theirs)
    conflicts: list[bytes] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, base, ours).get_opcodes():
        if tag == "equal":
            continue
        gone, come = base[i1:i2], ours[j1:j2]
        places = _places(result, gone) if gone else []
        if tag != "insert" and len(places) == 1 and b"".join(gone).strip():
            result[places[0] : places[0] + len(gone)] = come
        elif b"".join(gone).strip() or b"".join(come).strip():
            conflicts.append(b"".join(gone or come))
    return result, conflicts


def _places(lines: LineList, wanted: LineList) -> list[int]:
    return [at for at in range(len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted]


def _line_ends_like(model: bytes, data: bytes) -> bytes:
    """`data` with the line ends of `model`, where an editor changed all of one kind into the other."""
    ends, wanted = _only_line_end(data), _only_line_end(model)
    return data.replace(ends, wanted) if ends and wanted and ends != wanted else data


def _only_line_end(data: bytes) -> bytes | None:
    pairs, feeds = data.count(b"\r\n"), data.count(b"\n")
    if not feeds or data.count(b"\r") != pairs:
        return None
    return b"\r\n" if pairs == feeds else b"\n" if not pairs else None


def joined(texts: Sequence[bytes]) -> str:
    """Conflicting lines as text to show."""
    return b"".join(texts).decode("utf-8", errors="replace").strip("\r\n")
