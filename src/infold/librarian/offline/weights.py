"""What each figure is worth, as fitted by `bench/offline_weights.py`.

NOTE weighs `figures.FIGURES`, NOTE_STANDARD the same as standard scores among the notes compared, SECTION
`sections.FIGURES`, GAP `placing.GAP_FIGURES`. Figures overlap, so a weight alone does not say how much its figure
matters. The links weigh against a note: a paragraph that links to a note seldom stands in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.text import content_hash

NOTE: Final[Mapping[str, float]] = {
    "whole": -0.70,
    "coverage": -0.81,
    "title": -2.50,
    "title_first": 0.85,
    "headings": -0.92,
    "key_terms": -0.06,
    "title_held": 0.55,
    "title_whole": -0.02,
    "likelihood": 0.01,
    "explained": -1.42,
    "centre_meaning": 0.63,
    "centre_own_meaning": -1.05,
    "piece_meaning": -0.16,
    "is_linked": -2.89,
    "shared_links": -0.72,
    "has_anchors": 2.47,
    "length": -0.09,
    "paragraphs": 0.27,
    "sections": 0.12,
    "variety": 0.30,
    "place": 0.34,
}
NOTE_STANDARD: Final[Mapping[str, float]] = {
    "whole": 0.43,
    "coverage": 0.22,
    "title": 0.08,
    "title_first": 0.11,
    "headings": 0.14,
    "key_terms": 0.14,
    "title_held": 0.04,
    "title_whole": 0.15,
    "likelihood": 0.32,
    "explained": 0.28,
    "centre_meaning": 0.34,
    "centre_own_meaning": 0.17,
    "piece_meaning": 0.22,
    "is_linked": -0.69,
    "shared_links": -0.01,
    "has_anchors": 0.61,
    "length": -0.15,
    "paragraphs": 0.05,
    "sections": 0.10,
    "variety": 0.13,
    "place": 0.24,
}
SECTION: Final[Mapping[str, float]] = {
    "own_terms": 1.51,
    "likelihood": 0.54,
    "likelihood_gap": 0.49,
    "best_piece": -2.94,
    "heading_terms": 2.67,
    "heading_first": 1.12,
    "around": 1.19,
    "own_key_terms": 0.60,
    "meaning": 3.08,
    "piece_meaning": -1.36,
    "heading_own_meaning": 3.08,
    "empty_leaf": 2.51,
    "empty_parent": -0.49,
    "lead": 0.76,
    "lead_titled": -0.04,
    "empty_lead_titled": 6.05,
    "lead_defined": 1.85,
    "bare_lead_defined": 4.16,
    "no_prose": 0.42,
    "heading_subject": 1.37,
    "last_defined": -0.09,
    "last_title_share": 2.56,
    "length": 0.20,
    "only_items": -1.85,
    "announced": 2.35,
    "siblings_begin_with_prose": 0.92,
    "depth": 0.28,
    "is_linked": -4.00,
}
GAP: Final[Mapping[str, float]] = {
    "nearer": 0.79,
    "shown_below": 1.37,
    "announced": 5.42,
}

# The least `whole` plus `centre_meaning` by which a note may take a paragraph in, and the least `whole` where there are
# no embeddings. Set so that one paragraph in a hundred that has a home is turned away; of text foreign to the vault
# it turns nineteen of twenty away.
FLOOR: Final = 0.42
FLOOR_OF_WORDS: Final = 0.18


def digest() -> str:
    """What tells these weights from any others: kept decisions are of the weights that they were taken by."""
    constants = [(name, value) for name, value in sorted(globals().items()) if name.isupper()]
    return content_hash(repr(constants))[:12]


def vector(worth: Mapping[str, float], names: Sequence[str]) -> npt.NDArray[np.float64]:
    """The weights in the order of `names`; a figure that is not weighed counts nothing."""
    return np.array([worth.get(name, 0.0) for name in names])
