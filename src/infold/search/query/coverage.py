"""How much of a question's words the points that were found hold: asked for with the points that meaning has found.

Points are looked up by number for either, and one look-up for both takes little longer than one for either.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infold.search.index.contract import Demands, Filter, Hit
    from infold.search.index.words import WordIndex
    from infold.search.query.term_match import AskedTerms


class Coverage:
    """Of points by number, what the terms weigh that they hold of a question; `numbers` are found and not yet asked."""

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
