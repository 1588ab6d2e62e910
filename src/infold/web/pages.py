"""The pages: the vault's notes, search, inbox, runs, navigator, memory and settings in a browser (specs 3.8 and 5).

Each page asks operations and puts the answers into a template; what is changed is changed by the API or by a form here,
through the same operations. Everything works without a mouse; scripts only make it quicker.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from infold import lazy
from infold.operations.contract import Nothing
from infold.operations.docmem import DocmemShowRequest, docmem_roots, docmem_show
from infold.operations.inbox import RunListRequest, run_list
from infold.operations.notebook import NotebookPagesRequest, notebook_pages
from infold.operations.spending_rate import SpendingRate
from infold.web.inbox_pages import InboxPages, add_inbox_pages
from infold.web.navigator_pages import NavigatorPages, add_navigator_pages
from infold.web.note_pages import NotePages, add_note_pages
from infold.web.rendering import Pages

if TYPE_CHECKING:
    from infold.app import OpenVault

_FOLDERS_SHOWN: Final = 12


class HousePages(Pages):
    """The first page, the trees of memory, and the settings."""

    async def home(self) -> Response:
        """The cards: folders, the newest runs, the day's log."""
        top = await self.ask(notebook_pages, NotebookPagesRequest())
        runs = await self.ask(run_list, RunListRequest(limit=5))
        inbox = await asyncio.to_thread(self.inbox_text)
        return self.page("home", top=top, runs=runs.runs, shown=_FOLDERS_SHOWN, inbox=inbox.strip())

    async def memory(self, root: str) -> Response:
        """The trees of memory, and one of them opened."""
        roots = await self.ask(docmem_roots, Nothing())
        tree = None
        if root:
            tree = (await self.ask(docmem_show, DocmemShowRequest(node=root))).as_json()
        return self.page("memory", roots=roots.as_json(), tree=tree, root=root)

    async def settings(self) -> Response:
        """The index, its storage, and the settings in force (spec 3, 8.5)."""
        status = await asyncio.to_thread(lazy.search.index_status.status, self._vault.workspace)
        return self.page("settings", status=status, space=self._vault.workspace, params=self._vault.params)


def pages_router(vault: OpenVault, rate: SpendingRate) -> APIRouter:
    """The pages' addresses."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
    house = HousePages(vault)
    router.get("/")(house.home)
    router.get("/settings")(house.settings)

    @router.get("/memory")
    async def memory(root: str = "") -> Response:
        return await house.memory(root)

    add_note_pages(router, NotePages(vault))
    add_inbox_pages(router, InboxPages(vault, rate))
    add_navigator_pages(router, NavigatorPages(vault))
    return router
