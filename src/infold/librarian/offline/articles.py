"""Contextual summaries without a model: what a part says of what its whole article is about.

A short part is its own summary. A section or an article is summarised as a note is, by its lead and the beginnings of
its parts; of a long paragraph the sentences are taken that hold most of the article's own words, in their order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Final

from infold.librarian.articles import ArticlePart, ArticleRequest, ArticleSummaries
from infold.librarian.offline.summaries import cut_words, extract, prose
from infold.text import folded_words, sentences, word_count

_SHORTEST_WORD: Final = 4  # shorter ones are seldom what a text is about


def article_summaries(request: ArticleRequest) -> ArticleSummaries:
    """The summaries that `request` asks for, from the article's own words."""
    weights = _weights(request.text)
    given = [{"number": part.number, "summary": _summary(part, weights)} for part in request.parts]
    return ArticleSummaries.model_validate({"summaries": given}, context={"request": request})


def _summary(part: ArticlePart, weights: Mapping[str, float]) -> str:
    low, high = part.words
    own = prose(part.text) if part.kind == "paragraph" else []
    if own and word_count(" ".join(own)) <= high:
        return " ".join(own)
    said = _central("\n\n".join(own), weights, low, high) if own else extract(part.text, low, high)
    return said or (part.trail[-1] if part.trail else "") or "(empty)"


def _central(text: str, weights: Mapping[str, float], low: int, high: int) -> str:
    """The sentences of `text` that hold most of the article's words for their length, in their order."""
    parts = sentences(text)
    scores = [_score(sentence, weights) for sentence in parts]
    chosen: set[int] = set()
    count = 0
    for place in sorted(range(len(parts)), key=lambda n: (-scores[n], n)):
        length = word_count(parts[place])
        if count >= low:
            break
        if count + length <= high:
            chosen.add(place)
            count += length
    if not chosen:
        return cut_words(text, low, high)
    return " ".join(parts[place] for place in sorted(chosen))


def _score(sentence: str, weights: Mapping[str, float]) -> float:
    said = set(folded_words(sentence))
    return sum(weights.get(word, 0.0) for word in said) / math.sqrt(1 + len(said)) if said else 0.0


def _weights(text: str) -> dict[str, float]:
    """What each word is worth for what the article is about: how often it says it, long words only."""
    counts = Counter(word for word in folded_words(text) if len(word) >= _SHORTEST_WORD or not word.isascii())
    return {word: math.log(count) + 0.1 for word, count in counts.items()}
