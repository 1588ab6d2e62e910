"""The pages: the vault's notes, search, inbox, runs, navigator, memory and all else in a browser (specs 3.8 and 5).

Each page asks operations and puts the answers into a template; what is changed is changed by the API or by a form here,
through the same operations. Everything works without a mouse; scripts only make it quicker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from infold.operations.spending_rate import SpendingRate
from infold.web.evaluation_pages import add_evaluation_pages
from infold.web.graph_pages import GraphPages, add_graph_pages
from infold.web.home_page import HomePage
from infold.web.inbox_pages import InboxPages, add_inbox_pages
from infold.web.memory_pages import add_memory_pages
from infold.web.navigator_pages import NavigatorPages, add_navigator_pages
from infold.web.note_pages import NotePages, add_note_pages
from infold.web.settings_pages import add_settings_pages
from infold.web.source_pages import add_source_pages

if TYPE_CHECKING:
    from infold.app import OpenVault


def pages_router(vault: OpenVault, rate: SpendingRate) -> APIRouter:
    """The pages' addresses."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
    router.get("/")(HomePage(vault).home)
    add_note_pages(router, NotePages(vault))
    add_inbox_pages(router, InboxPages(vault, rate))
    add_navigator_pages(router, NavigatorPages(vault))
    add_graph_pages(router, GraphPages(vault))
    add_memory_pages(router, vault)
    add_source_pages(router, vault)
    add_evaluation_pages(router, vault)
    add_settings_pages(router, vault)
    return router
