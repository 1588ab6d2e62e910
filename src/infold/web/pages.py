"""The pages: the vault's notes, search, inbox, runs, navigator, memory and settings in a browser (specs 3.8 and 5).

Each page asks operations and puts the answers into a template; what is changed is changed by the API or by a form here,
through the same operations. Everything works without a mouse; scripts only make it quicker.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, select_autoescape

from infold.errors import InfoldError, NoteChanged, PathRefused, UsageError
from infold.operations.contract import Message, Nothing
from infold.operations.docmem import DocmemShowRequest, docmem_roots, docmem_show
from infold.operations.graph import KnowledgeGraphRequest, knowledge_graph
from infold.operations.inbox import (
    InboxIntegrateRequest,
    RunApplyRequest,
    RunListRequest,
    RunRequest,
    inbox_integrate,
    run_apply,
    run_diff,
    run_list,
    run_show,
    run_undo,
)
from infold.operations.memory import MemoryGetRequest, MemorySearchRequest, memory_get, memory_search
from infold.operations.navigator import (
    BrowseVaultRequest,
    CallerRequest,
    ExploreRequest,
    FollowLinkRequest,
    MoveRequest,
    NodeRequest,
    ThemesRequest,
    back,
    browse_vault,
    explore,
    follow_link,
    move,
    theme_map,
    themes,
    zoom_in,
    zoom_out,
)
from infold.operations.notebook import (
    InboxAddRequest,
    NotebookEditRequest,
    NotebookPagesRequest,
    inbox_add,
    notebook_edit,
    notebook_pages,
)
from infold.operations.notes import KnowledgeDeleteRequest, knowledge_delete
from infold.operations.review import run_review
from infold.vault.files import safe_path
from infold.vault.front_matter import without_front_matter
from infold.web.markdown import note_html, page_address
from infold.web.resolving import Resolver

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.operations.table import Operation

AnswerT = TypeVar("AnswerT", bound=Message)
_Field = Annotated[str, Form()]

_CALLER: Final = "browser"
_PICTURES: Final = frozenset(
    ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/svg+xml")
)
_FOLDERS_SHOWN: Final = 12
_RUNS_SHOWN: Final = 50
_GROUPS: Final = ("notebook", "daily", "sessions", "memory", "external")


class Pages:
    """The pages of one vault."""

    def __init__(self, vault: OpenVault) -> None:
        self._vault = vault
        self._resolver = Resolver(vault)
        self._templates = Environment(
            loader=PackageLoader("infold.web", "templates"),
            autoescape=select_autoescape(default=True, default_for_string=True),
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {"address": page_address, "ago": _ago, "size": _size}

    async def ask(self, operation: Operation[Any, AnswerT], request: Message) -> AnswerT:
        """The answer of an operation."""
        return await self._vault.run(operation, request)

    def page(self, template: str, /, *, code: int = 200, **values: Any) -> HTMLResponse:
        """A template filled in."""
        text = self._templates.get_template(f"{template}.html").render(
            vault_name=self._vault.workspace.vault.name, page=template, **values
        )
        return HTMLResponse(text, status_code=code)

    # home and notes

    async def home(self) -> Response:
        """The cards: folders, the newest runs, the day's log."""
        top = await self.ask(notebook_pages, NotebookPagesRequest())
        runs = await self.ask(run_list, RunListRequest(limit=5))
        inbox = await asyncio.to_thread(self._inbox_text)
        return self.page("home", top=top, runs=runs.runs, shown=_FOLDERS_SHOWN, inbox=inbox.strip())

    async def top(self) -> Response:
        """What lies at the top of the vault."""
        return await self.folder("")

    async def folder(self, path: str) -> Response:
        """What lies in a folder."""
        found = await self.ask(notebook_pages, NotebookPagesRequest(folder=path))
        return self.page("folder", found=found, above=path.rpartition("/")[0], inside=bool(path))

    async def note(self, path: str, notice: str = "") -> Response:
        """A note, with what links to it beside it."""
        found = await self.ask(memory_get, MemoryGetRequest(path=path))
        if found.path is None:
            return self.page("missing", code=404, name=path, near=found.near, hint=found.hint)
        if found.path != path:
            return RedirectResponse(page_address(found.path))
        body = await asyncio.to_thread(self.body, found.text, path)
        graph = await self.ask(knowledge_graph, KnowledgeGraphRequest(view="backlinks", note=path))
        return self.page(
            "note", path=path, body=body, hash=found.hash, links=graph.as_json(), notice=notice, lines=found.total
        )

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
        return note_html(without_front_matter(text), path, lambda name: self._resolver.resolve(name, path))

    # search

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

    # the inbox and its runs

    async def inbox(self) -> Response:
        """The inbox, a box to drop text into, and the buttons that plan and fold it in."""
        text = await asyncio.to_thread(self._inbox_text)
        runs = await self.ask(run_list, RunListRequest(limit=10))
        model = self._vault.params.librarian
        return self.page("inbox", text=text, runs=runs.runs, librarian=model)

    async def add(self, text: str) -> Response:
        """Drops text into the inbox."""
        await self.ask(inbox_add, InboxAddRequest(text=text.replace("\r\n", "\n")))
        return RedirectResponse("/inbox", status_code=303)

    async def plan(self) -> Response:
        """Plans the inbox and shows the plan, for browsers without a script; scripts follow the job instead."""
        done = await self.ask(inbox_integrate, InboxIntegrateRequest(dry_run=True))
        if done.quote is not None:
            return self.page("quote", quote=done.quote)
        return RedirectResponse(f"/run/{done.run}" if done.run else "/inbox", status_code=303)

    async def runs(self) -> Response:
        """Every change, newest first."""
        found = await self.ask(run_list, RunListRequest(limit=_RUNS_SHOWN))
        return self.page("runs", runs=found.runs)

    async def run(self, run_id: str, notice: str = "") -> Response:
        """A run: what stays in the inbox first, then each edit under its heading, with what can be done about it."""
        shown = await self.ask(run_show, RunRequest(run=run_id))
        diffs = await self.ask(run_diff, RunRequest(run=run_id))
        review = None
        if shown.run is not None and str(shown.run.status) == "planned":
            review = await self.ask(run_review, RunRequest(run=run_id))
        return self.page(
            "run", run=shown.run, change=shown.change, review=review, diffs=diffs.diffs, notice=notice, run_id=diffs.run
        )

    async def decide(self, run_id: str, form: Mapping[str, str]) -> Response:
        """Applies a plan as it was reviewed: each hunk accepted, left out, changed or sent elsewhere."""
        decisions = []
        for name, verdict in form.items():
            if not name.startswith("verdict-"):
                continue
            number = int(name.removeprefix("verdict-"))
            decision = {"number": number, "verdict": verdict}
            if verdict == "edit":
                decision["text"] = form.get(f"text-{number}", "").replace("\r\n", "\n")
            if verdict == "send":
                decision["file"] = form.get(f"file-{number}", "")
            if verdict != "accept":
                decisions.append(decision)
        await self.ask(run_apply, RunApplyRequest.model_validate({"run": run_id, "decisions": decisions}))
        return RedirectResponse(f"/run/{run_id}", status_code=303)

    async def undo(self, run_id: str) -> Response:
        """Takes a change back."""
        done = await self.ask(run_undo, RunRequest(run=run_id))
        said = f"{len(done.restored)} files are as before." + (
            f" {len(done.conflicts)} texts had to stay." if done.conflicts else ""
        )
        return await self.run(run_id, said)

    def _inbox_text(self) -> str:
        try:
            return self._vault.workspace.inbox.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    # the navigator

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
        if what == "explore" and not query.strip():
            found = None
        elif what not in steps:
            raise UsageError(f"There is no step {what!r}.", hint=f"The steps are {', '.join(steps)}.")
        else:
            found = await steps[what]()
        listed = await self.ask(browse_vault, BrowseVaultRequest())
        return self.page("nav", found=found, what=what, query=query, listed=listed)

    async def browse(self, path: str) -> Response:
        """Folders and notes with their tokens and states, to import."""
        return self.page("browse", found=await self.ask(browse_vault, BrowseVaultRequest(path=path)), path=path)

    async def themes(self, level: int) -> Response:
        """The themes, and the map that the script draws."""
        found = await self.ask(themes, ThemesRequest.model_validate({"level": level}))
        spots = await self.ask(theme_map, Nothing())
        return self.page("themes", found=found, level=level, spots=spots.as_json())

    # memory, settings, files

    async def memory(self, root: str) -> Response:
        """The trees of memory, and one of them opened."""
        roots = await self.ask(docmem_roots, Nothing())
        tree = None
        if root:
            tree = (await self.ask(docmem_show, DocmemShowRequest(node=root))).as_json()
        return self.page("memory", roots=roots.as_json(), tree=tree, root=root)

    async def settings(self) -> Response:
        """The index, its storage, and the settings in force (spec 3, 8.5)."""
        from infold.search import index_status

        status = await asyncio.to_thread(index_status.status, self._vault.workspace)
        return self.page("settings", status=status, space=self._vault.workspace, params=self._vault.params)

    async def file(self, path: str, beside: str) -> Response:
        """A picture of the vault; nothing else is served. Raises PathRefused and UsageError."""
        kind = mimetypes.guess_type(path)[0] or ""
        if kind not in _PICTURES:
            raise PathRefused(f"{path} is no picture.")
        found = await asyncio.to_thread(self._find_file, path, beside)
        if found is None:
            raise UsageError(f"There is no picture {path!r}.")
        headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
        return FileResponse(found, media_type=kind, headers=headers)

    def _find_file(self, path: str, beside: str) -> Path | None:
        root = self._vault.workspace.vault
        for name in dict.fromkeys((f"{beside}/{path}".strip("/"), path)):
            file = safe_path(root, name)
            if file.is_file() and not file.is_symlink():
                return file
        name = path.rpartition("/")[2]
        return next((file for file in root.rglob(name) if file.is_file() and not file.is_symlink()), None)


