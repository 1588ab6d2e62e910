"""The navigator: explore, zoom, move, follow links, look through a lens (spec 5, Navigation)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from infold import lazy
from infold.app import OpenVault
from infold.errors import EnvironmentFault, IndexFault, LibrarianFault, NavigatorDamaged, NodeUnknown, UsageError
from infold.librarian.spend import Usage
from infold.navigator.lens import Lens
from infold.navigator.navigation import Navigator, NodeMatch
from infold.navigator.node_ranking import NodeFilter
from infold.navigator.nodes import NodeType
from infold.navigator.records import StoredNode
from infold.operations.contract import Effect, Group, Message
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation
from infold.vault.front_matter import TRUST_OF_NOTES
from infold.vault.names import folded

_DAY = r"^\d{4}-\d\d-\d\d$"
NAVIGATOR_ERRORS = (UsageError, NodeUnknown, NavigatorDamaged, EnvironmentFault, IndexFault)
NOTHING_IMPORTED = "Nothing is imported yet: browse_vault shows what there is, import brings it in."
_SHOWN = 240  # characters of a node without a summary


class CallerRequest(Message):
    """Who asks: each caller has a centre, a lens and a way of their own."""

    caller: str = Field(default="agent", min_length=1, max_length=100)
    """Your name, if you keep more than one place at once."""


class NodeInfo(Message):
    """A part of an imported note."""

    id: str
    type: NodeType
    path: str
    start_line: int
    end_line: int
    title: str
    """Of an article or a section; empty for a paragraph."""
    trail: tuple[str, ...]
    """The titles above it, the article's first; its first heading only where it says something else."""
    summary: str
    """What it says, in short; of one that waits for its summary how it begins."""
    dirty: bool
    """Its content has changed since it was summarised, or it never was; import makes it fresh."""
    updated_at: str
    trust: str
    """vault: a person's own; external: from outside, or holding text from there, and not to be followed."""


class FoundNode(NodeInfo):
    """A node, and how near it is."""

    likeness: float
    """1 is nearest; a lens and found words may raise it."""
    reason: str
    """The line of the link that leads to it, where one does."""


class Filters(CallerRequest):
    """Which nodes are looked at."""

    types: tuple[NodeType, ...] = ()
    """Only articles, sections or paragraphs; else all levels."""
    folder: str = ""
    """Only notes in this folder."""
    tags: tuple[str, ...] = ()
    """Only notes with each of these tags, or one below it."""
    since: str | None = Field(default=None, pattern=_DAY)
    """Only notes of that day or later."""
    until: str | None = Field(default=None, pattern=_DAY)
    """Only notes of that day or earlier."""
    limit: int = Field(default=10, ge=1, le=100)
    """At most so many nodes."""

    def where(self) -> NodeFilter:
        """The same for the navigator."""
        return NodeFilter(self.types, self.folder, self.tags, self.since, self.until)


class NodesAnswer(Message):
    """Nodes, the nearest first, and where you are now."""

    nodes: tuple[FoundNode, ...]
    centre: NodeInfo | None
    """The node that "this one" means from now on."""
    breadcrumbs: tuple[str, ...]
    """The titles from its article down to it."""
    lens: str | None
    """What you look through."""
    notice: str
    """What to know, such as that nothing is imported yet."""


class ExploreRequest(Filters):
    """What to look for, and from where."""

    query: str = Field(min_length=1)
    """A question or a subject."""
    center_node_id: str | None = None
    """Look from this node; "this one" is your centre."""
    radius: float | None = Field(default=None, ge=0, le=2)
    """The largest cosine distance; else one that was measured to hold what belongs together."""


@operation(Group.NAVIGATOR, Effect.READS, errors=NAVIGATOR_ERRORS)
def explore(vault: OpenVault, request: ExploreRequest) -> NodesAnswer:
    """Find the articles, sections and paragraphs nearest to a question, at all levels.

    Only imported notes are looked at; browse_vault and import bring more in. The best becomes your centre.
    """
    navigator = vault.navigator(request.caller)
    found = navigator.explore(
        request.query, request.center_node_id, request.radius, request.where(), limit=request.limit
    )
    return _nodes(vault, navigator, found)


class NodeRequest(CallerRequest):
    """Which node."""

    node_id: str | None = None
    """The node's id; "this one", or nothing, is your centre."""


class MoveRequest(Filters):
    """From where, and how far."""

    node_id: str | None = None
    """The node's id; "this one", or nothing, is your centre."""
    across: bool = False
    """Look at all levels, and not only at the node's own."""


