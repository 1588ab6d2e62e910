"""What the whole vault says about a term: how many notes hold it, how long notes are.

Exact up to a few hundred notes; beyond that taken from an even sample of them, so that starting stays quick in a vault
of any size. A term that no sampled note holds counts as rare.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from infold.librarian.offline.reading import NoteFeatures
from infold.text import folded_words

SAMPLED_NOTES: Final = 600
_LEAST_NOTES: Final = 30  # a smaller vault is weighed as if it had as many: one note says little about what is rare

_FEW_NOTES: Final = 3
_COMMON_SHARE: Final = 0.05


class Corpus:
    """Frequencies over readings of the vault's notes. `size` is how many notes the vault has in all."""

    def __init__(self, readings: Sequence[NoteFeatures], size: int) -> None:
        self._documents: Counter[str] = Counter()
        self._occurrences: Counter[str] = Counter()
        for reading in readings:
            self._documents.update(reading.terms.keys())
            self._occurrences.update(reading.terms)
        self._words: Counter[str] | None = None
        self._texts = [reading.note.text for reading in readings]
        self._sampled = max(_LEAST_NOTES, len(readings))
        self._total = max(1, self._occurrences.total())
        self.size = max(size, 1)
        self.mean_length = max(1.0, sum(reading.length for reading in readings) / max(1, len(readings)))

    def weight(self, term: str) -> float:
        """The term's inverse document frequency, in BM25's form."""
        held = self._documents.get(term, 0)
        return math.log(1 + (self._sampled - held + 0.5) / (held + 0.5))

    def is_common(self, word: str) -> bool:
        """Whether more than a few notes hold this case-folded word, as it stands."""
        if self._words is None:
            self._words = Counter(held for text in self._texts for held in set(folded_words(text)))
        return self._words[word] > max(_FEW_NOTES, _COMMON_SHARE * len(self._texts))

    def share(self, term: str) -> float:
        """How much of all text the term is."""
        return (self._occurrences.get(term, 0) + 0.5) / self._total


def sampled(paths: Sequence[str], limit: int = SAMPLED_NOTES) -> list[str]:
    """An even sample of sorted paths: the same for the same vault."""
    ordered = sorted(paths)
    if len(ordered) <= limit:
        return ordered
    step = len(ordered) / limit
    return [ordered[int(i * step)] for i in range(limit)]


def gather(paths: Sequence[str], read: Callable[[str], NoteFeatures | None]) -> Corpus:
    """The corpus of the notes at `paths`; one that cannot be read is left out."""
    readings = [reading for path in sampled(paths) if (reading := read(path)) is not None]
    return Corpus(readings, len(paths))
