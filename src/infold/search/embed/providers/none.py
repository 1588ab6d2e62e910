"""`none`: search is by keyword alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.environment import Environment
from infold.search.embed.embedder import Embedder
from infold.search.embed.no_embedder import NO_EMBEDDER

if TYPE_CHECKING:
    from infold.settings import SearchParams

NEXT_RUNG: Final = "static"


def open_embedder(params: SearchParams, environment: Environment) -> Embedder:  # noqa: ARG001 - as every provider
    """The one that embeds nothing."""
    return NO_EMBEDDER
