"""What of a text answers a question: its sentences with the question's words; and which words nothing answers.

Words are compared by their beginnings, so that endings do not matter, in any language that has any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from infold.search.query.query_parser import read_question
from infold.text import folded_words

_ENDING: Final = 3  # letters at the end of a long word that do not count
_STEM: Final = 4  # letters that always do
_UNIT: Final = re.compile(r"\n+|(?<=[.!?…])[\"'”’)\]*_]*[ \t]+(?=[\"'“‘(\[*_]*[^\sa-z])|(?<=[。！？])")
_HEADING: Final = re.compile(r"#{1,6}\s")


def content_words(question: str) -> tuple[str, ...]:
    """The words of the question that say what it is about, folded and without their endings."""
    said = folded_words(read_question(question).keywords) or folded_words(question)
    return tuple(dict.fromkeys(_beginning(word) for word in said))


def missing_words(question: str, texts: Sequence[str]) -> list[str]:
    """The words of the question, as written there, that stand in none of `texts`."""
    asked = {_beginning(word): word for word in reversed(folded_words(read_question(question).keywords))}
    left = dict(sorted(asked.items(), key=lambda item: question.casefold().find(item[1])))
    for text in texts:
        if not left:
            break
        folded = text.casefold()
        left = {form: word for form, word in left.items() if form not in folded}
    return list(left.values())


def key_sentences(text: str, words: Sequence[str], share: float) -> str:
    """The sentences of `text` with most of `words`, in their order, about `share` of its length; at least one.

    What is left out between two is shown by `…`. A text of one sentence is given whole.
    """
    units = _units(text)
    if len(units) < 2:
        return text
    room = max(share * len(text), 1)
    order = sorted(range(len(units)), key=lambda at: (-_weight(units[at], words, at), at))
    kept: set[int] = set()
    for at in order:
        if not kept or len(units[at]) <= room:
            kept.add(at)
            room -= len(units[at])
        if room <= 0:
            break
    return _joined(units, sorted(kept))


def _units(text: str) -> list[str]:
    """Sentences and lines, stripped; a heading is none, because it is given with its piece."""
    found: list[str] = []
    at = 0
    for end in _UNIT.finditer(text):
        found.append(text[at : end.end()].strip())
        at = end.end()
    found.append(text[at:].strip())
    return [unit for unit in found if unit and not _HEADING.match(unit)]


def _weight(unit: str, words: Sequence[str], at: int) -> float:
    folded = unit.casefold()
    hits = sum(word in folded for word in words)
    return hits + (0.5 if at == 0 else 0.0) + min(len(unit), 200) / 1000


def _joined(units: Sequence[str], kept: Sequence[int]) -> str:
    parts: list[str] = []
    before = -1
    for at in kept:
        if at != before + 1:
            parts.append("…")
        parts.append(units[at])
        before = at
    if before != len(units) - 1:
        parts.append("…")
    return "\n".join(parts)


def _beginning(word: str) -> str:
    return word[: max(_STEM, len(word) - _ENDING)]
