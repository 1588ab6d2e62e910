"""What the whole vault says about a term: how many notes hold it, how long notes are.

Exact up to a few hundred notes; beyond that taken from an even sample of them, so that starting stays quick in a vault
of any size. A term that no sampled note holds counts as rare. What was counted can be packed, so that it is counted
once for each state of the vault.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgpack

from infold.librarian.offline.reading import NoteFeatures
from infold.text import folded_words

SAMPLED_NOTES: Final = 600
_LEAST_NOTES: Final = 30  # a smaller vault is weighed as if it had as many: one note says little about what is rare

_FEW_NOTES: Final = 3
_COMMON_SHARE: Final = 0.05


@dataclass(frozen=True, slots=True)
class TermCounts:
    """What was counted in the readings of some notes."""

    notes: int
    length: int  # of all of them, in terms
    documents: Mapping[str, int]  # how many of them hold each term
    occurrences: Mapping[str, int]  # how often it stands in all of them
    words: Mapping[str, int]  # how many hold each case-folded word; those that several hold

    def packed(self) -> bytes:
        """As bytes."""
        shared = {word: held for word, held in self.words.items() if held > _FEW_NOTES}
        numbers = [(term, held, self.occurrences[term]) for term, held in self.documents.items()]
        data: bytes = msgpack.packb((self.notes, self.length, numbers, shared))
        return data

    @classmethod
    def unpacked(cls, data: bytes) -> TermCounts:
        """What was packed."""
        notes, length, numbers, words = msgpack.unpackb(data)
        documents = {term: held for term, held, _ in numbers}
        return cls(notes, length, documents, {term: often for term, _, often in numbers}, words)


class Corpus:
    """Frequencies over readings of the vault's notes."""

    def __init__(self, counts: TermCounts) -> None:
        self._counts = counts
        self._weights: dict[str, float] = {}
        self._sampled = max(_LEAST_NOTES, counts.notes)
        self._total = max(1, counts.length)
        self._common = max(_FEW_NOTES, _COMMON_SHARE * counts.notes)
        self.mean_length = max(1.0, counts.length / max(1, counts.notes))

    def weight(self, term: str) -> float:
        """The term's inverse document frequency, in BM25's form."""
        known = self._weights.get(term)
        if known is None:
            held = self._counts.documents.get(term, 0)
            known = self._weights[term] = math.log(1 + (self._sampled - held + 0.5) / (held + 0.5))
        return known

    def is_common(self, word: str) -> bool:
        """Whether more than a few notes hold this case-folded word, as it stands."""
        return self._counts.words.get(word, 0) > self._common

    def share(self, term: str) -> float:
        """How much of all text the term is."""
        return (self._counts.occurrences.get(term, 0) + 0.5) / self._total


def sampled(paths: Sequence[str], limit: int = SAMPLED_NOTES) -> list[str]:
    """An even sample of sorted paths: the same for the same vault."""
    ordered = sorted(paths)
    if len(ordered) <= limit:
        return ordered
    step = len(ordered) / limit
    return [ordered[int(i * step)] for i in range(limit)]


def gather(paths: Sequence[str], read: Callable[[str], NoteFeatures | None]) -> TermCounts:
    """What a sample of the notes at `paths` holds; one that cannot be read is left out."""
    documents, occurrences, words = Counter[str](), Counter[str](), Counter[str]()
    notes = length = 0
    for path in sampled(paths):
        reading = read(path)
        if reading is not None:
            notes, length = notes + 1, length + reading.length
            documents.update(reading.terms.keys())
            occurrences.update(reading.terms.elements())
            words.update(set(folded_words(reading.note.text)))
    return TermCounts(notes, length, documents, occurrences, words)
