"""Which paragraphs of an inbox belong together: those that the same notes speak of, and those that go on from another.

No group passes the word limit; a paragraph longer than that stays alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.librarian.answers import Paragraph
from infold.librarian.offline.evidence import Match
from infold.librarian.offline.reading import continues
from infold.text import word_count

JOINED_FROM: Final = 0.30  # at least this alike
_MEANING: Final = 0.35
_HOME: Final = 0.75
_NEXT_TO: Final = 0.05
_GOES_ON: Final = 0.15
_SAME_HEADING: Final = 0.15

Vectors = npt.NDArray[np.float32]


def group(
    paragraphs: Sequence[Paragraph],
    max_words: int,
    rank: Callable[[str], Sequence[Match]],
    vectors: Vectors | None,
) -> list[list[int]]:
    """Groups of paragraph numbers, by joining the two most alike groups as long as that makes sense.

    `rank` gives the notes each paragraph belongs in, with their chances; two paragraphs share a home as far as these
    agree.
    """
    likeness = _likeness(paragraphs, rank, vectors)
    sizes = [word_count(paragraph.text) for paragraph in paragraphs]
    groups: list[list[int]] = [[i] for i in range(len(paragraphs))]
    while True:
        best: tuple[float, int, int] | None = None
        for i, one in enumerate(groups):
            for j in range(i + 1, len(groups)):
                other = groups[j]
                if sum(sizes[k] for k in one) + sum(sizes[k] for k in other) > max_words:
                    continue
                alike = float(np.mean(likeness[np.ix_(one, other)]))
                if alike >= JOINED_FROM and (best is None or alike > best[0]):
                    best = (alike, i, j)
        if best is None:
            break
        _, i, j = best
        groups[i] = sorted(groups[i] + groups[j])
        del groups[j]
    return [[paragraphs[k].n for k in members] for members in groups]


def _likeness(
    paragraphs: Sequence[Paragraph], rank: Callable[[str], Sequence[Match]], vectors: Vectors | None
) -> npt.NDArray[np.float64]:
    many = len(paragraphs)
    homes = [{match.path: match.chance for match in rank(paragraph.text)} for paragraph in paragraphs]
    alike = np.zeros((many, many))
    for i in range(many):
        for j in range(i + 1, many):
            shared = homes[i].keys() & homes[j].keys()
            value = _HOME * sum(min(homes[i][path], homes[j][path]) for path in shared)
            if vectors is not None:
                value += _MEANING * max(0.0, float(vectors[i] @ vectors[j]) - 0.3)
            if j == i + 1:
                is_near = vectors is None or float(vectors[i] @ vectors[j]) > 0.2
                value += _NEXT_TO + (_GOES_ON if is_near and continues(paragraphs[j].text) else 0.0)
            if paragraphs[i].trail and paragraphs[i].trail == paragraphs[j].trail:
                value += _SAME_HEADING
            alike[i, j] = alike[j, i] = value
    return alike
