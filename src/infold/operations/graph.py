"""The graph of the notes, and what is not well in it (spec 4, Graph traversal and note statistics)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from infold import lazy
from infold.app import OpenVault
from infold.catalogue.store import Catalogue
from infold.errors import NoteNotFound, StateUnwritable, UsageError, VaultNotFound
from infold.knowledge.graph import Graph
from infold.knowledge.vault_links import (
    backlinks_of,
    communities_of,
    dangling_of,
    forward_links_of,
    graph_of,
    statistics_of,
)
from infold.operations.contract import Effect, Group, Message
from infold.operations.table import operation

GraphView = Literal[
    "statistics",
    "links",
    "backlinks",
    "neighbours",
    "path",
    "orphans",
    "dead_ends",
    "dangling",
    "hubs",
    "communities",
    "map",
]
_OF_A_NOTE = ("links", "backlinks", "neighbours", "path")


class KnowledgeGraphRequest(Message):
    """Which part of the graph to show."""

    view: GraphView = "statistics"
    """statistics, hubs, communities, orphans, dead_ends, dangling; of a note: links, backlinks, neighbours, path.

    A map is notes with the links between them: what is near a note, else the most linked of all."""
    note: str | None = None
    """The note that it is about, by name or path."""
    to: str | None = None
    """Of a path: the note where it ends."""
    hops: int = Field(default=1, ge=1, le=6)
    """Of neighbours, and of the map of a note: how many links away at most."""
    limit: int = Field(default=50, ge=1)
    """At most so many."""


class GraphNote(Message):
    """A note of the graph. What does not apply to the view is null or empty."""

    path: str
    distance: int | None = None
    """Links away."""
    incoming: int | None = None
    outgoing: int | None = None
    line: int | None = None
    """Of a link: where it stands."""
    context: str = ""
    """Of a link: the line it stands on."""


class DanglingTarget(Message):
    """What links say that lead to no note."""

    target: str
    sources: tuple[str, ...]
    nearest: str | None
    """The note whose name comes nearest."""


class GraphNumbers(Message):
    """The graph in numbers."""

    notes: int
    links: int
    dangling: int
    orphans: int
    dead_ends: int
    components: int
    """Groups of notes joined by links."""
    largest_component: int


class KnowledgeGraphAnswer(Message):
    """What the view shows."""

    view: GraphView
    note: str | None
    """The path of the note that it is about."""
    total: int
    """How many there are, shown or not."""
    notes: tuple[GraphNote, ...] = ()
    dangling: tuple[DanglingTarget, ...] = ()
    communities: tuple[tuple[str, ...], ...] = ()
    """Notes that link to each other more than to the rest, largest group first."""
    numbers: GraphNumbers | None = None
    joined: tuple[tuple[int, int], ...] = ()
    """Of a map: which of the notes are linked, by their places in `notes`."""


@operation(Group.KNOWLEDGE, Effect.READS, errors=(NoteNotFound, UsageError, VaultNotFound, StateUnwritable))
def knowledge_graph(vault: OpenVault, request: KnowledgeGraphRequest) -> KnowledgeGraphAnswer:
    """Look at how the notes link: links, backlinks with their context, neighbours, paths, hubs, communities, gaps."""
    if request.view in _OF_A_NOTE and not request.note:
        raise UsageError(f"The view {request.view} is of a note.", hint="Name one.")
    if request.view == "path" and not request.to:
        raise UsageError("A path leads from one note to another.", hint="Name both.")
    with vault.catalogued() as catalogue:
        find = lazy.knowledge.note_changes.NoteChanges(vault.workspace, catalogue).find
        note = find(request.note) if request.note else None
        to = find(request.to) if request.to else None
        return _Viewing(catalogue, request, note or "", to or "").answer()


class _Viewing:
    """One view of the graph."""

    def __init__(self, catalogue: Catalogue, request: KnowledgeGraphRequest, note: str, to: str) -> None:
        self.catalogue, self.request, self.note, self.to = catalogue, request, note, to

    def answer(self) -> KnowledgeGraphAnswer:
        view = self.request.view
        if view == "backlinks":
            found = backlinks_of(self.catalogue, self.note)
            return self._notes([GraphNote(path=link.path, line=link.line, context=link.context) for link in found])
        if view == "links":
            links = forward_links_of(self.catalogue, self.note)
            return self._notes([GraphNote(path=link.target or link.name, line=link.line) for link in links])
        if view == "statistics":
            numbers = statistics_of(self.catalogue)
            return self._made(numbers.notes, numbers=GraphNumbers.of(numbers))
        if view == "communities":
            groups = communities_of(self.catalogue)
            return self._made(len(groups), communities=tuple(groups[: self.request.limit]))
        if view == "map":
            return self._map(graph_of(self.catalogue))
        if view == "dangling":
            dangling = dangling_of(self.catalogue)
            shown = map(DanglingTarget.of, dangling.first(self.request.limit, self.catalogue.paths()))
            return self._made(len(dangling), dangling=tuple(shown))
        return self._notes(self._listed(graph_of(self.catalogue)))

    def _map(self, graph: Graph) -> KnowledgeGraphAnswer:
        """What is near a note, the nearest first, or the most linked notes, and the links between them."""
        if self.note:
            near = list(graph.neighbours(self.note, self.request.hops).items())
            total = len(near)
            shown = [GraphNote.of(graph.hub(path), distance=away) for path, away in near[: self.request.limit]]
        else:
            hubs = graph.hubs(None)
            total = len(hubs)
            shown = [GraphNote.of(hub) for hub in hubs[: self.request.limit]]
        joined = tuple(graph.links_among([note.path for note in shown]))
        return self._made(total, notes=tuple(shown), joined=joined)

    def _listed(self, graph: Graph) -> list[GraphNote]:
        """The notes of the views that are lists of notes."""
        match self.request.view:
            case "neighbours":
                near = graph.neighbours(self.note, self.request.hops)
                return [GraphNote(path=path, distance=distance) for path, distance in near.items() if distance]
            case "path":
                chain = graph.path(self.note, self.to)
                return [GraphNote(path=path, distance=distance) for distance, path in enumerate(chain)]
            case "hubs":
                return [GraphNote.of(hub) for hub in graph.hubs(None)]
            case "orphans":
                return [GraphNote(path=path) for path in graph.orphans()]
            case _:
                return [GraphNote(path=path) for path in graph.dead_ends()]

    def _notes(self, notes: Sequence[GraphNote]) -> KnowledgeGraphAnswer:
        return self._made(len(notes), notes=tuple(notes[: self.request.limit]))

    def _made(self, total: int, **parts: Any) -> KnowledgeGraphAnswer:
        return KnowledgeGraphAnswer(view=self.request.view, note=self.note or None, total=total, **parts)


class VaultLintRequest(Message):
    """What to look for."""

    contradictions: bool = True
    """Also compare what notes say: the same of the same thing, with another number, date, amount or negation."""
    limit: int = Field(default=50, ge=1)
    """At most so many of each kind."""


class QuotedStatement(Message):
    """A sentence, and where it stands."""

    path: str
    line: int
    text: str
    date: str


class ContradictingPair(Message):
    """Two sentences that cannot both be so, the newer first."""

    kind: Literal["number", "amount", "date", "negation"]
    newer: QuotedStatement
    older: QuotedStatement


class VaultLintAnswer(Message):
    """What was found; of each kind how many there are, and the first of them."""

    notes: int
    counts: dict[str, int]
    dangling: tuple[DanglingTarget, ...]
    orphans: tuple[str, ...]
    twins: tuple[tuple[str, ...], ...]
    """Notes whose names differ in case, Unicode form or punctuation only."""
    empty: tuple[str, ...]
    contradictions: tuple[ContradictingPair, ...]
    unread: tuple[str, ...]
    """Notes that could not be read."""


@operation(Group.KNOWLEDGE, Effect.READS, takes_long=True, errors=(VaultNotFound, StateUnwritable))
def knowledge_lint(vault: OpenVault, request: VaultLintRequest) -> VaultLintAnswer:
    """Find what is not well in the notes: broken links, orphans, twins, empty notes, and contradictions."""
    with vault.catalogued() as catalogue:
        found = lazy.knowledge.lint.lint(
            catalogue,
            vault.params.vault.root_file,
            with_contradictions=request.contradictions,
            dangling_limit=request.limit,
        )
    kinds = {kind: getattr(found, kind) for kind in ("orphans", "twins", "empty", "contradictions")}
    first = {kind: items[: request.limit] for kind, items in kinds.items()}
    return VaultLintAnswer(
        notes=found.notes,
        counts={"dangling": found.dangling_count} | {kind: len(items) for kind, items in kinds.items()},
        dangling=tuple(map(DanglingTarget.of, found.dangling)),
        orphans=tuple(first["orphans"]),
        twins=tuple(first["twins"]),
        empty=tuple(first["empty"]),
        contradictions=tuple(
            ContradictingPair(
                kind=pair.kind, newer=QuotedStatement.of(pair.newer), older=QuotedStatement.of(pair.older)
            )
            for pair in first["contradictions"]
        ),
        unread=tuple(found.unread),
    )
