"""The pages of the navigator: one step at a time, notes to import, themes and their map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import Response

from infold.errors import UsageError
from infold.operations.navigator import (
    CallerRequest,
    ExploreRequest,
    FilterRequest,
    FollowLinkRequest,
    MoveRequest,
    NodeRequest,
    back,
    explore,
    filter_,
    follow_link,
    move,
    zoom_in,
    zoom_out,
)
from infold.operations.navigator_import import BrowseVaultRequest, browse_vault
from infold.operations.navigator_themes import ThemeMapRequest, ThemesRequest, theme_map, themes
from infold.web.paging import page_of
from infold.web.rendering import Pages

_CALLER: Final = "browser"


class NavigatorPages(Pages):
    """Where one is, and what is near."""

    async def navigate(self, what: str, node: str, query: str) -> Response:
        """Where the browser's caller is, after one step."""
        at = node or None
        steps: dict[str, Callable[[], Any]] = {
            "in": lambda: self.ask(zoom_in, NodeRequest(node_id=at, caller=_CALLER)),
            "out": lambda: self.ask(zoom_out, NodeRequest(node_id=at, caller=_CALLER)),
            "move": lambda: self.ask(move, MoveRequest(node_id=at, caller=_CALLER)),
            "links": lambda: self.ask(follow_link, FollowLinkRequest(node_id=at, caller=_CALLER)),
            "back": lambda: self.ask(back, CallerRequest(caller=_CALLER)),
            "explore": lambda: self.ask(explore, ExploreRequest(query=query, caller=_CALLER)),
        }
        lens = None
        if what == "lens":
            lens = await self.ask(filter_, FilterRequest(lens=query.strip() or None, caller=_CALLER))
        if what == "lens" or (what == "explore" and not query.strip()):
            found = None
        elif what not in steps:
            raise UsageError(f"There is no step {what!r}.", hint=f"The steps are {', '.join((*steps, 'lens'))}.")
        else:
            found = await steps[what]()
        listed = await self.ask(browse_vault, BrowseVaultRequest())
        shown = "" if what == "lens" else query
        return self.page("nav", found=found, what=what, query=shown, listed=listed, lens=lens)

    async def browse(self, path: str, number: int) -> Response:
        """Folders and notes with their tokens and states, to import; of many notes that page of the list."""
        found = await self.ask(browse_vault, BrowseVaultRequest(path=path))
        part = page_of((*found.folders, *found.notes), number)
        return self.page("browse", part=part, path=path)

    async def themes(self, level: int) -> Response:
        """The themes, and the map that the script draws."""
        found = await self.ask(themes, ThemesRequest.model_validate({"level": level}))
        spots = await self.ask(theme_map, ThemeMapRequest.model_validate({"level": level}))
        return self.page("themes", found=found, level=level, spots=spots.as_json())


def add_navigator_pages(router: APIRouter, pages: NavigatorPages) -> None:
    """Their addresses."""

    @router.get("/nav")
    async def nav(step: str = "explore", node: str = "", q: str = "") -> Response:
        return await pages.navigate(step, node, q)

    @router.get("/browse")
    async def browse(path: str = "", page: int = 1) -> Response:
        return await pages.browse(path, page)

    @router.get("/themes")
    async def show_themes(level: Annotated[int, Query(ge=1, le=3)] = 1) -> Response:
        return await pages.themes(level)
