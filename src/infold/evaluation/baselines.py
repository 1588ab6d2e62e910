"""What is simple and stands beside every librarian, on the very same cases: the top one of BM25, embeddings and grep.

They see the notes as a case leaves them, and give a note for a paragraph; none explores, groups or edits. Scripts that
put no space between words are read as pairs of signs, as any search engine does: else a clause would be one word.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from infold.search.embed.embedder import Embedder
from infold.search.terms import UNSPACED

NAMES: Final = ("bm25", "dense", "grep")
TITLES: Final = {"bm25": "BM25", "dense": "embeddings", "grep": "grep, rarest word"}
_WINDOW_CHARACTERS: Final = 1600
_WORD: Final = re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+")
_SIGN: Final = re.compile(f"[{UNSPACED}]")


def guesses(notes: Mapping[str, str], texts: Sequence[str], embedder: Embedder) -> list[dict[str, str | None]]:
    """For each text the note that each baseline names, by `NAMES`."""
    bm25, grep = PlainBM25(notes), RarestWord(notes)
    dense = closest_notes(notes, texts, embedder)
    return [
        {"bm25": bm25.best(text), "dense": near, "grep": grep.best(text)}
        for text, near in zip(texts, dense, strict=True)
    ]


class PlainBM25:
    """BM25 (k1 1.5, b 0.75) over whole notes, words folded, nothing else done to them."""

    def __init__(self, notes: Mapping[str, str]) -> None:
        self._paths = sorted(notes)
        counts = [Counter(_words(notes[path])) for path in self._paths]
        self._lengths = [count.total() for count in counts]
        self._mean = sum(self._lengths) / max(1, len(counts)) or 1.0
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, count in enumerate(counts):
            for word, times in count.items():
                self._postings[word].append((number, times))

    def best(self, text: str) -> str | None:
        """The note that BM25 puts first; of equals the first by path."""
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(_words(text)):
            postings = self._postings.get(word, [])
            weight = math.log(1 + (len(self._paths) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, times in postings:
                norm = 1.5 * (0.25 + 0.75 * self._lengths[number] / self._mean)
                scores[number] += weight * times * 2.5 / (times + norm)
        return self._paths[max(scores, key=lambda number: (scores[number], -number))] if scores else None


class RarestWord:
    """What a person does with grep: look for the rarest word, take the note that has it most often."""

    def __init__(self, notes: Mapping[str, str]) -> None:
        self._holding: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for path in sorted(notes):
            for word, times in Counter(_words(notes[path])).items():
                self._holding[word].append((times, path))

    def best(self, text: str) -> str | None:
        """The note; None where no word of `text` stands in any."""
        return next(iter(self.ranking(text)), None)

    def ranking(self, text: str) -> list[str]:
        """All that hold the rarest known word of `text`, the most often first. Of equally rare words the longest."""
        known = [word for word in dict.fromkeys(_words(text)) if word in self._holding]
        if not known:
            return []
        rarest = min(known, key=lambda word: (len(self._holding[word]), -len(word), word))
        return [path for _, path in sorted(self._holding[rarest], key=lambda entry: (-entry[0], entry[1]))]


def closest_notes(notes: Mapping[str, str], texts: Sequence[str], embedder: Embedder) -> list[str | None]:
    """For each text the note with the window (1,600 characters, whole lines) closest in meaning."""
    import numpy as np

    owners: list[str] = []
    windows: list[str] = []
    for path in sorted(notes):
        found = _windows(notes[path])
        owners += [path] * len(found)
        windows += found
    if not windows or not texts:
        return [None] * len(texts)
    likeness = embedder.embed(list(texts)) @ embedder.embed(windows).T
    return [owners[int(np.argmax(row))] if row.any() else None for row in likeness]


def _windows(text: str) -> list[str]:
    found: list[str] = []
    held = ""
    for line in text.splitlines():
        if held and len(held) + len(line) > _WINDOW_CHARACTERS:
            found.append(held)
            held = ""
        held = f"{held}\n{line}" if held else line
    return [*found, held] if held.strip() else found


def _words(text: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if len(word) > 2 and _SIGN.match(word):
            found += (word[at : at + 2] for at in range(len(word) - 1))
        else:
            found.append(word)
    return found
