"""What an embedder promises: vectors of unit length for texts, under one name, with traits that a search goes by.

Providers are in modules of their own, which of them is used is said by `search.embed.providers`. Keeping vectors
belongs to `catalogue.embeddings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

from infold.search.index.contract import AnyVector, QueryVector

if TYPE_CHECKING:
    from array import array

    import numpy as np
    import numpy.typing as npt

# What a leg of a hybrid search weighs beside keywords, which weigh 1. Measured by `bench.retrieval`, see
# docs/evaluation.md: from 0.3 to 0.375 the static one gains nDCG@10 and recall on two draws, at 0.45 the largest vault
# loses; with twice the weight MiniLM loses headings that stand word for word in a note. `search.dense_weight` sets it.
STATIC_WEIGHT: Final = 0.375
MODEL_WEIGHT: Final = 1.0


class EmbedderTraits(NamedTuple):
    """What a search and a sync go by.

    `weight` is what its leg of a hybrid search counts beside keywords, which count 1: as measured, not as hoped.
    `is_quick`: vectors cost so little that they are computed with the words, each time they are wanted, and not kept.
    `is_bundled`: it comes with the program. `is_paid`: each text costs money. `is_empty`: it has no vectors at all, and
    search is by keyword alone (`no_embedder`). `min_similarity` is the cosine that unrelated texts do not reach, where
    it is known; else ten texts are asked (`similarity_threshold`).
    """

    weight: float = MODEL_WEIGHT
    is_quick: bool = False
    is_bundled: bool = False
    is_paid: bool = False
    is_empty: bool = False
    min_similarity: float | None = None


class Embedder(Protocol):
    """Gives each text a vector of unit length; equal texts get equal vectors under one `name`."""

    @property
    def name(self) -> str:
        """Which model: vectors are kept under it, and never mixed with another's."""

    @property
    def size(self) -> int:
        """How long a vector is."""

    @property
    def traits(self) -> EmbedderTraits:
        """What a search and a sync go by."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text, of unit length; a text without a known token gets a row of zeros."""

    def embed_query(self, text: str) -> QueryVector:
        """The vector to look for what answers `text`: some models want a question told apart from a passage."""

    def close(self) -> None:
        """Lets go of what is held open."""


@runtime_checkable
class FewEmbedder(Protocol):
    """An embedder that needs no numpy for a few texts."""

    def embed_few(self, texts: Sequence[str]) -> list[array[float]] | None:
        """What `embed` gives, to the last bit; None where `embed` takes less time, or these texts want it."""


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> Sequence[AnyVector]:
    """The vector of each text, without numpy where the embedder can."""
    few = embedder.embed_few(texts) if isinstance(embedder, FewEmbedder) else None
    return [*embedder.embed(texts)] if few is None else few


def unit_rows(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Each row scaled to length 1; rows of zeros stay as they are."""
    import numpy as np

    norms: npt.NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
    norms[norms == 0] = 1
    return np.divide(vectors, norms, dtype=np.float32)
