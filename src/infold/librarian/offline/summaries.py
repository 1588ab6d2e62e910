"""Summaries by extraction: the note's own sentences, 75 to 100 words of them, what it is about first.

In any language: it goes by position and structure. The lead comes first, then how each section begins, then the rest,
until there are enough words. Fast enough for every note of a big vault on a first run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from infold.text import collapse_spaces, sentences, word_count, word_pattern

TextToSummarise = tuple[str, tuple[tuple[str, str], ...] | None, int, int]  # text, linked notes, fewest and most words

_LEAD_WORDS: Final = 45
_READ_LINES: Final = 600
_READ_CHARACTERS: Final = 12_000
_TELLING: Final = "#`~$-*+0123456789>|<%![_=:{^"  # what a line of something else than prose may begin with
_FENCE: Final = re.compile(r"```|~~~|\$\$")
_HEADING: Final = re.compile(r"#{1,6}\s+")
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(?:\[.\]\s+)?")
_QUOTE: Final = re.compile(r"(?:>\s?)+(?:\[![^\]]*\][+-]?)?")
_NO_PROSE: Final = re.compile(r"(?:\||<|%%|!\[|\[\^[^\]]*\]:|\[[^\]]*\]:\s|[-*_=]{3,}\s*\Z|:::|\{\{|\^\w)")
_LINK: Final = re.compile(
    r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|!?\[([^\[\]]*)\]\([^)\n]{0,2000}\)|<[^<>]{1,200}>|\[\^[^\[\]]*\]"
)
_EMPHASIS: Final = re.compile(r"(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_CLAUSE_END: Final = re.compile(r"[,;:，；：、]|\s[–—-](?=\s)|[.!?。！？](?=\s|\Z)")
_ENDS: Final = ".!?…。！？:;,"  # where a sentence or clause already ends


def summary_of(source: TextToSummarise) -> str:
    """The summary of a note: from its linked notes where it has any, else from its own sentences."""
    text, linked, low, high = source
    return extract(text, low, high) if linked is None else from_linked(linked, text, low, high)


def summaries_of(sources: Sequence[TextToSummarise]) -> list[str]:
    """The summaries of notes."""
    return [summary_of(source) for source in sources]


def extract(text: str, low: int, high: int) -> str:
    """A summary of the note body `text` in `low` to `high` words; all there is where the text has fewer words."""
    summary = _Filling(low, high)
    paragraphs = _paragraphs(text)
    said: dict[int, list[str]] = {}

    def say(position: int, most: int) -> None:
        if position not in said:
            said[position] = sentences(plain(paragraphs[position][1]))
        while said[position] and most > 0 and not summary.is_full:
            summary.add(position, said[position].pop(0))
            most -= 1

    while paragraphs and not summary.is_full and summary.words < _LEAD_WORDS and (0 not in said or said[0]):
        say(0, 1)
    for position, (is_first, _) in enumerate(paragraphs[1:], start=1):
        if summary.is_full:
            break
        if is_first:
            say(position, 1)
    for position in range(len(paragraphs)):
        if summary.is_full:
            break
        say(position, high)
    if not summary.is_full:  # little prose: headings, tables and code speak as well
        spoken = _any_words(text, high * 3)
        if not summary.words or word_count(spoken) >= low:
            summary.add(len(paragraphs), spoken)
    return summary.text()


def from_linked(linked: Sequence[tuple[str, str]], text: str, low: int, high: int) -> str:
    """What an index covers: the names of its notes, each with as much of its summary as there is room for.

    `text`, the index's own words, fills up where the linked notes say little.
    """
    names = [collapse_spaces(name) for name, _ in linked]
    room = high - sum(word_count(name) for name in names)
    each = max(0, room // max(1, len(linked)))
    parts = []
    for name, (_, summary) in zip(names, linked, strict=True):
        said = cut_words(plain(summary), each // 2, each) if each >= 3 else ""
        parts.append(f"{name}: {said}" if said else name)
    joined = "; ".join(part.rstrip(_ENDS) for part in parts if part)
    if word_count(joined) > high:
        return cut_words(joined, low, high)
    if word_count(joined) >= low:
        return f"{joined}."
    filling = _Filling(low, high)
    filling.add(0, f"{joined}." if joined else "")
    for name, summary in linked:
        filling.add(1, _beyond(name, plain(summary), each))
    filling.add(2, extract(text, low, high))
    return filling.text()


class _Filling:
    """Collects text until there are enough words; what would be too many is cut."""

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high
        self._parts: list[tuple[int, int, str]] = []
        self.words = 0

    @property
    def is_full(self) -> bool:
        return self.words >= self._low

    def add(self, position: int, text: str) -> None:
        """Adds `text`, in the order of `position` and then of adding."""
        if self.is_full or not text:
            return
        count = word_count(text)
        if self.words + count > self._high:
            text = cut_words(text, self._low - self.words, self._high - self.words)
            count = word_count(text)
        if count:
            self._parts.append((position, len(self._parts), text))
            self.words += count

    def text(self) -> str:
        """What was collected, in order."""
        return " ".join(part if part[-1] in _ENDS else f"{part}." for _, _, part in sorted(self._parts))


def _paragraphs(text: str) -> list[tuple[bool, str]]:
    """The prose of a note, as written: paragraphs and list items, each with whether a section begins with it."""
    found: list[tuple[bool, str]] = []
    lines: list[str] = []
    is_first, in_fence = True, False
    for line in map(str.strip, islice(text.splitlines(), _READ_LINES)):
        sign = line[:1]
        if in_fence:
            in_fence = _FENCE.match(line) is None
        elif sign.isalpha() or (sign and sign not in _TELLING):
            lines.append(line)
        elif sign and _FENCE.match(line):
            in_fence = True
        elif sign and (item := _ITEM.match(line)):
            if lines:
                found.append((is_first, " ".join(lines)))
                is_first = False
            lines = [line[item.end() :]]
        elif not sign or (is_heading := _HEADING.match(line) is not None):
            if lines:
                found.append((is_first, " ".join(lines)))
                lines, is_first = [], False
            is_first = is_first or (bool(sign) and is_heading)
        elif not _NO_PROSE.match(line):
            quote = _QUOTE.match(line)
            lines.append(line[quote.end() :] if quote else line)
    if lines:
        found.append((is_first, " ".join(lines)))
    return found


def prose(text: str) -> list[str]:
    """What `text` says, a paragraph or an item of a list each, ended as a sentence is and without marks of Markdown.

    Headings, tables and code are left out where there is anything else.
    """
    said = [plain(written) for _, written in _paragraphs(text)]
    ended = [each if each[-1] in _ENDS else f"{each}." for each in said if word_count(each)]
    return ended or [line for line in map(_bare, text.splitlines()) if word_count(line)]


def _bare(line: str) -> str:
    """A line of what is no prose: a heading without its signs, a row of a table as its cells, code as it stands."""
    line = line.strip()
    if _FENCE.match(line):
        return ""
    if line.startswith("|"):
        return plain(", ".join(cell.strip() for cell in line.strip("|").split("|"))) + "."
    return plain(_HEADING.sub("", line, count=1))


def plain(text: str) -> str:
    """`text` without marks of Markdown, links as what they show."""
    if "[" in text or "<" in text:
        text = _LINK.sub(lambda found: found[1] or found[2] or "", text)
    for mark in ("**", "__", "~~", "==", "`", "%%"):
        if mark in text:
            text = text.replace(mark, "")
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub("", text)
    return " ".join(text.split())


def _any_words(text: str, most: int) -> str:
    """The first words of `text`, whatever they stand in."""
    return " ".join(found[0] for found in islice(word_pattern().finditer(text[:_READ_CHARACTERS]), most))


def _beyond(name: str, summary: str, words: int) -> str:
    """What a summary says after its first `words` words, with the note's name."""
    ends = [found.end() for found in islice(word_pattern().finditer(summary), words)]
    rest = summary[ends[-1] :].strip(" .,;:") if ends else summary
    return f"{name}: {rest}" if word_pattern().search(rest) else ""


def cut_words(text: str, low: int, high: int) -> str:
    """The beginning of `text` in `low` to `high` words, to the end of a clause where one ends there."""
    ends = [found.end() for found in islice(word_pattern().finditer(text), high + 1)]
    if len(ends) <= high:
        return text
    if high <= 0:
        return ""
    first = ends[low - 1] if low > 0 else 0
    stops = [found for found in _CLAUSE_END.finditer(text, first, ends[high - 1] + 1) if found.start() >= first]
    if stops:
        stop = stops[-1]
        return text[: stop.start()].rstrip() + (stop[0] if stop[0] in ".!?。！？" else "…")
    return text[: ends[high - 1]] + "…"
