"""`service`: an OpenAI-compatible endpoint, by the keys and hosts of the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.environment import Environment
from infold.search.embed.embedder import Embedder
from infold.search.embed.openai_embedder import ServiceEmbedder

if TYPE_CHECKING:
    from infold.settings import SearchParams

MODEL: Final = "text-embedding-3-small"
TIMEOUT_SECONDS: Final = 60.0
RETRIES: Final = 4


def open_embedder(params: SearchParams, environment: Environment) -> Embedder:
    """Opens no connection yet."""
    return ServiceEmbedder(
        params.embedding_model or MODEL,
        api_key=environment.api_key.get_secret_value() if environment.api_key else None,
        base_url=environment.embedding_base_url or environment.base_url,
        timeout_seconds=TIMEOUT_SECONDS,
        max_retries=RETRIES,
    )
