"""What each figure is worth, as fitted by `bench/offline_weights.py`.

NOTE weighs `figures.FIGURES`, SECTION weighs `sections.FIGURES`. Figures overlap, so a weight alone does not say how
much its figure matters. The links weigh against a note: a paragraph that links to a note seldom stands in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

NOTE: Final[Mapping[str, float]] = {
    "whole": 0.48,
    "coverage": 1.86,
    "title": 5.09,
    "title_first": 1.54,
    "headings": 6.09,
    "key_terms": 0.56,
    "likelihood": 1.40,
    "centre_meaning": 6.66,
    "centre_own_meaning": 0.80,
    "piece_meaning": -0.19,
    "is_linked": -8.83,
    "shared_links": -1.43,
    "length": 0.46,
    "place": 0.70,
}
SECTION: Final[Mapping[str, float]] = {
    "own_terms": 1.66,
    "likelihood": 0.53,
    "likelihood_gap": 0.47,
    "best_piece": -3.67,
    "heading_terms": 2.60,
    "heading_first": 1.93,
    "around": 1.05,
    "own_key_terms": 0.66,
    "meaning": 2.97,
    "piece_meaning": -1.04,
    "heading_own_meaning": 3.07,
    "empty_leaf": 2.30,
    "empty_parent": -0.84,
    "lead": 0.82,
    "lead_titled": 2.11,
    "empty_lead_titled": 6.74,
    "last_title_share": 2.21,
    "length": 0.15,
    "only_items": -1.23,
    "announced": 2.39,
    "siblings_begin_with_prose": 1.02,
    "depth": 0.26,
}

# The least `whole` plus `centre_meaning` by which a note may take a paragraph in, and the least `whole` where there are
# no embeddings. Set so that one paragraph in a hundred that has a home is turned away; of text foreign to the vault
# it turns nineteen of twenty away.
FLOOR: Final = 0.42
FLOOR_OF_WORDS: Final = 0.18


def vector(worth: Mapping[str, float], names: Sequence[str]) -> npt.NDArray[np.float64]:
    """The weights in the order of `names`; a figure that is not weighed counts nothing."""
    return np.array([worth.get(name, 0.0) for name in names])
