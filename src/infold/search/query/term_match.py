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
from typing import Final

from infold.search.index.contract import Hit
from infold.search.query.fusion import MATCH, Ranking, best_first
from infold.search.terms import main_terms, spoken_first

TITLE_SHARE: Final = 0.4  # beside the best passage by words, which counts 1
HEADING_SHARE: Final = 0.4
COVERAGE_SHARE: Final = 0.6

Frequencies = Callable[[Collection[str]], Mapping[str, int]]
Covered = Callable[[Mapping[str, float], Sequence[str]], Mapping[str, float]]


def term_match(
    text: str,
    hits: Sequence[Hit],
    languages: Sequence[str],
    *,
    passages: int,
    frequencies: Frequencies,
    covered: Covered,
) -> Ranking:
    """The hits by how far title, headings and text meet the words of `text`; none of them where there are no words.

    `frequencies` says in how many of the `passages` a term stands, `covered` adds the weights of the terms that a point
    holds, by id.
    """
    language = spoken_first(text, languages)
    asked = frozenset(main_terms(text, language))
    if not asked or not hits:
        return Ranking(MATCH, (), 1.0)
    is_other = asked.isdisjoint
    titles = {
        title: terms for title in {hit.title for hit in hits} if not is_other(terms := _terms_of(title, language))
    }
    trails = {
        trail: terms for trail in {hit.trail for hit in hits} if not is_other(terms := _of_trail(trail, language))
    }
    known = frequencies(asked.union(*titles.values(), *trails.values()))
    rarity = {term: _rarity(count, passages) for term, count in known.items()}
    total = sum([rarity[term] for term in asked])
    held = covered({term: rarity[term] / total for term in asked}, [hit.id for hit in hits])
    of_title = {title: TITLE_SHARE * _overlap(terms, asked, total, rarity) for title, terms in titles.items()}
    of_trail = {trail: HEADING_SHARE * _overlap(terms, asked, total, rarity) for trail, terms in trails.items()}
    scores = [
        of_title.get(hit.title, 0.0) + of_trail.get(hit.trail, 0.0) + COVERAGE_SHARE * held.get(hit.id, 0.0)
        for hit in hits
    ]
    matching = [hit for hit, score in zip(hits, scores, strict=True) if score > 0]
    found, ranked = best_first(matching, [score for score in scores if score > 0])
    return Ranking(MATCH, found, 1.0, scores=ranked)


def _overlap(name: frozenset[str], asked: frozenset[str], total: float, rarity: Mapping[str, float]) -> float:
    """How much a name and a question have in common, from 0 to 1, rare words counting more (Dice's coefficient).

    `total` is what all words of the question weigh.
    """
    both = sum([rarity[term] for term in name & asked])
    return 2 * both / (sum([rarity[term] for term in name]) + total)


def _rarity(count: int, passages: int) -> float:
    """As BM25 has it, never 0."""
    return math.log(1 + (max(passages - count, 0) + 0.5) / (count + 0.5))


@lru_cache(maxsize=20_000)
def _terms_of(name: str, language: str) -> frozenset[str]:
    return frozenset(main_terms(name, language))


@lru_cache(maxsize=20_000)
def _of_trail(trail: tuple[str, ...], language: str) -> frozenset[str]:
    return frozenset(main_terms(" ".join(trail), language))