def pages_router(vault: OpenVault) -> APIRouter:
    """The pages' addresses."""
    pages = Pages(vault)
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
    for address, page in (
        ("/", pages.home),
        ("/notebook", pages.top),
        ("/inbox", pages.inbox),
        ("/runs", pages.runs),
        ("/settings", pages.settings),
    ):
        router.get(address)(page)
    _note_addresses(router, pages)
    _inbox_addresses(router, pages)
    _navigator_addresses(router, pages)
    return router


def _note_addresses(router: APIRouter, pages: Pages) -> None:
    @router.get("/folder/{path:path}")
    async def folder(path: str) -> Response:
        return await pages.folder(path.strip("/"))

    @router.get("/note/{path:path}")
    async def note(path: str, done: str = "") -> Response:
        return await pages.note(path, f"Saved. infold undo {done} takes it back." if done else "")

    @router.get("/edit/{path:path}")
    async def edit(path: str) -> Response:
        return await pages.edit(path)

    @router.post("/edit/{path:path}")
    async def save(path: str, content: _Field = "", hash: _Field = "") -> Response:  # noqa: A002 - the field's name
        return await pages.save(path, content, hash)

    @router.post("/delete/{path:path}")
    async def delete(path: str) -> Response:
        done = await pages.ask(knowledge_delete, KnowledgeDeleteRequest(note=path))
        return RedirectResponse(f"/run/{done.change}", status_code=303)

    @router.post("/preview/{path:path}")
    async def preview(path: str, content: _Field = "") -> Response:
        return HTMLResponse(await asyncio.to_thread(pages.body, content, path))

    @router.get("/search")
    async def search(q: str = "", tag: str = "", group: str = "", part: str = "") -> Response:
        return await pages.search(q, tag, group, only_results=part == "results")

    @router.get("/file/{path:path}")
    async def file(path: str, request: Request) -> Response:
        return await pages.file(path, request.query_params.get("from", ""))


