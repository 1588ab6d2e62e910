"""The pages of notes: folders, one note with what links to it, its editor, search, and the pictures of the vault."""

from __future__ import annotations

import asyncio
import mimetypes
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Form, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from infold.errors import NoteChanged, NoteUnreadable, PathRefused, UsageError
from infold.operations.graph import KnowledgeGraphRequest, knowledge_graph
from infold.operations.memory import MemoryGetRequest, MemorySearchRequest, memory_get, memory_search
from infold.operations.notebook import NotebookEditRequest, NotebookPagesRequest, notebook_edit, notebook_pages
from infold.operations.notes import KnowledgeDeleteRequest, knowledge_delete
from infold.vault.files import safe_path
from infold.web.markdown import note_html
from infold.web.markdown_links import page_address
from infold.web.paging import page_of
from infold.web.properties import properties
from infold.web.rendering import ALONE, Pages
from infold.web.resolving import Resolver

if TYPE_CHECKING:
    from infold.app import OpenVault

_NoteField = Annotated[str, Form()]

_PICTURES: Final = frozenset(
    ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/svg+xml")
)
_GROUPS: Final = ("notebook", "daily", "sessions", "memory", "external")


class NotePages(Pages):
    """What is read and edited."""

    def __init__(self, vault: OpenVault) -> None:
        super().__init__(vault)
        self._resolver = Resolver(vault)

    async def folder(self, path: str, number: int) -> Response:
        """What lies in a folder, folders first; of a large one that page of the list."""
        found = await self.ask(notebook_pages, NotebookPagesRequest(folder=path))
        part = page_of((*found.folders, *found.pages), number)
        return self.page("folder", folder=found.folder, part=part, above=path.rpartition("/")[0], inside=bool(path))

    async def note(self, path: str, notice: str = "") -> Response:
        """A note, with what links to it beside it."""
        found = await self.ask(memory_get, MemoryGetRequest(path=path))
        if found.path is None:
            return self.page("missing", code=404, name=path, near=found.near, hint=found.hint)
        if found.path != path:
            return RedirectResponse(page_address(found.path))
        body = await asyncio.to_thread(self.body, found.text, path)
        said = await asyncio.to_thread(properties, found.text, path, self._resolver.resolve)
        graph = await self.ask(knowledge_graph, KnowledgeGraphRequest(view="backlinks", note=path))
        modified = await asyncio.to_thread(self._modified, path)
        return self.page(
            "note", path=path, body=body, properties=said, links=graph.notes, notice=notice, modified=modified
        )

    def _modified(self, path: str) -> str:
        """When the note was written last; of what is no file of the vault, nothing."""
        try:
            seconds = safe_path(self._vault.workspace.vault, path).stat().st_mtime
        except OSError:
            return ""
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")

    async def edit(self, path: str) -> Response:
        """The text of a note in a box; of a note there is not, an empty one."""
        found = await self.ask(memory_get, MemoryGetRequest(path=path))
        exists = found.path == path
        return self.page("edit", path=path, text=found.text if exists else "", hash=found.hash if exists else "")

    async def save(self, path: str, content: str, known: str) -> Response:
        """Saves an edit; where somebody else saved meanwhile, both texts are shown and nothing is lost."""
        request = NotebookEditRequest(path=path, content=content.replace("\r\n", "\n"), hash=known or None)
        try:
            done = await self.ask(notebook_edit, request)
        except NoteChanged as error:
            now = await self.ask(memory_get, MemoryGetRequest(path=path))
            return self.page(
                "edit", code=409, path=path, text=content, hash=now.hash, conflict=str(error), theirs=now.text
            )
        return RedirectResponse(f"{page_address(done.path)}?done={done.write or ''}", status_code=303)

    def body(self, text: str, path: str) -> str:
        """The text of a note as HTML."""
        return note_html(text, path, self._resolver.resolve, self._embedded)

    def _embedded(self, path: str) -> str:
        """The text of a note that another embeds; of one that cannot be read, why."""
        try:
            return self._vault.get(path).text
        except NoteUnreadable as error:
            return str(error)

    async def search(self, query: str, tag: str, group: str, *, only_results: bool) -> Response:
        """The search page, or only its results for the script that asks while one types."""
        found = None
        if query.strip() or tag:
            groups = (group,) if group in _GROUPS else None
            request = MemorySearchRequest.model_validate(
                {"query": query.strip() or tag, "tags": (tag,) if tag else ()} | ({"sources": groups} if groups else {})
            )
            found = await self.ask(memory_search, request)
        name = "results" if only_results else "search"
        return self.page(name, found=found, query=query, tag=tag, group=group, groups=_GROUPS)

    async def file(self, path: str, beside: str) -> Response:
        """A picture of the vault; nothing else is served. Raises PathRefused and UsageError."""
        kind = mimetypes.guess_type(path)[0] or ""
        if kind not in _PICTURES:
            raise PathRefused(f"{path} is no picture.")
        found = await asyncio.to_thread(self._find_file, path, beside)
        if found is None:
            raise UsageError(f"There is no picture {path!r}.")
        return FileResponse(found, media_type=kind, headers={"content-security-policy": ALONE})

    def _find_file(self, path: str, beside: str) -> Path | None:
        root = self._vault.workspace.vault
        for name in dict.fromkeys((f"{beside}/{path}".strip("/"), path)):
            file = safe_path(root, name)
            if file.is_file() and not file.is_symlink():
                return file
        name = path.rpartition("/")[2]
        return next((file for file in root.rglob(name) if file.is_file() and not file.is_symlink()), None)


def add_note_pages(router: APIRouter, pages: NotePages) -> None:
    """Their addresses."""

    @router.get("/notebook")
    async def top(page: int = 1) -> Response:
        return await pages.folder("", page)

    @router.get("/folder/{path:path}")
    async def folder(path: str, page: int = 1) -> Response:
        return await pages.folder(path.strip("/"), page)

    @router.get("/note/{path:path}")
    async def note(path: str, done: str = "") -> Response:
        return await pages.note(path, f"Saved. infold undo {done} takes it back." if done else "")

    @router.get("/edit/{path:path}")
    async def edit(path: str) -> Response:
        return await pages.edit(path)

    @router.post("/edit/{path:path}")
    async def save(path: str, content: _NoteField = "", hash: _NoteField = "") -> Response:  # noqa: A002 - the field's name
        return await pages.save(path, content, hash)

    @router.post("/delete/{path:path}")
    async def delete(path: str) -> Response:
        done = await pages.ask(knowledge_delete, KnowledgeDeleteRequest(note=path))
        return RedirectResponse(f"/run/{done.change}", status_code=303)

    @router.post("/preview/{path:path}")
    async def preview(path: str, content: _NoteField = "") -> Response:
        return HTMLResponse(await asyncio.to_thread(pages.body, content, path))

    @router.get("/search")
    async def search(q: str = "", tag: str = "", group: str = "", part: str = "") -> Response:
        return await pages.search(q, tag, group, only_results=part == "results")

    @router.get("/file/{path:path}")
    async def file(path: str, request: Request) -> Response:
        return await pages.file(path, request.query_params.get("from", ""))
