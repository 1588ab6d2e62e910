"""The navigator: import notes at a price that is told first, zoom, move, look through a lens (spec 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from infold import lazy
from infold.app import OpenVault
from infold.errors import EnvironmentFault, IndexFault, LibrarianFault, NavigatorDamaged, NodeUnknown, UsageError
from infold.librarian.estimate import Estimate
from infold.librarian.spend import Usage
from infold.navigator.lens import Lens
from infold.navigator.navigation import Navigator, NodeFilter, NodeMatch
from infold.navigator.nodes import NodeType
from infold.navigator.store import StoredNode
from infold.operations.contract import Effect, Face, Group, Message, Nothing
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation

_DAY = r"^\d{4}-\d\d-\d\d$"
_ERRORS = (UsageError, NodeUnknown, NavigatorDamaged, EnvironmentFault, IndexFault)
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
    """The titles above it, the article's first."""
    summary: str
    """What it says, in short; of one that waits for its summary how it begins."""
    dirty: bool
    """Its content has changed since it was summarised, or it never was; import makes it fresh."""
    updated_at: str


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


@operation(Group.NAVIGATOR, Effect.READS, errors=_ERRORS)
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


@operation(Group.NAVIGATOR, Effect.READS, errors=_ERRORS)
def move(vault: OpenVault, request: MoveRequest) -> NodesAnswer:
    """Shift the focus: the nodes nearest in meaning to one, of its own level or across levels.

    This renames nothing. The node becomes your centre.
    """
    navigator = vault.navigator(request.caller)
    found = navigator.move(request.node_id, request.where(), across=request.across, limit=request.limit)
    return _nodes(vault, navigator, found)


@operation(Group.NAVIGATOR, Effect.READS, errors=_ERRORS)
def zoom_in(vault: OpenVault, request: NodeRequest) -> NodesAnswer:
    """Go deeper: what a node is made of, in reading order. It becomes your centre."""
    navigator = vault.navigator(request.caller)
    _, below = navigator.zoom_in(request.node_id)
    return _nodes(vault, navigator, [NodeMatch(node, 1.0) for node in below])


@operation(Group.NAVIGATOR, Effect.READS, errors=_ERRORS)
def zoom_out(vault: OpenVault, request: NodeRequest) -> NodesAnswer:
    """Rise to what a node is part of, with its summary, and the parts beside it. That becomes your centre."""
    navigator = vault.navigator(request.caller)
    _, beside = navigator.zoom_out(request.node_id)
    return _nodes(vault, navigator, [NodeMatch(node, 1.0) for node in beside])


class FollowLinkRequest(NodeRequest):
    """Which links of which node."""

    link_type: Literal["backlink", "containment"] = "backlink"
    """backlink: what links to it, and where its own links lead; containment: what holds it, and what it holds."""


@operation(Group.NAVIGATOR, Effect.READS, errors=_ERRORS)
def follow_link(vault: OpenVault, request: FollowLinkRequest) -> NodesAnswer:
    """Follow the links of a node, each with the line it stands on. The node becomes your centre."""
    navigator = vault.navigator(request.caller)
    return _nodes(vault, navigator, navigator.follow(request.node_id, request.link_type))


@operation(Group.NAVIGATOR, Effect.READS, errors=_ERRORS, is_idempotent=False)
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


class FilterAnswer(Message):
    """The lens in force, and what it does."""

    lens: Lens | None
    explanation: str
    lenses: tuple[str, ...]
    """All there are."""


