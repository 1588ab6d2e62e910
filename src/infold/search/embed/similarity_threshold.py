"""How near two texts that have nothing to do with each other come, for each embedding model.

A search by meaning always finds something. What is no nearer than unrelated texts are is no answer, so that a question
about nothing gets none. Measured, not chosen: see `bench/cosine_floors.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from infold.search.embed.embedder import Embedder

# Texts of which no two have to do with each other, for a model that nobody has measured.
UNRELATED: Final = (
    "How long does a sourdough rise in a cold kitchen?",
    "The court dismissed the appeal on procedural grounds.",
    "Replace the rear derailleur hanger before the chain.",
    "Interest rates were left unchanged in March.",
    "The whale surfaced twice and dived under the ice.",
    "Mount the volume read-only and run a file system check.",
    "She practised the left hand of the sonata for weeks.",
    "Photosynthesis slows when the stomata close.",
    "xqzt blorf wugeln prask",
    "Phone: 555-1234",
)
_SPREAD: Final = 4.0  # standard deviations above the mean: what the best of a thousand unrelated passages comes to

_measured: dict[str, float] = {}


def floor_of(embedder: Embedder) -> float:
    """The cosine below which a passage has nothing to do with the question, for this model."""
    known = embedder.traits.min_similarity
    if known is not None:
        return known
    name = embedder.name
    if name not in _measured:
        _measured[name] = measured_floor(embedder)
    return _measured[name]


def measured_floor(embedder: Embedder) -> float:
    """The floor of a model that is not in the list, from ten texts: rougher, and a matter of one call."""
    import numpy as np

    vectors = embedder.embed(list(UNRELATED))
    pairs = (vectors @ vectors.T)[np.triu_indices(len(UNRELATED), 1)]
    return float(min(pairs.mean() + _SPREAD * pairs.std(), 0.95))
