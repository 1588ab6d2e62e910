"""The embedder of whoever searches by keyword alone: it has no dimension, and its leg of a search weighs nothing."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from infold.search.embed.embedder import EmbedderTraits
from infold.search.index.contract import QueryVector

if TYPE_CHECKING:  # where no vector is made numpy is not loaded
    import numpy as np
    import numpy.typing as npt


class NoEmbedder:
    """Implements `Embedder` for those who have none. An index that was made with it has no vectors."""

    name = ""
    size = 0
    traits = EmbedderTraits(weight=0.0, is_empty=True, is_bundled=True, min_similarity=0.0)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """A row without columns for each text."""
        import numpy as np

        return np.empty((len(texts), 0), dtype=np.float32)

    def embed_query(self, text: str) -> QueryVector:  # noqa: ARG002 - as every embedder
        """No number."""
        return array("f")

    def close(self) -> None:
        """Nothing is held open."""


NO_EMBEDDER: Final = NoEmbedder()
