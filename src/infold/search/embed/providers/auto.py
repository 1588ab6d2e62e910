"""`auto`: the ONNX model in use where there is one that can run here, else the static one.

Without such a model this choice reads one small file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infold.environment import Environment
from infold.search.embed.embedder import Embedder
from infold.search.embed.models import find_local_model
from infold.search.embed.providers import static

if TYPE_CHECKING:
    from infold.settings import SearchParams


def open_embedder(params: SearchParams, environment: Environment) -> Embedder:
    """The best that is at hand without a service."""
    return find_local_model(params.embedding_model) or static.open_embedder(params, environment)
