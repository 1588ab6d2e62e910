"""Which paragraphs of an inbox belong together: those of one home, and those that go on from another.

No group passes the word limit; a paragraph longer than that stays alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.librarian.answers import Paragraph
from infold.librarian.offline.reading import continues
from infold.text import word_count

JOINED_FROM: Final = 0.40  # at least this alike
_SAME_BEST: Final = 0.20
_MEANING: Final = 0.35
_USUAL_MEANING: Final = 0.30  # a cosine that paragraphs of one vault have anyway
_NEXT_TO: Final = 0.05
_GOES_ON: Final = 0.20
_GOES_ON_MEANING: Final = 0.20
_SAME_HEADING: Final = 0.20

Vectors = npt.NDArray[np.float32]
Table = npt.NDArray[np.float64]


def group(
    paragraphs: Sequence[Paragraph],
    max_words: int,
    homes: Callable[[str], Mapping[str, float]],
    vectors: Vectors | None,
) -> list[list[int]]:
    """Groups of paragraph numbers, by joining the two most alike groups as long as that makes sense.

    `homes` gives the notes each paragraph belongs in, with their chances. The time is of the square of the paragraphs.
    """
    likeness = _likeness(paragraphs, [homes(paragraph.text) for paragraph in paragraphs], vectors)
    joining = _Joining(likeness, [word_count(paragraph.text) for paragraph in paragraphs], max_words)
    while joining.join():
        pass
    return sorted([paragraphs[k].n for k in sorted(members)] for members in joining.groups if members)


class _Joining:
    """Groups that are joined two by two, the most alike first. One that went into another is empty.

    The best partner of each group is kept. A join makes no other pair more alike and lets none in, so only the groups
    that had one of the two as partner look for another.
    """

    def __init__(self, likeness: Table, words: Sequence[int], max_words: int) -> None:
        self.groups = [[i] for i in range(len(words))]
        self._sums = likeness  # over all pairs between two groups
        self._counts = np.ones(len(words))
        self._words = np.array(words)
        self._max_words = max_words
        self._best = np.full(len(words), -np.inf)
        self._partner = np.zeros(len(words), dtype=np.intp)
        for i in range(len(words)):
            self._look(i)

    def join(self) -> bool:
        """Joins the two most alike groups; False where none are alike enough."""
        one = int(np.argmax(self._best)) if len(self._best) else 0
        if not len(self._best) or self._best[one] < JOINED_FROM:
            return False
        other = int(self._partner[one])
        self.groups[one] += self.groups[other]
        self.groups[other] = []
        self._sums[one] += self._sums[other]
        self._sums[:, one] = self._sums[one]
        self._words[one] += self._words[other]
        self._counts[one] += self._counts[other]
        self._counts[other] = 0
        for i in np.flatnonzero((self._partner == one) | (self._partner == other)):
            self._look(int(i))
        self._look(one)
        self._look(other)
        return True

    def _look(self, i: int) -> None:
        """Finds the group most like group `i` among those that may join it."""
        may = (self._counts > 0) & (self._words + self._words[i] <= self._max_words)
        may[i] = False
        if not self._counts[i] or not may.any():
            self._best[i] = -np.inf
            return
        alike = np.where(may, self._sums[i] / np.maximum(1, self._counts * self._counts[i]), -np.inf)
        self._partner[i] = np.argmax(alike)
        self._best[i] = alike[self._partner[i]]


def _likeness(paragraphs: Sequence[Paragraph], homes: Sequence[Mapping[str, float]], vectors: Vectors | None) -> Table:
    """How alike each two paragraphs are: the chance that both belong in one note, and what else speaks for it."""
    many = len(paragraphs)
    notes = {path: column for column, path in enumerate(dict.fromkeys(path for own in homes for path in own))}
    chances = np.zeros((many, len(notes)))
    best = np.arange(-many, 0)  # of a paragraph without a home: its own
    for row, own in enumerate(homes):
        for path, chance in own.items():
            chances[row, notes[path]] = chance
        if own:
            best[row] = notes[max(own, key=lambda path: own[path])]
    alike: Table = chances @ chances.T + _SAME_BEST * (best[:, None] == best[None, :])
    near = None if vectors is None else np.asarray(vectors @ vectors.T, dtype=np.float64)
    if near is not None:
        alike += _MEANING * np.maximum(0.0, near - _USUAL_MEANING)
    for i in range(many - 1):
        is_near = near is None or near[i, i + 1] > _GOES_ON_MEANING
        alike[i, i + 1] += _NEXT_TO + (_GOES_ON if is_near and continues(paragraphs[i + 1].text) else 0.0)
        alike[i + 1, i] = alike[i, i + 1]
    trails: dict[tuple[str, ...], list[int]] = {}
    for i, paragraph in enumerate(paragraphs):
        if paragraph.trail:
            trails.setdefault(paragraph.trail, []).append(i)
    for members in trails.values():
        alike[np.ix_(members, members)] += _SAME_HEADING
    return alike
