"""The pages of sources: what was brought in from outside, how it stands, what changed, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from infold.operations.contract import Nothing
from infold.operations.research import (
    SourceForgetRequest,
    SourceShowRequest,
    SourceWatchRequest,
    source_forget,
    source_show,
    source_watch,
    sources_list,
)
from infold.web.rendering import Pages

if TYPE_CHECKING:
    from infold.app import OpenVault

_SourceField = Annotated[str, Form()]


class SourcePages(Pages):
    """All sources, and one of them."""

    async def sources(self) -> Response:
        """Every source with its state, and a box for new addresses."""
        found = await self.ask(sources_list, Nothing())
        return self.page("sources", found=found, research=self._vault.params.research)

    async def source(self, source: str, version: int | None) -> Response:
        """One source: its text, which is shown as text, and what changed with each version."""
        found = await self.ask(source_show, SourceShowRequest(source=source, version=version))
        at = version or len(found.source.versions)
        stale = (await self.ask(sources_list, Nothing())).stale
        return self.page("source", found=found, source=found.source, at=at, is_stale=found.source.url in stale)

    async def watch(self, source: str, *, is_watched: bool) -> Response:
        """Puts it on the list that is looked at by schedule, or takes it off."""
        await self.ask(source_watch, SourceWatchRequest(source=source, watch=is_watched))
        return RedirectResponse(f"/{source}", status_code=303)

    async def forget(self, source: str) -> Response:
        """Takes it out."""
        await self.ask(source_forget, SourceForgetRequest(source=source))
        return RedirectResponse("/sources", status_code=303)


def add_source_pages(router: APIRouter, vault: OpenVault) -> None:
    """Their addresses. A source is named by its path, which begins with sources/."""
    pages = SourcePages(vault)
    router.get("/sources")(pages.sources)

    @router.get("/sources/{path:path}")
    async def source(path: str, version: int | None = None) -> Response:
        return await pages.source(f"sources/{path}", version)

    @router.post("/sources/watch")
    async def watch(source: _SourceField, watch: _SourceField = "") -> Response:
        return await pages.watch(source, is_watched=bool(watch))

    @router.post("/sources/forget")
    async def forget(source: _SourceField) -> Response:
        return await pages.forget(source)