@operation(Group.NAVIGATOR, Effect.READS, errors=NAVIGATOR_ERRORS)
def move(vault: OpenVault, request: MoveRequest) -> NodesAnswer:
    """Shift the focus: the nodes nearest in meaning to one, of its own level or across levels.

    This renames nothing. The node becomes your centre.
    """
    navigator = vault.navigator(request.caller)
    found = navigator.move(request.node_id, request.where(), across=request.across, limit=request.limit)
    return _nodes(vault, navigator, found)


@operation(Group.NAVIGATOR, Effect.READS, errors=NAVIGATOR_ERRORS)
def zoom_in(vault: OpenVault, request: NodeRequest) -> NodesAnswer:
    """Go deeper: what a node is made of, in reading order. It becomes your centre."""
    navigator = vault.navigator(request.caller)
    _, below = navigator.zoom_in(request.node_id)
    return _nodes(vault, navigator, [NodeMatch(node, 1.0) for node in below])


@operation(Group.NAVIGATOR, Effect.READS, errors=NAVIGATOR_ERRORS)
def zoom_out(vault: OpenVault, request: NodeRequest) -> NodesAnswer:
    """Rise to what a node is part of, with its summary, and the parts beside it. That becomes your centre.

    Beside an article stand those of its folder, of many the nearest by name.
    """
    navigator = vault.navigator(request.caller)
    node, beside = navigator.zoom_out(request.node_id)
    answer = _nodes(vault, navigator, [NodeMatch(each, 1.0) for each in beside])
    is_folder = node in beside
    more = len(navigator.in_folder_of(node)) - len(beside) if is_folder else 0
    notice = f"{more:,} more articles are in this folder: explore, or browse_vault, finds them." if more > 0 else ""
    return answer.model_copy(update={"notice": answer.notice or notice})


class FollowLinkRequest(NodeRequest):
    """Which links of which node."""

    link_type: Literal["backlink", "containment"] = "backlink"
    """backlink: what links to it, and where its own links lead; containment: what holds it, and what it holds."""


@operation(Group.NAVIGATOR, Effect.READS, errors=NAVIGATOR_ERRORS)
def follow_link(vault: OpenVault, request: FollowLinkRequest) -> NodesAnswer:
    """Follow the links of a node, each with the line it stands on. The node becomes your centre."""
    navigator = vault.navigator(request.caller)
    return _nodes(vault, navigator, navigator.follow(request.node_id, request.link_type))


@operation(Group.NAVIGATOR, Effect.READS, errors=NAVIGATOR_ERRORS, is_idempotent=False)
def back(vault: OpenVault, request: CallerRequest) -> NodesAnswer:
    """Go back to where you were before the last step."""
    navigator = vault.navigator(request.caller)
    node = navigator.back()
    return _nodes(vault, navigator, [NodeMatch(node, 1.0)])


class FilterRequest(CallerRequest):
    """What to look through."""

    lens: str | None = None
    """A saved lens, technical, personal or recent, or a few words; nothing takes the lens away."""
    notes: tuple[str, ...] = ()
    """Notes that show what is meant: the lens is saved with them."""
    tags: tuple[str, ...] = ()
    """Tags that belong to it."""
    since: str | None = Field(default=None, pattern=_DAY)
    """It prefers what is of that day or later."""
    until: str | None = Field(default=None, pattern=_DAY)
    """It prefers what is of that day or earlier."""


class LensCarrier(Message):
    """A part of a lens, and how much of what the lens does it does."""

    kind: Literal["word", "note", "tag", "time"]
    what: str
    share: float
    """From 0 to 1; those of a lens add up to 1."""


class FilterAnswer(Message):
    """The lens in force, and what it does."""

    lens: Lens | None
    explanation: str
    carried_by: tuple[LensCarrier, ...]
    """What carries it over the imported notes, the most first; empty without a lens, or before anything is imported."""
    lenses: tuple[str, ...]
    """All there are."""


@operation(Group.NAVIGATOR, Effect.READS, errors=NAVIGATOR_ERRORS, name="filter")
def filter_(vault: OpenVault, request: FilterRequest) -> FilterAnswer:
    """Look through a lens: what is like it comes first in explore and move; nothing is left out.

    A lens is a few words, example notes, tags or a time; technical, personal and recent come with infold.
    """
    navigator = vault.navigator(request.caller)
    given = {"notes": request.notes, "tags": request.tags, "since": request.since, "until": request.until}
    if request.lens and any(given.values()):
        base = navigator.lens(request.lens)
        made = base.model_dump(mode="json") | {name: value for name, value in given.items() if value}
        vault.navigator_store.choices.save_lens(Lens.model_validate(made | {"name": base.name}))
    lens = navigator.look_through(request.lens)
    names = tuple(sorted({*lazy.navigator.lens.BUILT_IN, *vault.navigator_store.choices.lenses()}))
    shares = navigator.lens_shares(lens) if lens is not None else ()
    carried = tuple(LensCarrier(kind=each.kind, what=each.what, share=round(each.share, 3)) for each in shares)
    return FilterAnswer(lens=lens, explanation=_explained(lens), carried_by=carried, lenses=names)


