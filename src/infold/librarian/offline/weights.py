"""What each figure is worth. Fitted by `bench/offline_weights.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

NOTE: Final[Mapping[str, float]] = {
    "whole": 1.67,
    "best_pieces": -2.11,
    "coverage": 2.79,
    "title": 3.77,
    "title_first": 1.39,
    "headings": 5.07,
    "key_terms": 0.55,
    "likelihood": 1.31,
    "centre_meaning": 5.40,
    "centre_own_meaning": 1.48,
    "piece_meaning": 0.72,
    "neighbours": 2.07,
    "is_linked": -8.02,
    "shared_links": -1.68,
    "length": 0.39,
    "place": 0.72,
}
SECTION: Final[Mapping[str, float]] = {
    "own_terms": 2.00,
    "likelihood": 0.56,
    "likelihood_gap": 0.50,
    "best_piece": -3.48,
    "meaning": 3.22,
    "piece_meaning": -1.23,
    "heading_terms": 2.48,
    "heading_share": 0.17,
    "heading_first": 2.05,
    "heading_meaning": 0.44,
    "heading_own_meaning": 2.65,
    "around": 0.95,
    "empty_leaf": 2.60,
    "empty_parent": -0.65,
    "lead": 0.76,
    "lead_titled": 1.66,
    "empty_lead_titled": 6.48,
    "lead_title_share": 0.51,
    "last_title_share": 2.26,
    "length": 0.19,
    "only_items": -0.97,
    "only_code": 1.34,
    "announced": 2.26,
    "unannounced": -0.13,
    "siblings_begin_with_prose": 0.93,
    "goes_on": 0.83,
    "same_form": 1.12,
    "ends_announcing": -1.09,
    "depth": 0.21,
}

FLOOR: Final = 0.2  # the least share of what a paragraph says that its note must speak of


def vector(worth: Mapping[str, float], names: Sequence[str]) -> npt.NDArray[np.float64]:
    """The weights in the order of `names`; a figure that is not weighed counts nothing."""
    return np.array([worth.get(name, 0.0) for name in names])
