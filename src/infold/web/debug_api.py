"""The debug and admin API of spec 3, section 10: its paths and keys to the letter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from infold.errors import UsageError
from infold.search import index_status
from infold.search.index.contract import PointGroup
from infold.web.server_events import event_stream

if TYPE_CHECKING:
    from infold.app import OpenVault

Json = dict[str, Any]


def debug_router(vault: OpenVault) -> APIRouter:
    """The endpoints of one vault."""
    router = APIRouter(prefix="/api/debug", tags=["debug"])

    @router.get("/memory/status")
    def memory_status() -> Json:
        """Index health and statistics."""
        return index_status.status(vault.workspace)

    @router.get("/memory/search")
    def memory_search(q: Annotated[str, Query(min_length=1)], sources: str = "") -> Json:
        """Raw search results with scores, in the form of the agent's tool."""
        return index_status.search(vault.live_search, q, _sources(sources))

    @router.get("/memory/files")
    def memory_files() -> Json:
        """All indexed files with hashes and sync status."""
        return index_status.files(vault.workspace)

    @router.post("/memory/rebuild")
    async def memory_rebuild(wait: bool = True) -> Any:
        """Make the whole index anew: the last word where `wait`, else every word as server-sent events."""
        if wait:
            return JSONResponse([word async for word in _rebuilding(vault)][-1])
        return event_stream(("rebuild", word) async for word in _rebuilding(vault))

    return router


def _sources(given: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    for name in names:
        if name not in set(PointGroup):
            raise UsageError(f"There is no source {name!r}.", hint=f"The sources are {', '.join(PointGroup)}.")
    return names


async def _rebuilding(vault: OpenVault) -> AsyncIterator[Json]:
    words: Iterator[Json] = index_status.rebuild(vault.workspace, vault.embedder, vault.progress, vault.feeds())
    while (word := await asyncio.to_thread(next, words, None)) is not None:
        yield word
