"""`static`: the embeddings that come with the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.environment import Environment
from infold.search.embed.embedder import Embedder
from infold.search.embed.static_embedder import StaticEmbedder

if TYPE_CHECKING:
    from infold.settings import SearchParams

NEXT_RUNG: Final = "onnx"


def open_embedder(params: SearchParams, environment: Environment) -> Embedder:  # noqa: ARG001 - as every provider
    """Loads nothing yet."""
    return StaticEmbedder()
