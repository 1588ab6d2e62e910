"""Where a find text stands in a note: exactly once, white space aside.

White space is made equal only to locate; what comes back are offsets in the note's own text, so that whoever edits
keeps the note's bytes. What to do with a place belongs to `vault.edits`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Final

from infold.errors import FindTextAmbiguous, FindTextMissing
from infold.text import collapse_spaces, folded_words

MOST_PLACES: Final = 40  # how many places of an ambiguous text are counted and named
_NEAREST: Final = 3
_CANDIDATES: Final = 12
_LONGEST_WINDOW: Final = 4_000
_LONGEST_WANTED: Final = 1_000
_SHOWN: Final = 160
_SPACES: Final = re.compile(r"\s+")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Match:
    """A place in a note: `text[start:end]`, offsets in characters."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A place that resembles a text that was not found."""

    line: int
    text: str
    score: float  # 0 to 100


class Haystack:
    """A note's text, prepared once for several searches. Time and memory are linear in its length."""

    def __init__(self, text: str) -> None:
        self.text = text
        lead = " " if text[:1].isspace() else ""
        tail = " " if text[-1:].isspace() and not text.isspace() else ""
        self._even = lead + " ".join(text.split()) + tail

    def find_once(self, wanted: str) -> Match:
        """Where `wanted` stands, runs of white space taken as equal, white space at its ends ignored.

        Places that overlap count as several. Raises FindTextMissing with the nearest places, or FindTextAmbiguous with
        the line of each place, in words by which whoever asked can correct it.
        """
        even = collapse_spaces(wanted)
        if not even:
            raise FindTextMissing("the find text is empty", hint="Quote text that stands in the note exactly once.")
        places = list(islice(self._places(even), MOST_PLACES + 1))
        if len(places) > 1:
            lines = [line_of(self.text, at) for at in self._originals(places[:MOST_PLACES])]
            count = f"{len(places)} times" if len(places) <= MOST_PLACES else f"more than {MOST_PLACES} times"
            where = "line" + "s" * (len(set(lines)) > 1) + " " + ", ".join(map(str, dict.fromkeys(lines)))
            raise FindTextAmbiguous(
                f"the find text {_shown(even)} stands in the note {count}, at {where}",
                hint="Add more of the surrounding text, until it stands there exactly once.",
            )
        if not places:
            raise FindTextMissing(
                f"the find text {_shown(even)} stands nowhere in the note{_nearest_clause(self.text, wanted)}",
                hint="Copy the text exactly as it stands in the note.",
            )
        first, last = self._originals([places[0], places[0] + len(even) - 1])
        return Match(first, last + 1)

    def _places(self, even: str) -> list[int]:
        places: list[int] = []
        at = self._even.find(even)
        while at >= 0 and len(places) <= MOST_PLACES:
            places.append(at)
            at = self._even.find(even, at + 1)
        return places

    def _originals(self, places: list[int]) -> list[int]:
        """The offsets in the note's text of characters (not white space) of the evened text, given in order."""
        runs = _SPACES.finditer(self.text)
        passed = counted = 0
        start, evened = 0, 0  # where the word that holds the place begins: in the note's text, in the evened one
        originals = []
        for at in places:
            before = passed + self._even.count(" ", counted, at)
            if before > passed:
                start = next(islice(runs, before - passed - 1, None)).end()
                evened = self._even.rfind(" ", 0, at) + 1
            passed, counted = before, at
            originals.append(start + at - evened)
        return originals


def find_once(text: str, wanted: str) -> Match:
    """Where `wanted` stands in `text`, runs of white space taken as equal (spec 1, Validation).

    Raises FindTextMissing or FindTextAmbiguous, with the places, so that whoever asked can correct it.
    """
    return Haystack(text).find_once(wanted)


def line_of(text: str, offset: int) -> int:
    """The number of the line on which `offset` lies, from 1; CRLF, LF and CR each end a line."""
    returns = text.count("\r", 0, offset)
    pairs = text.count("\r\n", 0, offset) if returns else 0
    return text.count("\n", 0, offset) + returns - pairs + 1


def nearest(text: str, wanted: str) -> list[NearMiss]:
    """The places of `text` most like `wanted`, best first, none overlapping another.

    Windows of as many lines as `wanted` has are ranked by the rare words they share with it; the best of them are then
    compared letter by letter.
    """
    from rapidfuzz import fuzz

    even = collapse_spaces(wanted)[:_LONGEST_WANTED]
    lines = [(n, line) for n, line in enumerate(_LINE_END.split(text), start=1) if line.strip()]
    height = max(1, sum(1 for line in _LINE_END.split(wanted.strip()) if line.strip()))
    found: list[NearMiss] = []
    for first in _likely_windows([line for _, line in lines], even, height):
        window = collapse_spaces(" ".join(line for _, line in lines[first : first + height]))[:_LONGEST_WINDOW]
        aligned = fuzz.partial_ratio_alignment(even, window)
        score = fuzz.ratio(even, window)
        shown = window
        if aligned is not None and aligned.score > score and len(window) > len(even):
            score, shown = aligned.score, _to_words(window, aligned.dest_start, aligned.dest_end)
        found.append(NearMiss(lines[first][0], shown, score))
    found.sort(key=lambda miss: (-miss.score, miss.line))
    kept: list[NearMiss] = []
    for miss in found:
        if len(kept) < _NEAREST and miss.score >= 40 and all(abs(miss.line - other.line) >= height for other in kept):
            kept.append(miss)
    return kept


def _likely_windows(lines: list[str], even: str, height: int) -> list[int]:
    """The first lines of the windows that share most, rare words counting for more; all of a short note."""
    last = max(1, len(lines) - height + 1)
    if not lines or last <= _CANDIDATES:
        return list(range(last)) if lines else []
    wanted = set(folded_words(even)) or set(even)
    shared = [wanted.intersection(folded_words(line) or line) for line in lines]
    frequency = Counter(word for words in shared for word in words)
    weights = [sum(1 / frequency[word] for word in words) for words in shared]
    total = sum(weights[:height])
    scores = [total]
    for first in range(1, last):
        total += weights[first + height - 1] - weights[first - 1]
        scores.append(total)
    best = sorted(range(last), key=lambda first: (-scores[first], first))[:_CANDIDATES]
    if scores[best[0]] <= 0:
        return _by_letters(lines[:20_000], even)
    return best


def _by_letters(lines: list[str], even: str) -> list[int]:
    from rapidfuzz import fuzz, process

    shortened = [line[: 2 * len(even) + 20] for line in lines]
    return [place for _, _, place in process.extract(even[:200], shortened, scorer=fuzz.ratio, limit=_CANDIDATES)]


def _to_words(window: str, start: int, end: int) -> str:
    """The aligned stretch of `window`, widened to whole words."""
    start = window.rfind(" ", 0, start + 1) + 1
    stop = window.find(" ", end)
    return window[start : stop if stop >= 0 else len(window)]


def _nearest_clause(text: str, wanted: str) -> str:
    misses = nearest(text, wanted)
    if not misses:
        return ""
    return "; nearest: " + ", ".join(f"line {miss.line}: {_shown(miss.text)}" for miss in misses)


def _shown(text: str) -> str:
    return f"“{text}”" if len(text) <= _SHOWN else f"“{text[: _SHOWN - 1]}…”"
