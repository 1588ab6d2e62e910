"""The debug and admin API of spec 3, section 10: its paths and keys to the letter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import Field

from infold.agent.session import AgentSession
from infold.errors import NoteNotFound, UsageError
from infold.operations import chat, memory, notebook
from infold.operations.contract import Message
from infold.operations.notes import KnowledgeDeleteRequest, knowledge_delete
from infold.search import index_status
from infold.search.index.contract import Filter, PointGroup
from infold.web.server_events import event_stream

if TYPE_CHECKING:
    from infold.app import OpenVault

JsonValues = dict[str, Any]

SESSION: Final = "main"  # the agent's own
_RESULT: Final = ("filePath", "heading", "snippet", "score", "lines")
_TIMING: Final = ("ftsMs", "vectorMs", "totalMs")


class PageContent(Message):
    """A page as it is to be."""

    content: str


class InjectedTurn(Message):
    """A turn of a conversation."""

    role: Literal["user", "assistant", "system"]
    content: str = Field(min_length=1, max_length=20_000)


def debug_router(vault: OpenVault) -> APIRouter:
    """The endpoints of one vault."""
    router = APIRouter(prefix="/api/debug", tags=["debug"])

    @router.get("/memory/status")
    def memory_status() -> JsonValues:
        """Index health and statistics."""
        return index_status.status(vault.workspace, vault.scanned())

    @router.get("/memory/search")
    def memory_search(q: Annotated[str, Query(min_length=1)], sources: str = "") -> JsonValues:
        """Raw search results with scores, in the form of the agent's tool."""
        result = vault.search(q, Filter(groups=_sources(sources)))
        found = memory.search_answer(result, explain=False).as_json()
        return {
            "query": found["query"],
            "results": {
                source: [{name: result[name] for name in _RESULT} for result in results]
                for source, results in found["results"].items()
            },
            "timing": {name: found["timing"][name] for name in _TIMING},
        }

    @router.get("/memory/files")
    def memory_files() -> JsonValues:
        """All indexed files with hashes and sync status."""
        return index_status.files(vault.workspace)

    @router.post("/memory/rebuild")
    async def memory_rebuild(wait: bool = True) -> Any:
        """Make the whole index anew: the last word where `wait`, else every word as server-sent events."""
        if wait:
            return JSONResponse([word async for word in _rebuilding(vault)][-1])
        return event_stream(("rebuild", word) async for word in _rebuilding(vault))

    _add_pages(router, vault)
    _add_agent(router, vault)
    return router


def _add_pages(router: APIRouter, vault: OpenVault) -> None:
    @router.get("/notebook/pages")
    def notebook_pages() -> JsonValues:
        """All notebook pages."""
        return {"pages": [page.as_json() for page in _pages(vault)]}

    @router.get("/notebook/{path:path}")
    def read_page(path: str) -> JsonValues:
        """The content of a page."""
        return {"path": path, "content": _page(vault, path).text}

    @router.post("/notebook/{path:path}")
    def write_page(path: str, body: PageContent) -> JsonValues:
        """Write a page: all of its text."""
        known = memory.memory_get(vault, memory.MemoryGetRequest(path=path))
        edit = notebook.NotebookEditRequest(path=path, content=body.content, hash=known.hash or None)
        done = notebook.notebook_edit(vault, edit)
        return {"success": True, **done.as_json()}

    @router.delete("/notebook/{path:path}")
    def delete_page(path: str) -> JsonValues:
        """Delete a page; its bytes are kept, and it can be undone."""
        page = _page(vault, path).path or path
        return {"success": True, **knowledge_delete(vault, KnowledgeDeleteRequest(note=page)).as_json()}


def _add_agent(router: APIRouter, vault: OpenVault) -> None:
    @router.post("/memory/simulate-compaction")
    def simulate_compaction() -> JsonValues:
        """The flush before a compaction, on the agent's session: a silent turn, once a cycle, and then the cut."""
        session = AgentSession(vault.workspace, SESSION)
        reminder = chat.compact(vault, SESSION)
        return {"triggered": reminder is not None, "reminder": reminder, "session": session.path}

    @router.post("/brain/inject-turn")
    def inject_turn(body: InjectedTurn) -> JsonValues:
        """Put a turn into the agent's session; a user's is answered, the others are only kept."""
        if body.role == "user":
            return {"injected": True, **chat.chat(vault, chat.ChatRequest(message=body.content)).as_json()}
        session = AgentSession(vault.workspace, SESSION)
        session.said(body.role, body.content)
        return {"injected": True, "transcript": session.path}


def _page(vault: OpenVault, path: str) -> memory.MemoryGetAnswer:
    """The whole page of just that path. Raises NoteNotFound."""
    found = memory.memory_get(vault, memory.MemoryGetRequest(path=path))
    if found.path is None or not found.hash:
        raise NoteNotFound(f"There is no page {path!r}.", hint="GET /api/debug/notebook/pages lists all.")
    return found


def _pages(vault: OpenVault, folder: str = "") -> Iterator[notebook.NotebookPage]:
    found = notebook.notebook_pages(vault, notebook.NotebookPagesRequest(folder=folder))
    yield from found.pages
    for inside in found.folders:
        yield from _pages(vault, inside.path)


def _sources(given: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    for name in names:
        if name not in set(PointGroup):
            raise UsageError(f"There is no source {name!r}.", hint=f"The sources are {', '.join(PointGroup)}.")
    return names


async def _rebuilding(vault: OpenVault) -> AsyncIterator[JsonValues]:
    words: Iterator[JsonValues] = index_status.rebuild(vault.workspace, vault.embedder, vault.progress, vault.feeds())
    while (word := await asyncio.to_thread(next, words, None)) is not None:
        yield word
