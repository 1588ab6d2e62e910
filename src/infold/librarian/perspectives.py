"""One summary of several passages from a perspective: the request, the words, and what is taken without a model.

The answer is a `Summary`, whose length is its rule.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from infold.librarian.prompts import prompt
from infold.text import collapse_spaces, fenced, folded_words, sentences, word_count

GENERAL: Final = "what they have in common, and what each adds"
_SHORTEST_WORD: Final = 4


@dataclass(frozen=True, slots=True)
class PerspectiveRequest:
    """Passages, each with the place it is from, and from where to look at them."""

    passages: tuple[tuple[str, str], ...]
    perspective: str
    target_words: tuple[int, int]


def perspective_messages(request: PerspectiveRequest) -> list[dict[str, Any]]:
    """The whole conversation that asks for the summary."""
    words = f"{request.target_words[0]}-{request.target_words[1]}"
    passages = "\n\n".join(fenced(text, label="passage", origin=json.dumps(place)) for place, text in request.passages)
    asked = prompt(
        "perspective/request",
        words=words,
        perspective=fenced(request.perspective or GENERAL, label="perspective", origin="person"),
        passages=passages,
    )
    return [
        {"role": "system", "content": prompt("perspective/system")},
        {"role": "user", "content": asked},
    ]


def extracted(request: PerspectiveRequest) -> str:
    """The sentences that say most of what the passages share and of what is asked for, in their order, without a model.

    A sentence counts the words that several passages say, and those of the perspective more; what was said already
    counts no more (as maximal marginal relevance, Carbonell and Goldstein 1998).
    """
    said = [(n, sentence) for n, (_, text) in enumerate(request.passages) for sentence in sentences(text)]
    shared = Counter(word for _, text in request.passages for word in set(_telling(text)))
    wanted = frozenset(_telling(request.perspective))
    chosen: list[int] = []
    covered: set[str] = set()
    count = 0
    while count < request.target_words[0]:
        scored = [
            (_gain(sentence, shared, wanted, covered), -place)
            for place, (_, sentence) in enumerate(said)
            if place not in chosen and count + word_count(sentence) <= request.target_words[1]
        ]
        gain, place = max(scored, default=(0.0, 0))
        if gain <= 0:
            break
        chosen.append(-place)
        covered.update(_telling(said[-place][1]))
        count += word_count(said[-place][1])
    return collapse_spaces(" ".join(said[place][1] for place in sorted(chosen)))


def _gain(sentence: str, shared: Counter[str], wanted: frozenset[str], covered: set[str]) -> float:
    words = set(_telling(sentence)) - covered
    worth = sum(math.log(1 + shared[word]) * (3 if word in wanted else 1) for word in words)
    return worth / math.sqrt(4 + word_count(sentence))


def _telling(text: str) -> list[str]:
    return [word for word in folded_words(text) if len(word) >= _SHORTEST_WORD or not word.isascii()]