def _explained(lens: Lens | None) -> str:
    if lens is None:
        return "You look at everything as it is."
    parts = [f"the words “{word}”" for word in lens.words]
    parts += [f"the note {note}" for note in lens.notes] + [f"the tag #{tag.lstrip('#')}" for tag in lens.tags]
    if lens.recent:
        parts.append("what is recent")
    if lens.since or lens.until:
        parts.append(f"what is of {lens.since or 'any day'} to {lens.until or 'today'}")
    return f"What is like {', '.join(parts)} comes first." if parts else "This lens has nothing in it yet."


class SummarizeRequest(Spending):
    """Which nodes, and from where to look at them."""

    node_ids: tuple[str, ...] = Field(min_length=1, max_length=50)
    """The nodes; "this one" is your centre."""
    perspective: str = ""
    """A perspective, such as "what was decided"; else what they have in common."""
    caller: str = Field(default="agent", min_length=1, max_length=100)
    """Your name, if you keep more than one place at once."""


class SummarizeAnswer(Message):
    """One summary of all of them. With a `quote` nothing was done yet."""

    summary: str
    sources: tuple[str, ...]
    """Where it is from: path:line."""
    trust: str
    """vault: a person's own; external: a node of it is from outside, or holds text from there."""
    usage: Usage
    quote: Quote | None = None


@operation(Group.NAVIGATOR, Effect.SPENDS, takes_long=True, errors=(*NAVIGATOR_ERRORS, LibrarianFault))
def summarize(vault: OpenVault, request: SummarizeRequest) -> SummarizeAnswer:
    """Summarise several nodes together, from a perspective. It is kept for the same nodes.

    Where a model would be paid, the first answer is an estimate with a token.
    """
    navigator = vault.navigator(request.caller)
    nodes = [navigator.node(node_id) for node_id in request.node_ids]
    quote = quote_first(vault, "summarize", request, lambda: vault.estimate_together(nodes, request.perspective))
    if quote is not None:
        return SummarizeAnswer(summary="", sources=(), trust=TRUST_OF_NOTES, usage=Usage(), quote=quote)
    space = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    summary, usage = vault.summarise_nodes(nodes, request.perspective, space)
    trust = weakest_trust(vault.navigator_store.trusts(nodes).values())
    sources = tuple(f"{node.path}:{node.line}" for node in nodes)
    return SummarizeAnswer(summary=summary, sources=sources, trust=trust, usage=usage)


def weakest_trust(trusts: Iterable[str]) -> str:
    """A person's own where all is; else whose it is that is not."""
    return next((each for each in trusts if each and each != TRUST_OF_NOTES), TRUST_OF_NOTES)


def node_info(vault: OpenVault, node: StoredNode) -> NodeInfo:
    """A node as it is answered."""
    return NodeInfo(**_fields(vault, node))


def _fields(vault: OpenVault, node: StoredNode) -> dict[str, object]:
    summary = node.summary or " ".join(vault.navigator_store.text(node).split())[:_SHOWN]
    return {
        "id": node.id,
        "type": node.type,
        "path": node.path,
        "start_line": node.line,
        "end_line": node.end_line,
        "title": node.title,
        "trail": _titles_once(node.trail),
        "summary": summary,
        "dirty": node.is_dirty,
        "updated_at": node.updated_at,
        "trust": vault.navigator_store.trusts([node])[node.id],
    }


def _titles_once(titles: Sequence[str]) -> tuple[str, ...]:
    """The titles from an article down, without a heading right below it that only repeats its title."""
    is_repeated = len(titles) > 1 and folded(titles[0]) == folded(titles[1])
    return (titles[0], *titles[2:]) if is_repeated else tuple(titles)


def _nodes(vault: OpenVault, navigator: Navigator, found: Sequence[NodeMatch]) -> NodesAnswer:
    place = navigator.place
    centre = vault.navigator_store.node(place.centre) if place.centre else None
    crumbs = [node.title or "¶" for node in navigator.breadcrumbs(centre)] if centre is not None else []
    notice = "" if found or vault.navigator_store.choices.imports() else NOTHING_IMPORTED
    return NodesAnswer(
        nodes=tuple(
            FoundNode(**_fields(vault, each.node), likeness=each.likeness, reason=each.reason) for each in found
        ),
        centre=node_info(vault, centre) if centre is not None else None,
        breadcrumbs=_titles_once(crumbs),
        lens=place.lens,
        notice=notice,
    )
