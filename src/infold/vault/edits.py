"""Find and replace in one note: every find located on the text as it is, every byte outside an edit kept.

Pure text in, pure text out. Where a find text stands belongs to `vault.match`, what may not be broken to
`vault.protect`, writing files to `durable.journal`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from infold.errors import EditRefused
from infold.text import collapse_spaces, folded_words
from infold.vault.match import Haystack, Match, line_of
from infold.vault.splices import Splice, aligned, from_line_start, joined, line_end_at, spliced, white_space_at_ends

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_LIST_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_SPACES_TO_LINE_END: Final = re.compile(r"[ \t]+(?=\r|\n|\Z)")


@dataclass(frozen=True, slots=True)
class LocatedEdit:
    """One edit, located: what stood there, what stands there after, and the splices that lead from one to the other."""

    match: Match
    before: str
    after: str
    splices: tuple[Splice, ...]

    @property
    def added(self) -> Counter[str]:
        """The words, folded, that stand there more often after than before."""
        return _more_words(self.before, self.after)

    @property
    def removed(self) -> Counter[str]:
        """The words, folded, that stood there more often before than after."""
        return _more_words(self.after, self.before)


def apply_edits(text: str, edits: Sequence[tuple[str, str]]) -> str:
    """`text` after (find, replace) edits that are all located on `text` itself, so that their order does not matter.

    Raises FindTextMissing, FindTextAmbiguous, or EditRefused where two edits overlap.
    """
    return apply_changes(text, plan_changes(text, edits))


def plan_changes(text: str, edits: Sequence[tuple[str, str]]) -> list[LocatedEdit]:
    """The changes that (find, replace) edits make, in the order given. Raises as `apply_edits` does."""
    haystack = Haystack(text)
    changes = [plan_change(haystack, find, replace) for find, replace in edits]
    order = sorted(range(len(changes)), key=lambda i: changes[i].match.start)
    for first, second in pairwise(order):
        if changes[second].match.start < changes[first].match.end:
            a, b = sorted((first + 1, second + 1))
            raise EditRefused(
                f"edits {a} and {b} overlap at line {line_of(text, changes[second].match.start)}",
                hint="Make one edit of them, or anchor them on different text.",
            )
    return changes


def apply_changes(text: str, changes: Sequence[LocatedEdit]) -> str:
    """`text` with the splices of all changes, which do not overlap, made."""
    return spliced(text, [splice for change in changes for splice in change.splices])


def plan_change(haystack: Haystack, find: str, replace: str) -> LocatedEdit:
    """Locates one edit and reduces it to the splices that are really needed.

    Where the replacement holds the find text (at its start, its end, or once inside), the edit is a pure insertion
    around the bytes that stand there. Elsewhere, words that both have keep their bytes and the white space between.
    """
    text, match = haystack.text, haystack.find_once(find)
    line_end = line_end_at(text, match)
    lead, core, tail = _beside_the_find(text, match, find, replace)
    before = text[match.start : match.end]
    around = _around(core, before)
    if around is None:
        splices = aligned(match.start, before, _LINE_END.sub(line_end, core))
    else:
        splices = _indented(text, match, around, is_relative=_indent(white_space_at_ends(find)[0]) == "")
    if lead:
        splices = [Splice(match.start, match.start, lead), *splices]
    if tail:
        splices = [*splices, Splice(match.end, match.end, tail)]
    splices = [Splice(s.start, s.end, _LINE_END.sub(line_end, s.text)) for s in splices]
    splices = joined([s for s in splices if s.text != text[s.start : s.end]])
    splices = [_below_its_line(text, from_line_start(text, s)) for s in splices]
    start = min([match.start, *(s.start for s in splices)])
    end = max([match.end, *(s.end for s in splices)])
    inside = LocatedEdit(match, "", "", tuple(Splice(s.start - start, s.end - start, s.text) for s in splices))
    whole = text[start:end]
    return LocatedEdit(Match(start, end), whole, apply_changes(whole, [inside]), tuple(splices))


def _more_words(before: str, after: str) -> Counter[str]:
    """The words, folded and counted, that `after` has more of than `before`."""
    return Counter(folded_words(after)) - Counter(folded_words(before))


REMOVAL_HINT: Final = "Keep the note's text: quote it in `replace` and add the new text to it."


def removal_clause(words: Sequence[str], most: int) -> str:
    """What a change that loses `words` is told."""
    shown = ", ".join(dict.fromkeys(words[:30])) + (", …" if len(words) > 30 else "")
    return f"takes {len(words)} words away that no other edit puts back (at most {most} may go): {shown}"


def lost_words(changes: Sequence[LocatedEdit]) -> list[list[str]]:
    """For each change the words, folded, that it takes away and no other adds; each added word makes up for one.

    `changes` are all of one chunk, whatever their note: a word that moves is not lost.
    """
    pool: Counter[str] = Counter()
    for change in changes:
        pool += change.added
    lost = []
    for change in changes:
        removed = change.removed
        made_up = removed & pool
        pool -= made_up
        lost.append(_in_order(change.before, removed - made_up))
    return lost


def _in_order(text: str, wanted: Counter[str]) -> list[str]:
    left, found = Counter(wanted), []
    for word in folded_words(text):
        if left[word] > 0:
            left[word] -= 1
            found.append(word)
    return found


def _indent(space: str) -> str:
    """The part of leading white space that indents its line."""
    return _LINE_END.split(space)[-1]


def _beside_the_find(text: str, match: Match, find: str, replace: str) -> tuple[str, str, str]:
    """The replacement as white space to add before the match, core, white space to add after it.

    White space at the ends of the find was not matched, so the same white space at the ends of the replacement is
    already there. At the very start and end of a note none is added: a note without a last line end stays without.
    """
    find_lead, _, find_tail = (_LINE_END.sub("\n", part) for part in white_space_at_ends(find))
    lead, core, tail = (_LINE_END.sub("\n", part) for part in white_space_at_ends(replace))
    lead = "" if find_lead.endswith(lead) else lead.removesuffix(find_lead)
    tail = "" if find_tail.startswith(tail) else tail.removeprefix(find_tail)
    if not text[: match.start].lstrip("\ufeff").strip():
        lead = ""
    if not text[match.end :].strip():
        tail = ""
    return lead, core, tail


def _below_its_line(text: str, splice: Splice) -> Splice:
    """Text that begins on a new line goes below the whole line before it, which keeps the white space at its end."""
    added = splice.text.lstrip(" \t")
    if splice.start != splice.end or not added.startswith(("\n", "\r")):
        return splice
    spaces = _SPACES_TO_LINE_END.match(text, splice.end)
    at = spaces.end() if spaces else splice.end
    return Splice(at, at, added)


def _around(core: str, before: str) -> tuple[str, str] | None:
    """What the replacement adds before and after the found text, or None where it does not hold it whole."""
    even = collapse_spaces(before)
    spread = r"\s+".join(re.escape(word) for word in even.split(" "))
    if found := re.match(spread, core):
        return "", core[found.end() :]
    if found := re.search(rf"(?:{spread})\Z", core):
        return core[: found.start()], ""
    places = [found.span() for found in re.finditer(rf"(?={spread})", core)]
    if len(places) != 1:
        return None
    start = places[0][0]
    whole = re.compile(spread).match(core, start)
    return (core[:start], core[whole.end() :]) if whole else None


def _indented(text: str, match: Match, around: tuple[str, str], *, is_relative: bool) -> list[Splice]:
    """The insertions around a match. Where it stands indented and was quoted without its indent, so is what is added.

    The found line keeps its own indent: text added before it goes before the indent, or takes it over line by line.
    """
    above, below = around
    line_start = max(text.rfind("\n", 0, match.start), text.rfind("\r", 0, match.start)) + 1
    indent = text[line_start : match.start]
    place = match.start
    if indent and is_relative and not indent.strip(" \t"):
        *_, last = _LINE_END.split(above)
        if above != last and last == indent:
            above, place = above[: len(above) - len(last)], line_start
        elif above != last and not last:
            above = re.sub(r"(\r\n|\r|\n)(?=[^\r\n]|\Z)", rf"\1{indent}", above)
        if _LIST_ITEM.match(text, match.start) and any(_LIST_ITEM.match(line) for line in _LINE_END.split(below)[1:]):
            below = re.sub(r"(\r\n|\r|\n)(?=[^\r\n])", rf"\1{indent}", below)
    return [Splice(place, place, above), Splice(match.end, match.end, below)]