def _inbox_addresses(router: APIRouter, pages: Pages) -> None:
    router.post("/inbox/plan")(pages.plan)

    @router.post("/inbox/add")
    async def add(text: Annotated[str, Form()]) -> Response:
        return await pages.add(text)

    @router.get("/run/{run_id}")
    async def run(run_id: str) -> Response:
        return await pages.run(run_id)

    @router.post("/run/{run_id}/apply")
    async def apply(run_id: str, request: Request) -> Response:
        form = await request.form()
        return await pages.decide(run_id, {name: str(value) for name, value in form.items()})

    @router.post("/run/{run_id}/undo")
    async def undo(run_id: str) -> Response:
        return await pages.undo(run_id)


def _navigator_addresses(router: APIRouter, pages: Pages) -> None:
    @router.get("/nav")
    async def nav(step: str = "explore", node: str = "", q: str = "") -> Response:
        return await pages.navigate(step, node, q)

    @router.get("/browse")
    async def browse(path: str = "") -> Response:
        return await pages.browse(path)

    @router.get("/themes")
    async def show_themes(level: Annotated[int, Query(ge=1, le=3)] = 1) -> Response:
        return await pages.themes(level)

    @router.get("/memory")
    async def memory(root: str = "") -> Response:
        return await pages.memory(root)


def error_page(vault: OpenVault, error: InfoldError) -> HTMLResponse:
    """An error as a page: what happened, and what to do."""
    return Pages(vault).page("error", code=error.http_status, message=str(error), hint=error.hint)


def _ago(moment: str) -> str:
    """A moment (ISO 8601) as a person says it."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    seconds = (datetime.now(UTC) - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds()
    for size, unit in ((86400 * 365, "year"), (86400 * 30, "month"), (86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' * (count != 1)} ago"
    return "just now"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1000:.1f} KB" if size_bytes >= 1000 else f"{size_bytes} bytes"
