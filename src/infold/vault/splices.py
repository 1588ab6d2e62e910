"""The smallest changes that turn one stretch of a note into another, and the line ends that new text takes.

Pure text in, records out. Which stretch is turned into what belongs to `vault.edits`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from infold.vault.match import Match

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_LIST_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_NEIGHBOURHOOD: Final = 600


@dataclass(frozen=True, slots=True)
class Splice:
    """The smallest unit of change: `text` takes the place of `note[start:end]`; start == end is a pure insertion."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """`text` with splices that do not overlap made."""
    parts: list[str] = []
    at = 0
    for splice in sorted(splices, key=lambda s: (s.start, s.end)):
        parts += (text[at : splice.start], splice.text)
        at = splice.end
    return "".join([*parts, text[at:]])


class Moved:
    """Where the splices of one note move its text to."""

    def __init__(self, splices: Sequence[Splice]) -> None:
        self._splices = sorted(splices, key=lambda s: (s.start, s.end))
        self._ends = [s.end for s in self._splices]
        self._shifts = [0, *accumulate(len(s.text) - (s.end - s.start) for s in self._splices)]

    def start(self, offset: int) -> int:
        """Where the character at `offset` is afterwards; what is inserted right before it comes before."""
        return offset + self._shifts[bisect_right(self._ends, offset)]

    def end(self, offset: int) -> int:
        """Where a span that ends at `offset` ends afterwards; what is inserted right there comes after."""
        return self.start(offset) - len(self.inserted_at(offset))

    def touching(self, start: int, end: int) -> list[Splice]:
        """The splices that change something of `start` to `end`, or insert strictly inside."""
        return [s for s in self._splices if s.start < end and (s.end > start)]

    def inserted_at(self, offset: int) -> str:
        """What is inserted right at `offset`."""
        return "".join(s.text for s in self._splices if s.start == s.end == offset)

    def is_added(self, start: int, end: int) -> bool:
        """Whether what stands from `start` to `end` afterwards was added by one splice."""
        for splice, shift in zip(self._splices, self._shifts, strict=False):
            begin = splice.start + shift
            if begin <= start and end <= begin + len(splice.text):
                return True
        return False


def white_space_at_ends(text: str) -> tuple[str, str, str]:
    """`text` as the white space before it, itself, and the white space after it."""
    core = text.strip()
    if not core:
        return "", "", ""
    start = text.index(core)
    return text[:start], core, text[start + len(core) :]


def aligned(offset: int, before: str, after: str) -> list[Splice]:
    """Splices that turn `before`, which stands at `offset`, into `after`, word by word.

    A word that both have keeps its place; white space between two words that stay neighbours keeps its bytes.
    """
    from rapidfuzz.distance import Indel

    old, new = list(re.finditer(r"\S+", before)), list(re.finditer(r"\S+", after))
    same: dict[int, int] = {}
    for code in Indel.opcodes([m.group() for m in old], [m.group() for m in new]):
        if code.tag == "equal":
            same.update(zip(range(code.dest_start, code.dest_end), range(code.src_start, code.src_end), strict=True))
    splices: list[Splice] = []
    kept_to, new_to, last = 0, 0, -2  # how far each side is settled; the old word last kept
    for j, word in enumerate(new):
        if j not in same:
            continue
        i = same[j]
        if not (i == last + 1 and same.get(j - 1) == last):
            between = _kept_gap(before[kept_to : old[i].start()], after[new_to : word.start()])
            splices.append(Splice(offset + kept_to + between.start, offset + kept_to + between.end, between.text))
        kept_to, new_to, last = old[i].end(), word.end(), i
    last_gap = _kept_gap(before[kept_to:], after[new_to:])
    splices.append(Splice(offset + kept_to + last_gap.start, offset + kept_to + last_gap.end, last_gap.text))
    return splices


def _kept_gap(old: str, new: str) -> Splice:
    """The splice that turns `old`, what stands between two kept words, into `new`; white space stays where it can.

    Two spaces at a line's end are a line break in Markdown: text added below such a line must not eat them. A blank
    line is never lost: find texts are matched white space aside, so whoever wrote `new` may not have seen it.
    """
    old_lead, old_core, old_tail = white_space_at_ends(old)
    lead, core, tail = white_space_at_ends(new)
    if not core:
        widest = max(old_lead, old_tail, key=_breaks)
        return Splice(0, len(old), widest if old_core and _breaks(widest) > 1 else new)
    if old_core:
        keeps_lead, keeps_tail = _keeps(old_lead, lead), _keeps(old_tail, tail)
        start, end = len(old_lead) if keeps_lead else 0, len(old) - (len(old_tail) if keeps_tail else 0)
        return Splice(start, end, ("" if keeps_lead else lead) + core + ("" if keeps_tail else tail))
    return _inserted(old, lead, core, tail)


def _inserted(old: str, lead: str, core: str, tail: str) -> Splice:
    """The splice that puts `core` into `old`, which is nothing but white space."""
    breaks, above, below = _breaks(old), _breaks(lead), _breaks(tail)
    if old and breaks == above:
        return Splice(len(old), len(old), core + tail)
    if old and breaks == below:
        return Splice(0, 0, lead + core)
    if breaks < 2:
        return Splice(0, len(old), lead + core + tail)
    if above == below == 1 and not _LIST_ITEM.match(core):
        return Splice(len(old), len(old), core + old)
    return Splice(len(old), len(old), core + tail) if above > below else Splice(0, 0, lead + core)


def _keeps(old: str, new: str) -> bool:
    """Whether white space stays as it is where `new` would take its place."""
    return bool(old) and (_breaks(old) > 1 or _breaks(old) == _breaks(new))


def _breaks(space: str) -> int:
    return len(_LINE_END.findall(space))


def from_line_start(text: str, splice: Splice) -> Splice:
    """An insertion of lines from the start of its line, where that gives the same text.

    Texts that begin with the same words are aligned by these: new text above a paragraph then seems to split it.
    """
    start = max(text.rfind("\n", 0, splice.start), text.rfind("\r", 0, splice.start)) + 1
    shared, added = text[start : splice.start], splice.text
    goes_above = bool(_breaks(added)) and not added.lstrip(" \t").startswith(("\n", "\r")) and added.endswith(shared)
    if splice.start != splice.end or not shared or not goes_above:
        return splice
    return Splice(start, start, shared + added.removesuffix(shared))


def joined(splices: Sequence[Splice]) -> list[Splice]:
    """Splices that touch, as one."""
    joined: list[Splice] = []
    for splice in splices:
        if joined and joined[-1].end == splice.start:
            joined[-1] = Splice(joined[-1].start, splice.end, joined[-1].text + splice.text)
        else:
            joined.append(splice)
    return joined


def line_end_at(text: str, match: Match) -> str:
    """The line end that text added at `match` takes: the note's only one, or where they are mixed the nearest."""
    kinds = _line_ends(text)
    if len(kinds) > 1:
        kinds = _line_ends(text[max(0, match.start - _NEIGHBOURHOOD) : match.end + _NEIGHBOURHOOD]) or kinds
    return max(kinds, key=lambda kind: (kinds[kind], kind)) if kinds else "\n"


def _line_ends(text: str) -> dict[str, int]:
    pairs = text.count("\r\n")
    counts = {"\r\n": pairs, "\n": text.count("\n") - pairs, "\r": text.count("\r") - pairs}
    return {kind: count for kind, count in counts.items() if count}
