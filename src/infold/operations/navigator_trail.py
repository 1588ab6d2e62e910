"""The way a caller went through imported notes, saved as a note of links (spec 5; spec 4, CRUD)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from pydantic import Field

from infold import lazy
from infold.app import OpenVault
from infold.errors import NodeUnknown, NoteExists, PathRefused, StateUnwritable, VaultBusy
from infold.knowledge.note_changes import NoteDraft
from infold.operations.contract import Effect, Group, Message
from infold.operations.navigator import NAVIGATOR_ERRORS, CallerRequest
from infold.operations.notes import NoteCategory, created, folder_of
from infold.operations.table import operation
from infold.text import collapse_spaces

if TYPE_CHECKING:
    from infold.navigator.navigation import Navigator
    from infold.navigator.records import StoredNode

_NO_ANCHOR: Final = frozenset("#|^[]%\\")  # signs that a link to a heading cannot hold
_QUOTED: Final = 80  # characters of what a step says
_ERRORS: Final = (*NAVIGATOR_ERRORS, NoteExists, PathRefused, VaultBusy, StateUnwritable)


class TrailSaveRequest(CallerRequest):
    """What the note of the trail is to be."""

    title: str = Field(default="", max_length=200)
    """Its title; else the day, and where the trail begins and ends."""
    tags: tuple[str, ...] = ("trail",)
    """Tags for its front matter."""
    category: NoteCategory = "inbox"
    """Which folder it goes to: inbox, projects, reference or archive, each by setting."""
    dry_run: bool = False
    """Only say what would be written."""


class TrailStep(Message):
    """A node of the trail, and the link to it."""

    node_id: str
    path: str
    link: str


class TrailSaveAnswer(Message):
    """The note of the trail."""

    message: str
    path: str
    steps: tuple[TrailStep, ...]
    """In the order they were gone."""
    gone: int
    """Steps to nodes that are there no more, left out."""
    change: str | None
    """What takes it back; null in a dry run."""
    diffs: dict[str, str]
    """In a dry run: what would be written, by file."""


@operation(Group.NAVIGATOR, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def trail_save(vault: OpenVault, request: TrailSaveRequest) -> TrailSaveAnswer:
    """Save where you went, from the first step to your centre, as a new note: a link and a line for each.

    Links lead to the heading where a step was within a note. It can be undone.
    """
    navigator = vault.navigator(request.caller)
    place = navigator.place
    ids = [*place.way, *([place.centre] if place.centre else [])]
    nodes = [node for node_id in ids if (node := vault.navigator_store.node(node_id)) is not None]
    if not nodes:
        raise NodeUnknown("There is no trail yet.", hint="explore finds nodes; zoom_in, move and follow_link go on.")
    folder = folder_of(vault, request.category)
    links = _links(vault, navigator, nodes, folder)
    draft = NoteDraft(
        title=request.title.strip() or _title(nodes),
        content="\n".join(f"{n}. {_line(vault, *step)}" for n, step in enumerate(zip(nodes, links, strict=True), 1)),
        folder=folder,
        tags=request.tags,
    )
    made = created(vault, draft, dry_run=request.dry_run, may_be_twin=True)
    steps = (TrailStep(node_id=node.id, path=node.path, link=link) for node, link in zip(nodes, links, strict=True))
    return TrailSaveAnswer(
        message=made.message,
        path=made.path,
        steps=tuple(steps),
        gone=len(ids) - len(nodes),
        change=made.change,
        diffs=made.diffs,
    )


def _links(vault: OpenVault, navigator: Navigator, nodes: list[StoredNode], folder: str) -> list[str]:
    """For each node a link from a note in `folder`: to its note, and to the heading it stands under."""
    with vault.catalogued() as catalogue:
        resolver = lazy.knowledge.vault_links.resolver_of(lazy.knowledge.vault_links.aliases_of(catalogue))
    place = f"{folder}/trail.md".lstrip("/")
    return [
        _to_heading(lazy.knowledge.new_note.link_to(resolver, node.path, place), _heading(navigator, node))
        for node in nodes
    ]


def _to_heading(link: str, heading: str) -> str:
    return link if not heading or _NO_ANCHOR & set(heading) else f"{link.removesuffix(']]')}#{heading}]]"


def _heading(navigator: Navigator, node: StoredNode) -> str:
    """The title of the innermost section that a node is, or is in; '' where it is in none."""
    sections = [each for each in navigator.breadcrumbs(node) if each.type == "section" and each.title]
    return sections[-1].title if sections else ""


def _line(vault: OpenVault, node: StoredNode, link: str) -> str:
    said = collapse_spaces(node.summary or vault.navigator_store.text(node))
    shown = said if len(said) <= _QUOTED else f"{said[:_QUOTED].rsplit(' ', 1)[0]} …"
    return f"{link}: {_unlinked(shown)}" if shown else link


def _unlinked(text: str) -> str:
    """A summary may hold the marks of links, of tags and of code; in the note of a trail they are only text."""
    return text.replace("[[", "").replace("]]", "").replace("`", "").replace("#", "")


def _title(nodes: list[StoredNode]) -> str:
    named = [node.title or (node.trail[-1] if node.trail else node.path) for node in nodes]
    way = named[0] if named[0] == named[-1] else f"{named[0]} to {named[-1]}"
    return f"Trail {date.today().isoformat()} {way}"  # noqa: DTZ011 - the person's day