@operation(Group.NAVIGATOR, Effect.READS, errors=_ERRORS, name="filter")
def filter_(vault: OpenVault, request: FilterRequest) -> FilterAnswer:
    """Look through a lens: what is like it comes first in explore and move; nothing is left out.

    A lens is a few words, example notes, tags or a time; technical, personal and recent come with infold.
    """
    navigator = vault.navigator(request.caller)
    given = {"notes": request.notes, "tags": request.tags, "since": request.since, "until": request.until}
    if request.lens and any(given.values()):
        base = navigator.lens(request.lens)
        made = base.model_dump(mode="json") | {name: value for name, value in given.items() if value}
        vault.navigator_store.save_lens(Lens.model_validate(made | {"name": base.name}))
    lens = navigator.look_through(request.lens)
    names = tuple(sorted({*lazy.navigator.lens.BUILT_IN, *vault.navigator_store.lenses()}))
    return FilterAnswer(lens=lens, explanation=_explained(lens), lenses=names)


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
    usage: Usage
    quote: Quote | None = None


@operation(Group.NAVIGATOR, Effect.SPENDS, takes_long=True, errors=(*_ERRORS, LibrarianFault))
def summarize(vault: OpenVault, request: SummarizeRequest) -> SummarizeAnswer:
    """Summarise several nodes together, from a perspective. It is kept for the same nodes.

    Where a model would be paid, the first answer is an estimate with a token.
    """
    navigator = vault.navigator(request.caller)
    nodes = [navigator.node(node_id) for node_id in request.node_ids]
    quote = quote_first(vault, "summarize", request, lambda: vault.estimate_together(nodes, request.perspective))
    if quote is not None:
        return SummarizeAnswer(summary="", sources=(), usage=Usage(), quote=quote)
    space = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    summary, usage = vault.summarise_nodes(nodes, request.perspective, space)
    return SummarizeAnswer(summary=summary, sources=tuple(f"{node.path}:{node.line}" for node in nodes), usage=usage)


class BrowseVaultRequest(Message):
    """Where to look."""

    path: str = ""
    """A folder of the vault; nothing is its top."""


class VaultFolder(Message):
    """A folder, with all that is below it counted."""

    path: str
    notes: int
    tokens: int
    """By the size of the files."""
    imported: int
    dirty: int


class VaultNote(Message):
    """A note, and its state in the navigator."""

    path: str
    tokens: int
    """By the size of the file."""
    state: Literal["not imported", "fresh", "dirty"]
    title: str
    day: str | None
    tags: tuple[str, ...]


class BrowseVaultAnswer(Message):
    """What lies right below a folder."""

    folders: tuple[VaultFolder, ...]
    notes: tuple[VaultNote, ...]


@operation(Group.NAVIGATOR, Effect.READS, errors=_ERRORS)
def browse_vault(vault: OpenVault, request: BrowseVaultRequest) -> BrowseVaultAnswer:
    """List the folders and notes of the vault, with their tokens and whether they are imported, to choose by."""
    folders, notes = vault.browse(request.path)
    return BrowseVaultAnswer(
        folders=tuple(VaultFolder.of(folder) for folder in folders), notes=tuple(VaultNote.of(note) for note in notes)
    )


class ImportRequest(Spending):
    """What to import."""

    paths: tuple[str, ...] = Field(min_length=1)
    """Notes and folders; "." is the whole vault."""


class NoteTokens(Message):
    """What one note will take, from low to high."""

    path: str
    tokens: tuple[int, int]


class ImportAnswer(Message):
    """What was imported. With a `quote` nothing was yet."""

    notes: int
    nodes: int
    summaries: int
    """How many were made now; kept ones cost nothing."""
    usage: Usage
    estimated_tokens: int
    warnings: tuple[str, ...]
    quote: Quote | None = None
    by_note: tuple[NoteTokens, ...] = ()
    """With a quote: what each note will take."""


