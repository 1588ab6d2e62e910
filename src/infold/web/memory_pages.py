"""The pages of memory trees: one tree opened with one node to edit, a search within, a tree read as a document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response

from infold.errors import InfoldError
from infold.operations.contract import Nothing
from infold.operations.docmem import (
    DocmemDeletedRequest,
    DocmemNodeRequest,
    DocmemShowRequest,
    MemoryNode,
    docmem_deleted,
    docmem_find,
    docmem_get_root,
    docmem_history,
    docmem_roots,
    docmem_show,
)
from infold.operations.docmem_exchange import DocmemExportRequest, docmem_export
from infold.operations.docmem_search import (
    DocmemExpandRequest,
    DocmemSearchRequest,
    docmem_expand_to_length,
    docmem_search,
)
from infold.web.memory_changes import DONE, change_memory
from infold.web.paging import ListPage, page_of
from infold.web.rendering import Pages

if TYPE_CHECKING:
    from infold.app import OpenVault

_NODES_SHOWN: Final = 400
_CHILDREN_SHOWN: Final = 200
_FOUND: Final = 20
_DELETED_SHOWN: Final = 20
_BUDGET_TOKENS: Final = 4000
_MODES: Final = {
    "with": "Summaries above their memories",
    "without": "Memories alone",
    "instead": "Summaries in place of their memories",
    "mixed": "Memories where they fit, else their summary",
}


@dataclass(slots=True)
class Branch:
    """A node with what is shown below it; `hidden` counts children that are not."""

    node: MemoryNode
    children: list[Branch] = field(default_factory=list)
    hidden: int = 0


def branch_of(nodes: Sequence[MemoryNode], most: int = _NODES_SHOWN) -> Branch:
    """Nodes in reading order, the first with depth 0, as a tree. Of a large one the deepest levels are left out."""
    depths = [node.depth or 0 for node in nodes]
    counts = [depths.count(level) for level in range(max(depths) + 1)]
    deepest = max((level for level in range(1, len(counts)) if sum(counts[: level + 1]) <= most), default=1)
    open_branches: list[Branch] = []
    shown = 0
    for node, depth in zip(nodes, depths, strict=True):
        del open_branches[depth:]
        branch = Branch(node)
        if depth > deepest or shown > most:
            if len(open_branches) == depth:
                open_branches[-1].hidden += 1
            continue
        shown += 1
        if open_branches:
            open_branches[-1].children.append(branch)
        else:
            top = branch
        open_branches.append(branch)
    return top


def part_below(nodes: Sequence[MemoryNode], chosen: str, number: int) -> tuple[list[MemoryNode], ListPage]:
    """The first node and a page of what hangs right below it, each with all below itself: what `branch_of` takes.

    It is page `number`, counted from 1; 0 is the page on which `chosen` is.
    """
    starts = [place for place, node in enumerate(nodes) if node.depth == 1]
    if number < 1:
        at = next((place for place, node in enumerate(nodes) if node.id == chosen), 0)
        number = (max(1, bisect_right(starts, at)) - 1) // _CHILDREN_SHOWN + 1
    part = page_of([*pairwise([*starts, len(nodes)])], number, _CHILDREN_SHOWN)
    return [*nodes[:1], *(node for first, end in part.rows for node in nodes[first:end])], part


class MemoryPages(Pages):
    """Memory trees, read and edited."""

    async def memory(self, asked: Mapping[str, str], failed: InfoldError | None = None) -> Response:
        """All trees, one of them opened, one of its nodes to edit; after a change that failed, what was typed."""
        top, chosen, query = (asked.get(name, "").strip() for name in ("root", "node", "q"))
        values: dict[str, Any] = {"top": top, "chosen": chosen, "query": query, "asked": asked, "failed": failed}
        values["roots"] = (await self.ask(docmem_roots, Nothing())).trees
        values["deleted"] = (await self.ask(docmem_deleted, DocmemDeletedRequest())).deleted[:_DELETED_SHOWN]
        if top:
            number = asked.get("page", "")
            values |= await self._opened(top, chosen, query, int(number) if number.isdecimal() else 0)
        done = DONE.get(asked.get("done", ""))
        code = failed.http_status if failed else 200
        return self.page("memory", code=code, notice=done or "", gone=asked.get("gone", ""), **values)

    async def _opened(self, top: str, chosen: str, query: str, number: int) -> dict[str, Any]:
        shown = await self.ask(docmem_show, DocmemShowRequest(node=top))
        nodes = shown.nodes
        below, part = part_below(nodes, chosen, number)
        values: dict[str, Any] = {"branch": branch_of(below), "part": part, "size": len(nodes)}
        values["tree_root"] = await self.ask(docmem_get_root, DocmemNodeRequest(node=top))
        if query:
            request = DocmemSearchRequest(query=query, within=top, limit=_FOUND)
            values["found"] = await self.ask(docmem_search, request)
        if chosen:
            values |= await self._chosen(nodes, chosen)
        return values

    async def _chosen(self, nodes: Sequence[MemoryNode], chosen: str) -> dict[str, Any]:
        """The node to edit, with its flags, its past, and who stands beside it."""
        known = await self.ask(docmem_find, DocmemNodeRequest(node=chosen))
        if known.node is None:
            return {}
        past = await self.ask(docmem_history, DocmemNodeRequest(node=chosen))
        beside = [node for node in nodes if node.parent_id == known.node.parent_id]
        place = next((number for number, node in enumerate(beside) if node.id == chosen), 0)
        return {
            "known": known,
            "versions": tuple(reversed(past.versions)),
            "before": beside[place - 1] if place else None,
            "after": beside[place + 1] if place + 1 < len(beside) else None,
            "following": beside[place:][:_NODES_SHOWN],
            "others": [node for node in nodes if node.id != chosen][:_NODES_SHOWN],
        }

    async def change(self, form: Mapping[str, str]) -> Response:
        """Carries out what a form asks; where that fails, the page says why and keeps what was typed."""
        try:
            address = await change_memory(self, form)
        except InfoldError as error:
            return await self.memory(form, error)
        return RedirectResponse(address, status_code=303)

    async def document(self, asked: Mapping[str, str]) -> Response:
        """What fits a budget of a tree, as a document."""
        node, mode = asked.get("node", ""), asked.get("summaries", "with")
        budget = asked.get("budget", "") or str(_BUDGET_TOKENS)
        request = DocmemExpandRequest.model_validate(
            {"node": node, "budget_tokens": budget, "query": asked.get("q") or None, "summaries": mode}
        )
        found = await self.ask(docmem_expand_to_length, request)
        return self.page("memory_document", found=found, node=node, mode=mode, modes=_MODES, query=asked.get("q", ""))

    async def export(self, node: str, form: str) -> Response:
        """A tree as a file."""
        found = await self.ask(docmem_export, DocmemExportRequest.model_validate({"node": node, "form": form}))
        ending = {"markdown": "md"}.get(found.form, found.form)
        name = "".join(each if each.isalnum() else "-" for each in node.encode("ascii", "replace").decode())
        headers = {"content-disposition": f'attachment; filename="{name}.{ending}"'}
        return PlainTextResponse(found.text, headers=headers)


def add_memory_pages(router: APIRouter, vault: OpenVault) -> None:
    """Their addresses."""
    pages = MemoryPages(vault)

    @router.get("/memory")
    async def memory(request: Request) -> Response:
        return await pages.memory(request.query_params)

    @router.post("/memory")
    async def change(request: Request) -> Response:
        form = await request.form()
        return await pages.change({name: str(value) for name, value in form.items()})

    @router.get("/memory/document")
    async def document(request: Request) -> Response:
        return await pages.document(request.query_params)

    @router.get("/memory/export")
    async def export(node: str, form: str = "markdown") -> Response:
        return await pages.export(node, form)
