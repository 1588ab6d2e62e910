"""Where a document belongs among memory trees, by evidence: what search found of it, and the words that trees share.

A word counts the more, the fewer trees have it. A tree fits where both together reach a least score; a part of it where
it has more than half of what the tree has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from infold.librarian.trees import NONE, Home, HomeRequest, PartCard, TreeCard
from infold.text import folded_words

LEAST_SCORE: Final = 0.25
_PART_SHARE: Final = 0.5
_SHORTEST_WORD: Final = 4
_SHOWN_WORDS: Final = 5


def home_of(request: HomeRequest) -> Home:
    """The tree and the part that fit best, or none."""
    said = _weighed(request)
    scores = {tree.id: _score(tree, said) for tree in request.trees}
    if not scores:
        return _home(request, NONE, 0.0, "There are no trees yet.")
    best = max(request.trees, key=lambda tree: (scores[tree.id], tree.evidence, tree.id))
    score = scores[best.id]
    if score < LEAST_SCORE:
        return _home(request, NONE, 1.0 - score, f"No tree is near it; the nearest is {best.id} with {score:.2f}.")
    shared = sorted(_shared(_words_of(best), said), key=lambda word: (-said[word], word))[:_SHOWN_WORDS]
    words = f"; words in common: {', '.join(shared)}" if shared else ""
    part = _part(best, said)
    reason = f"Search found {best.evidence:.0%} of the evidence there{words}."
    return _home(request, best.id, score, reason, part.id if part is not None else "")


def _home(request: HomeRequest, tree: str, score: float, reason: str, part: str = "") -> Home:
    values = {"tree": tree, "part": part, "score": round(min(score, 1.0), 4), "reason": reason}
    return Home.model_validate(values, context={"request": request})


def _part(tree: TreeCard, said: Mapping[str, float]) -> PartCard | None:
    scored = [(_score(part, said), part.id, part) for part in tree.parts]
    best = max(scored, default=None)
    if best is None or best[0] < LEAST_SCORE or best[2].evidence < _PART_SHARE * tree.evidence:
        return None
    return best[2]


def _score(card: TreeCard | PartCard, said: Mapping[str, float]) -> float:
    """Half by the weight of the document's words that the card has, half by what search found where it has some.

    The evidence alone tells nothing: of a document that belongs nowhere, something is nearest too.
    """
    total = sum(said.values())
    words = sum(said[word] for word in _shared(_words_of(card), said))
    covered = min(1.0, math.sqrt(words / total)) if total else 0.0
    return 0.5 * covered + 0.5 * min(card.evidence, 1.0) * min(1.0, 2 * covered)


def _shared(words: set[str], said: Mapping[str, float]) -> set[str]:
    return words & said.keys()


def _weighed(request: HomeRequest) -> dict[str, float]:
    """The words of the document with their weights: rare among the trees counts more."""
    holders = Counter(word for tree in request.trees for word in _words_of(tree))
    most = len(request.trees)
    counted = Counter(_telling(folded_words(request.text)))
    return {word: (1 + math.log(n)) * math.log(1 + (most + 1) / (holders[word] + 0.5)) for word, n in counted.items()}


def _words_of(card: TreeCard | PartCard) -> set[str]:
    parts = card.parts if isinstance(card, TreeCard) else ()
    texts = (
        card.title,
        card.about,
        *card.found,
        *(text for part in parts for text in (part.title, part.about, *part.found)),
    )
    return set(_telling([word for text in texts for word in folded_words(text)]))


def _telling(words: Sequence[str]) -> list[str]:
    """The words that may tell something; short ones of alphabets seldom do."""
    return [word for word in words if len(word) >= _SHORTEST_WORD or not word.isascii()]
