"""Which embedder is used: one of a registry, by the parameters. None of this touches a network before it embeds.

A provider is a function of the parameters and the environment, entered in PROVIDERS under the name that
`search.embedding` has for it; what it gives says by its traits how a search should treat it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from infold.search.embed.embedder import Embedder
from infold.settings import SearchParams

if TYPE_CHECKING:
    from infold.environment import Environment

SERVICE_MODEL: Final = "text-embedding-3-small"
SERVICE_TIMEOUT_SECONDS: Final = 60.0
SERVICE_RETRIES: Final = 4

Provider = Callable[[SearchParams, "Environment | None"], "Embedder | None"]


def open_embedder(params: SearchParams, environment: Environment | None = None) -> Embedder | None:
    """The embedder that the parameters name; None where search is by keyword alone.

    `auto` is the ONNX model in use where there is one that can run here, else the static one: without such a model this
    choice reads one small file. `environment` is for services alone, and read where it is None. Raises ModelUnusable
    where `onnx` is asked for and there is none.
    """
    return PROVIDERS[params.embedding](params, environment)


def _static(params: SearchParams, environment: Environment | None) -> Embedder:  # noqa: ARG001 - as every provider
    from infold.search.embed.static_embedder import StaticEmbedder

    return StaticEmbedder()


def _onnx(params: SearchParams, environment: Environment | None) -> Embedder:  # noqa: ARG001 - as every provider
    from infold.search.embed import models

    return models.open_model(params.embedding_model)


def _best_here(params: SearchParams, environment: Environment | None) -> Embedder:
    from infold.search.embed import models

    return models.model_at_hand(params.embedding_model) or _static(params, environment)


def _service(params: SearchParams, environment: Environment | None) -> Embedder:
    from infold.search.embed.openai_embedder import ServiceEmbedder

    if environment is None:
        from infold.environment import Environment

        environment = Environment()
    return ServiceEmbedder(
        params.embedding_model or SERVICE_MODEL,
        api_key=environment.api_key.get_secret_value() if environment.api_key else None,
        base_url=environment.embedding_base_url or environment.base_url,
        timeout_seconds=SERVICE_TIMEOUT_SECONDS,
        max_retries=SERVICE_RETRIES,
    )


PROVIDERS: Final[dict[str, Provider]] = {
    "auto": _best_here,
    "static": _static,
    "onnx": _onnx,
    "service": _service,
    "none": lambda params, environment: None,  # noqa: ARG005 - as every provider
}
