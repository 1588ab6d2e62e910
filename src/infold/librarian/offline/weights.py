"""What each figure is worth, as fitted by `bench/offline_weights.py`.

NOTE weighs `figures.FIGURES`, SECTION weighs `sections.FIGURES`. Figures overlap, so a weight alone does not say how
much its figure matters: `best_pieces` corrects what `whole` and `coverage` have counted already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

NOTE: Final[Mapping[str, float]] = {
    "whole": 2.23,
    "best_pieces": -2.19,
    "coverage": 2.39,
    "title": 4.32,
    "title_first": 1.45,
    "headings": 5.65,
    "key_terms": 0.53,
    "likelihood": 1.41,
    "centre_meaning": 5.30,
    "centre_own_meaning": 1.69,
    "piece_meaning": 0.65,
    "neighbours": 2.20,
    "is_linked": -8.49,
    "shared_links": -1.76,
    "length": 0.48,
    "place": 0.72,
}
SECTION: Final[Mapping[str, float]] = {
    "own_terms": 2.02,
    "likelihood": 0.46,
    "likelihood_gap": 0.41,
    "best_piece": -3.00,
    "heading_terms": 2.30,
    "heading_share": 0.20,
    "heading_first": 1.93,
    "around": 0.95,
    "meaning": 3.06,
    "piece_meaning": -1.54,
    "heading_meaning": 0.86,
    "heading_own_meaning": 2.81,
    "empty_leaf": 2.49,
    "empty_parent": -0.66,
    "lead": 0.69,
    "lead_titled": 1.32,
    "empty_lead_titled": 6.27,
    "lead_title_share": 0.76,
    "last_title_share": 2.50,
    "length": 0.19,
    "only_items": -1.02,
    "only_code": 1.25,
    "announced": 2.34,
    "unannounced": -0.03,
    "siblings_begin_with_prose": 0.96,
    "goes_on": 0.72,
    "same_form": 1.15,
    "ends_announcing": 0.03,
    "depth": 0.17,
}

# The least `whole` plus `centre_meaning` by which a note may take a paragraph in, and the least `whole` where there are
# no embeddings. Set so that one paragraph in a hundred that has a home is turned away; of text foreign to the vault
# it turns nineteen of twenty away.
FLOOR: Final = 0.42
FLOOR_OF_WORDS: Final = 0.18


def vector(worth: Mapping[str, float], names: Sequence[str]) -> npt.NDArray[np.float64]:
    """The weights in the order of `names`; a figure that is not weighed counts nothing."""
    return np.array([worth.get(name, 0.0) for name in names])
