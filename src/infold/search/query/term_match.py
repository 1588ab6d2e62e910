"""What speaks for a passage beside how its words and its meaning rank: what it is called, and how much it covers.

BM25 adds up how often words stand in a passage; one that holds a single word of a question many times passes one that
holds each of them once. A title or a heading that says what was asked, and the share of the question that a passage
covers, set that right: a note about a thing comes before a place that merely names it often. Measured in
docs/evaluation.md, Retrieval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.search.index.contract import Hit
from infold.search.query.fusion import MATCH, Ranking, ranked_by
from infold.search.terms import main_terms, spoken_first

if TYPE_CHECKING:
    from infold.search.index.contract import Demands, Filter
    from infold.search.index.words import WordIndex

TITLE_SHARE: Final = 0.4  # beside the best passage by words, which counts 1
HEADING_SHARE: Final = 0.4
COVERAGE_SHARE: Final = 0.6

Frequencies = Callable[[Collection[str]], Mapping[str, int]]


class AskedTerms(NamedTuple):
    """The words of a question in one language: `weights` is each one's share of what all weigh, by how rare it is."""

    language: str
    weights: Mapping[str, float]
    total: float  # what all weigh


def asked_terms(text: str, languages: Sequence[str], passages: int, frequencies: Frequencies) -> AskedTerms:
    """The words of `text`. `frequencies` says in how many of the `passages` a term stands."""
    language = spoken_first(text, languages)
    known = frequencies(frozenset(main_terms(text, language)))
    rarity = {term: _rarity(count, passages) for term, count in known.items()}
    total = sum(rarity.values())
    return AskedTerms(language, {term: weight / total for term, weight in rarity.items()}, total)


class Coverage:
    """Of points by number, what the terms weigh that they hold of a question: asked for with those meaning has found.

    Points are looked up by number for either, and one look-up for both takes little longer than one for either.
    `numbers` are points that words have found.
    """

    def __init__(self, asked: AskedTerms, numbers: Sequence[int]) -> None:
        self.asked = asked
        self._waiting = numbers
        self._held: dict[int, float] = {}

    def look_up(self, words: WordIndex, numbers: Sequence[int], where: Filter, demands: Demands) -> dict[int, Hit]:
        """The points of these numbers, as `WordIndex.numbered` gives them."""
        if not self.asked.weights:
            return words.numbered(numbers, where, demands)
        wanted = frozenset((*numbers, *self._waiting))
        points, held = words.covered(self.asked.weights, wanted, where, demands)
        self._waiting = ()
        self._held |= held
        return points

    def of(self, words: WordIndex, numbers: Collection[int]) -> list[float]:
        """That of each of these points."""
        held = self._held
        missing = [number for number in numbers if number not in held]
        if missing and self.asked.weights:
            held |= words.covered(self.asked.weights, missing)[1]
        return [held.get(number, 0.0) for number in numbers]


def term_match(
    asked: AskedTerms, hits: Sequence[Hit], held: Sequence[float], passages: int, frequencies: Frequencies
) -> Ranking:
    """The hits by how far title, headings and text meet the words that were asked for; none where there are none.

    `held` is of each hit what the terms that it holds weigh.
    """
    if not asked.weights or not hits:
        return Ranking(MATCH, (), 1.0)
    language, is_other = asked.language, asked.weights.keys().isdisjoint
    titles = {
        title: terms for title in {hit.title for hit in hits} if not is_other(terms := _terms_of(title, language))
    }
    trails = {
        trail: terms for trail in {hit.trail for hit in hits} if not is_other(terms := _of_trail(trail, language))
    }
    known = frequencies(frozenset(asked.weights).union(*titles.values(), *trails.values()))
    rarity = {term: _rarity(count, passages) for term, count in known.items()}
    of_title = {title: TITLE_SHARE * _overlap(terms, asked, rarity) for title, terms in titles.items()}.get
    of_trail = {trail: HEADING_SHARE * _overlap(terms, asked, rarity) for trail, terms in trails.items()}.get
    scores = [
        of_title(hit.title, 0.0) + of_trail(hit.trail, 0.0) + COVERAGE_SHARE * own
        for hit, own in zip(hits, held, strict=True)
    ]
    if not all(scores):
        hits = [hit for hit, score in zip(hits, scores, strict=True) if score > 0]
        scores = [score for score in scores if score > 0]
    return ranked_by(MATCH, hits, scores, 1.0)


def _overlap(name: frozenset[str], asked: AskedTerms, rarity: Mapping[str, float]) -> float:
    """How much a name and a question have in common, from 0 to 1, rare words counting more (Dice's coefficient)."""
    both = sum([rarity[term] for term in name & asked.weights.keys()])
    return 2 * both / (sum([rarity[term] for term in name]) + asked.total)


def _rarity(count: int, passages: int) -> float:
    """As BM25 has it, never 0."""
    return math.log(1 + (max(passages - count, 0) + 0.5) / (count + 0.5))


@lru_cache(maxsize=20_000)
def _terms_of(name: str, language: str) -> frozenset[str]:
    return frozenset(main_terms(name, language))


@lru_cache(maxsize=20_000)
def _of_trail(trail: tuple[str, ...], language: str) -> frozenset[str]:
    return frozenset(main_terms(" ".join(trail), language))
