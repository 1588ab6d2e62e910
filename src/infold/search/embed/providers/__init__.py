"""Which embedder is used: that of the module here which `search.embedding` names.

A provider is one module of this package, named as the setting has it, with a function
`open_embedder(params, environment) -> Embedder`; the traits of what it gives say how a search should treat it. Where
another provider finds more and costs nothing either, NEXT_RUNG names that. A new module here is a new value of the
setting, and nothing else names it. No provider touches a network before it embeds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from infold.environment import Environment
from infold.search.embed.embedder import Embedder

if TYPE_CHECKING:
    from infold.settings import SearchParams


class Provider(Protocol):
    """A module of this package."""

    def open_embedder(self, params: SearchParams, environment: Environment) -> Embedder:
        """The embedder by these parameters. Raises ModelUnusable where what it needs is not here."""


def open_embedder(params: SearchParams, environment: Environment | None = None) -> Embedder:
    """The embedder that the parameters name; `NO_EMBEDDER` where search is by keyword alone.

    Keys and hosts are this process's where no `environment` is given. Raises ModelUnusable.
    """
    provider = cast("Provider", import_module(f"{__name__}.{params.embedding}"))
    return provider.open_embedder(params, environment or Environment())


def next_rung(name: str) -> str:
    """The provider that is worth a comparison beside this one; '' where none is."""
    rung: str = getattr(import_module(f"{__name__}.{name}"), "NEXT_RUNG", "")
    return rung
