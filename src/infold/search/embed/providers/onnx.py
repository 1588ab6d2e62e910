"""`onnx`: a local model, the one that `search.embedding_model` names or else the one in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infold.environment import Environment
from infold.search.embed.embedder import Embedder
from infold.search.embed.models import open_model

if TYPE_CHECKING:
    from infold.settings import SearchParams


def open_embedder(params: SearchParams, environment: Environment) -> Embedder:  # noqa: ARG001 - as every provider
    """Raises ModelUnusable where it is not here, saying how to get one."""
    return open_model(params.embedding_model)
