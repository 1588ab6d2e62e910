"""What each kind of search found for one question, and the one ranking that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infold.search.index.contract import Hit
from infold.search.query.fusion import KEYWORD, MEANING, Ranked, Ranking, by_strength, fuse

if TYPE_CHECKING:
    from infold.settings import Fusion


@dataclass(frozen=True, slots=True)
class Legs:
    """What each kind of search found for one question, and how long it took."""

    keyword: list[Hit]
    dense: list[Hit]
    dense_weight: float
    keyword_ms: float
    dense_ms: float
    keyword_base: float = 0.0  # what a passage that is not among the hits scores at most
    dense_base: float = 0.0
    notice: str = ""  # why it is not all there is
    is_full: bool = False  # whether there may be more, further down
    match: Callable[[Sequence[Hit]], Ranking] | None = None  # what else speaks for what was found

    def ranked(self, fusion: Fusion, fusion_k: int) -> Iterator[Ranked]:
        """The two as one ranking, best first; by strength, with what else speaks for a passage."""
        rankings = [
            Ranking(KEYWORD, self.keyword, 1.0, self.keyword_base),
            Ranking(MEANING, self.dense, self.dense_weight, self.dense_base),
        ]
        if fusion != "strength":
            return iter(fuse(rankings, fusion_k))
        found = {hit.id: hit for ranking in rankings if ranking.weight > 0 for hit in ranking.hits}
        match = (self.match(list(found.values())),) if self.match is not None else ()
        return by_strength([*rankings, *match])
