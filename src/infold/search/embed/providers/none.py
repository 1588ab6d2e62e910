"""`none`: search is by keyword alone."""

from __future__ import annotations

from infold.environment import Environment
from infold.search.embed.embedder import Embedder
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.settings import SearchParams


def open_embedder(params: SearchParams, environment: Environment) -> Embedder:  # noqa: ARG001 - as every provider
    """The one that embeds nothing."""
    return NO_EMBEDDER