@operation(Group.NAVIGATOR, Effect.SPENDS, name="import", takes_long=True, errors=(*_ERRORS, LibrarianFault))
def import_(vault: OpenVault, request: ImportRequest) -> ImportAnswer:
    """Import notes or folders into the navigator, or bring what changed up to date.

    Each note becomes an article with sections and paragraphs, and a summary each. Where a model would be paid, the
    first answer is an estimate by note with a token. Stopped, it goes on where it was.
    """
    by_note: dict[str, tuple[int, int]] = {}

    def estimate() -> Estimate | None:
        whole, each = vault.estimate_import(request.paths)
        by_note.update(each)
        return whole

    quote = quote_first(vault, "import", request, estimate)
    if quote is not None:
        listed = tuple(NoteTokens(path=path, tokens=tokens) for path, tokens in by_note.items())
        return ImportAnswer(
            notes=0,
            nodes=0,
            summaries=0,
            usage=Usage(),
            estimated_tokens=sum(quote.tokens) // 2,
            warnings=(),
            quote=quote,
            by_note=listed,
        )
    space = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    return ImportAnswer.of(vault.import_notes(request.paths, space))


class ThemesRequest(Message):
    """How fine, and where."""

    level: Literal[1, 2, 3] = 1
    """1: a few broad themes; 3: many fine ones."""
    folder: str = ""
    """Only of the notes in this folder."""


class ThemeInfo(Message):
    """A theme of the imported notes."""

    name: str
    terms: tuple[str, ...]
    notes: int
    representatives: tuple[str, ...]
    """The paths of notes that stand for it."""
    trend: str
    """growing, fading or steady over the years, where enough notes have a day."""
    years: dict[str, int]
    connected: tuple[str, ...]
    """The names of the themes nearest to it."""


class ThemesAnswer(Message):
    """The themes, the biggest first."""

    themes: tuple[ThemeInfo, ...]
    notice: str


@operation(Group.NAVIGATOR, Effect.READS, takes_long=True, errors=_ERRORS)
def themes(vault: OpenVault, request: ThemesRequest) -> ThemesAnswer:
    """Show the main themes of the imported notes: what each is about, its notes, how it grew, what is near it."""
    found = vault.themes(request.level, request.folder)
    nodes = vault.navigator_store.nodes([node_id for theme in found for node_id in theme.representatives])
    listed = tuple(
        ThemeInfo.of(
            theme,
            notes=len(theme.nodes),
            representatives=tuple(nodes[each].path for each in theme.representatives if each in nodes),
            connected=tuple(found[number].name for number, _ in theme.connected),
            years=dict(theme.years),
        )
        for theme in found
    )
    return ThemesAnswer(themes=listed, notice="" if listed else _NOTHING)


class PlacedNote(Message):
    """A note on the map."""

    node: str
    path: str
    title: str
    x: float
    y: float
    theme: int


class ThemeMapAnswer(Message):
    """Each imported note in two dimensions: what is alike stands together, and stays where it was."""

    notes: tuple[PlacedNote, ...]


@operation(
    Group.NAVIGATOR,
    Effect.READS,
    takes_long=True,
    errors=_ERRORS,
    not_in={Face.CLI: "places on a map are for faces that draw; a terminal does not"},
)
def theme_map(vault: OpenVault, request: Nothing) -> ThemeMapAnswer:  # noqa: ARG001 - the signature of operations
    """Get the map of the imported notes: coordinates from -1 to 1, and the number of each note's theme."""
    return ThemeMapAnswer(notes=tuple(PlacedNote.of(place) for place in vault.theme_map()))


_NOTHING = "Nothing is imported yet: browse_vault shows what there is, import brings it in."


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
        "trail": node.trail,
        "summary": summary,
        "dirty": node.is_dirty,
        "updated_at": node.updated_at,
    }


def _nodes(vault: OpenVault, navigator: Navigator, found: Sequence[NodeMatch]) -> NodesAnswer:
    place = navigator.place
    centre = vault.navigator_store.node(place.centre) if place.centre else None
    crumbs = [node.title or "¶" for node in navigator.breadcrumbs(centre)] if centre is not None else []
    notice = "" if found or vault.navigator_store.imports() else _NOTHING
    return NodesAnswer(
        nodes=tuple(
            FoundNode(**_fields(vault, each.node), likeness=each.likeness, reason=each.reason) for each in found
        ),
        centre=node_info(vault, centre) if centre is not None else None,
        breadcrumbs=tuple(crumbs),
        lens=place.lens,
        notice=notice,
    )
