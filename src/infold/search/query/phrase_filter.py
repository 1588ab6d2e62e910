"""Phrases in quotes: which passages hold them, word by word.

The index knows words, not their order. Its best answers are looked at first; where these are not enough, every passage
that holds the phrase's rarest word is, so that a phrase that stands anywhere is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from infold.search.index.contract import Hit
from infold.search.query.excerpts import Texts
from infold.search.query.query_parser import phrase_pattern
from infold.search.terms import tokens

Ask = Callable[[str, int], list[Hit]]  # by keyword: words and a limit

FIRST_LOOK: Final = 200
_DEPTHS: Final = (500, 5_000, 50_000, 1_000_000)  # passages that hold one word: the first that is deep enough
_MOST_WORDS: Final = 8  # of a phrase, tried as its rarest


def passages_with(phrases: Sequence[str], ask: Ask, texts: Callable[[str], Texts | None], enough: int) -> list[Hit]:
    """At least `enough` passages that hold all of `phrases`, best first, or all that there are."""
    holds = Holds(phrases, texts)
    words = " ".join(phrases)
    found = {hit.id: hit for hit in holds.those_of(ask(words, FIRST_LOOK))}
    if len(found) < enough:
        for hit in holds.those_of(list(_with_rarest(phrases, ask))):
            found.setdefault(hit.id, hit)
    return list(found.values())


class Holds:
    """Whether the text of a hit, its title or a heading above it, holds every phrase."""

    def __init__(self, phrases: Sequence[str], texts: Callable[[str], Texts | None]) -> None:
        self._patterns: list[re.Pattern[str]] = [phrase_pattern(phrase) for phrase in phrases]
        self._texts = texts
        self._known: dict[str, bool] = {}

    def __call__(self, hit: Hit) -> bool:
        """Reads the text of each hit once."""
        if hit.id not in self._known:
            self._known[hit.id] = self._looked_up(hit)
        return self._known[hit.id]

    def those_of(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits that hold them, in their order; looked at file by file, so that each is read once."""
        for hit in sorted(hits, key=lambda hit: (hit.group, hit.path)):
            self(hit)
        return [hit for hit in hits if self(hit)]

    def _looked_up(self, hit: Hit) -> bool:
        texts = self._texts(hit.group)
        stretch = texts.stretch(hit) if texts is not None else None
        places = [hit.title, *hit.trail, *([stretch.text] if stretch is not None else [])]
        return all(any(pattern.search(place) for place in places) for pattern in self._patterns)


def _with_rarest(phrases: Sequence[str], ask: Ask) -> Iterator[Hit]:
    """Every passage that holds the word of the phrases that the fewest hold."""
    words = sorted({token for phrase in phrases for token in tokens(phrase)}, key=lambda word: (-len(word), word))
    for depth in _DEPTHS:
        answers = [ask(word, depth) for word in words[:_MOST_WORDS]]
        shortest = min(answers, key=len, default=[])
        if len(shortest) < depth:
            yield from shortest
            return
