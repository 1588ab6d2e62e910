"""The page of the note graph: what is near a note, or the most linked notes of the vault, to pan, zoom and open."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import Response

from infold.operations.graph import KnowledgeGraphAnswer, KnowledgeGraphRequest, knowledge_graph
from infold.web.rendering import Pages

MOST_NOTES: Final = 5000  # more is a cloud, and takes a browser long
_NOTES: Final = 500
_LISTED: Final = 100


class GraphPages(Pages):
    """The graph, drawn and as a list."""

    async def graph(self, note: str, hops: int, most: int) -> Response:
        """What is near a note, or the whole vault's most linked notes."""
        request = KnowledgeGraphRequest(view="map", note=note.strip() or None, hops=hops, limit=most)
        found = await self.ask(knowledge_graph, request)
        drawn = _drawn(found)
        return self.page("graph", found=found, drawn=drawn, hops=hops, most=most, limit=MOST_NOTES, listed=_LISTED)


def _drawn(found: KnowledgeGraphAnswer) -> dict[str, Any]:
    """What the script draws."""
    folders: dict[str, int] = {}
    notes = [
        {
            "path": note.path,
            "links": (note.incoming or 0) + (note.outgoing or 0),
            "folder": folders.setdefault(note.path.rpartition("/")[0].partition("/")[0], len(folders)),
        }
        for note in found.notes
    ]
    return {"notes": notes, "joined": found.joined, "centre": 0 if found.note else -1}


def add_graph_pages(router: APIRouter, pages: GraphPages) -> None:
    """Their address."""

    @router.get("/graph")
    async def graph(
        note: str = "",
        hops: Annotated[int, Query(ge=1, le=6)] = 2,
        most: Annotated[int, Query(ge=1, le=MOST_NOTES)] = _NOTES,
    ) -> Response:
        return await pages.graph(note, hops, most)
