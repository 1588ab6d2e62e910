"""What a question demands of a result, held against its text: phrases, beginnings of words, what must not be there.

The index knows words, not their order. Its best answers are looked at first; where these are not enough, every passage
that holds the phrase's rarest word is, so that a phrase that stands anywhere is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from infold.search.index.contract import Hit, folders_of, tags_above
from infold.search.query.excerpts import Texts
from infold.search.query.query_parser import Question, phrase_pattern
from infold.search.terms import folded, tokens

Ask = Callable[[str, int], list[Hit]]  # by keyword: words and a limit

FIRST_LOOK: Final = 200
_DEPTHS: Final = (500, 5_000, 50_000, 1_000_000)  # passages that hold one word: the first that is deep enough
_MOST_WORDS: Final = 8  # of a phrase, tried as its rarest


def passages_with(phrases: Sequence[str], ask: Ask, holds: Holds, enough: int) -> list[Hit]:
    """At least `enough` passages that hold all of `phrases`, best first, or all that there are."""
    words = " ".join(phrases)
    found = {hit.id: hit for hit in holds.those_of(ask(words, FIRST_LOOK))}
    if len(found) < enough:
        for hit in holds.those_of(list(_with_rarest(phrases, ask))):
            found.setdefault(hit.id, hit)
    return list(found.values())


class Holds:
    """Whether the text of a hit, its title or a heading above it, has what a question demands."""

    def __init__(self, question: Question, texts: Callable[[str], Texts | None]) -> None:
        self._question = question
        self._wanted: list[re.Pattern[str]] = [phrase_pattern(phrase) for phrase in question.phrases]
        self._unwanted = [phrase_pattern(phrase) for phrase in question.absent]
        self._starts = tuple(folded(start) for start in question.beginnings)
        self._folders = tuple(way for folder in question.folders for way in (folder, f"{folder}.md"))
        self._absent_folders = {way for folder in question.absent_folders for way in (folder, f"{folder}.md")}
        self._texts = texts
        self._known: dict[str, bool] = {}

    def __call__(self, hit: Hit) -> bool:
        """Reads the text of each hit once."""
        if self._question.is_plain:
            return True
        if hit.id not in self._known:
            self._known[hit.id] = self._stands_where_it_may(hit) and self._says(hit)
        return self._known[hit.id]

    def those_of(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits that do, in their order; looked at file by file, so that each is read once."""
        for hit in sorted(hits, key=lambda hit: (hit.group, hit.path)):
            self(hit)
        return [hit for hit in hits if self(hit)]

    def _stands_where_it_may(self, hit: Hit) -> bool:
        above = set(folders_of(hit.path))
        tags = set(tags_above(hit.tags))
        return (
            (not self._folders or not above.isdisjoint(self._folders))
            and above.isdisjoint(self._absent_folders)
            and tags.issuperset(self._question.tags)
            and tags.isdisjoint(self._question.absent_tags)
        )

    def _says(self, hit: Hit) -> bool:
        if not (self._wanted or self._unwanted or self._starts):
            return True
        texts = self._texts(hit.group)
        stretch = texts.stretch(hit) if texts is not None else None
        places = [hit.title, *hit.trail, *([stretch.text] if stretch is not None else [])]
        return (
            all(any(pattern.search(place) for place in places) for pattern in self._wanted)
            and not any(pattern.search(place) for pattern in self._unwanted for place in places)
            and all(any(_has_word(start, place) for place in places) for start in self._starts)
        )


def _has_word(start: str, text: str) -> bool:
    return any(folded(token).startswith(start) for token in tokens(text))


def _with_rarest(phrases: Sequence[str], ask: Ask) -> Iterator[Hit]:
    """Every passage that holds the word of the phrases that the fewest hold."""
    words = sorted({token for phrase in phrases for token in tokens(phrase)}, key=lambda word: (-len(word), word))
    for depth in _DEPTHS:
        answers = [ask(word, depth) for word in words[:_MOST_WORDS]]
        shortest = min(answers, key=len, default=[])
        if len(shortest) < depth:
            yield from shortest
            return
