"""Notes made, renamed and deleted; notes are read with memory_get and added to with notebook_write (spec 4, CRUD)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Literal

from infold.app import OpenVault
from infold.errors import (
    NoteChanged,
    NoteExists,
    NoteNotFound,
    NoteUnreadable,
    PathRefused,
    StateUnwritable,
    UsageError,
    VaultBusy,
)
from infold.knowledge.moves import TouchedLink
from infold.knowledge.note_changes import NoteChanges, NoteDraft
from infold.operations.contract import Effect, Group, Message
from infold.operations.table import operation
from infold.search.index.contract import Filter, PointGroup
from infold.search.query.query_parser import as_text

NoteCategory = Literal["inbox", "projects", "reference", "archive"]

_ERRORS: Final = (
    NoteExists,
    NoteNotFound,
    PathRefused,
    NoteUnreadable,
    NoteChanged,
    UsageError,
    VaultBusy,
    StateUnwritable,
)
_TWINS: Final = 20  # notes among which a twin is looked for
_LONGEST_QUESTION: Final = 8_000  # characters of a text that its twin is looked for by


class KnowledgeCreateRequest(Message):
    """The note to make."""

    title: str
    """Its title; the file is named after it."""
    content: str
    """Its text, Markdown without front matter."""
    tags: tuple[str, ...] = ()
    """Tags for its front matter."""
    related_notes: tuple[str, ...] = ()
    """Notes to link to, by name or path."""
    category: NoteCategory = "inbox"
    """Which folder it goes to: inbox, projects, reference or archive, each by setting."""
    link_back: bool = False
    """Also link from the related notes to this one."""
    always_load: bool = False
    """Put it where every agent always has it before it; only for what a person wants there."""
    dry_run: bool = False
    """Only say what would be done."""


class KnowledgeCreateAnswer(Message):
    """The note that was made."""

    message: str
    path: str
    linked: tuple[str, ...]
    """Notes it links to."""
    change: str | None
    """What takes it back; null in a dry run."""
    diffs: dict[str, str]
    """In a dry run: what would be written, by file."""


@operation(Group.KNOWLEDGE, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def knowledge_create(vault: OpenVault, request: KnowledgeCreateRequest) -> KnowledgeCreateAnswer:
    """Make a new note with front matter, tags and [[links]] to related notes.

    A note that is there already, by its name or by what it says, is named instead: add to that one. It can be undone.
    """
    draft = NoteDraft(
        title=request.title,
        content=request.content,
        folder=folder_of(vault, request.category, always_load=request.always_load),
        tags=request.tags,
        related=request.related_notes,
        links_back=request.link_back,
    )
    return created(vault, draft, dry_run=request.dry_run)


def created(
    vault: OpenVault, draft: NoteDraft, *, dry_run: bool = False, may_be_twin: bool = False
) -> KnowledgeCreateAnswer:
    """The note made, unless there is a twin. Raises NoteExists, naming it.

    One that `may_be_twin` repeats others by its nature, such as a trail: it is only not to have the name of another.
    """
    with _changes(vault) as changes:
        plan = changes.plan_create(draft, lambda text: () if may_be_twin else near(vault, text))
        change = None if dry_run else plan.change.apply().id
    links = f", linked to {', '.join(plan.related)}" if plan.related else ""
    done = "would be made" if dry_run else "was made"
    return KnowledgeCreateAnswer(
        message=f"{plan.path} {done}{links}.",
        path=plan.path,
        linked=plan.related,
        change=change,
        diffs=plan.change.diffs() if dry_run else {},
    )


def folder_of(vault: OpenVault, category: NoteCategory, *, always_load: bool = False) -> str:
    """The folder of a category. Raises PathRefused where it is the one that is always loaded, unless told."""
    loaded = vault.params.notebook.reference_folder.strip("/")
    if always_load:
        return loaded
    folder: str = getattr(vault.params.knowledge, f"{category}_folder").strip("/")
    if loaded and (folder == loaded or folder.startswith(f"{loaded}/")):
        raise PathRefused(
            f"{folder} is always loaded by agents, so no category puts notes there.",
            hint=f"Set knowledge.{category}_folder to another, or ask for always_load.",
        )
    return folder


def near(vault: OpenVault, text: str) -> Iterable[str]:
    """The notes that a text has most to do with."""
    where = Filter(groups=(PointGroup.NOTEBOOK, PointGroup.DAILY, PointGroup.EXTERNAL))
    found = vault.search(as_text(text[:_LONGEST_QUESTION]), where, _TWINS, 0.0)
    return dict.fromkeys(result.path for result in found.results if not result.path.startswith("sources/"))


class KnowledgeRenameRequest(Message):
    """Which note, and how it is to be called."""

    note: str
    """The note, by name or path."""
    new: str
    """Its new name, or its new path; a folder, with / at its end, moves it there under its name."""
    dry_run: bool = False
    """Only say what would be done."""


class LinkChange(Message):
    """A link that changes with the note."""

    path: str
    line: int
    before: str
    after: str


class LinkNotice(Message):
    """A link that is told rather than changed."""

    path: str
    line: int
    raw: str
    """The link, or the line it stands on."""
    note: str | None
    """Where it leads from now on; null where nowhere."""


class KnowledgeRenameAnswer(Message):
    """The note under its new path."""

    message: str
    path: str
    rewritten: tuple[LinkChange, ...]
    caught: tuple[LinkNotice, ...]
    """Links that led nowhere and lead to the note from now on."""
    unkept: tuple[LinkNotice, ...]
    """Links that could not be kept leading where they did."""
    lost: tuple[str, ...]
    """Files that somebody changed meanwhile, and that stay as they are."""
    change: str | None
    """What takes it back; null in a dry run."""
    diffs: dict[str, str]


@operation(Group.KNOWLEDGE, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def knowledge_rename(vault: OpenVault, request: KnowledgeRenameRequest) -> KnowledgeRenameAnswer:
    """Rename a note, or move it to another folder; every link that led to it leads to it still.

    Aliases, headings, blocks, embeds, Markdown links, front matter and canvases included. One change, one undo.
    """
    with _changes(vault) as changes:
        plan = changes.plan_move(request.note, request.new)
        change = None if request.dry_run else plan.change.apply()
    done = "would be" if request.dry_run else "is"
    return KnowledgeRenameAnswer(
        message=f"The note {done} {plan.path} now; {len(plan.links.rewritten)} links follow.",
        path=plan.path,
        rewritten=tuple(LinkChange.of(link) for link in plan.links.rewritten),
        caught=_told(plan.links.caught),
        unkept=_told(plan.links.unkept),
        lost=change.lost if change is not None else (),
        change=change.id if change is not None else None,
        diffs=plan.change.diffs() if request.dry_run else {},
    )


class KnowledgeDeleteRequest(Message):
    """Which note is to go."""

    note: str
    """The note, by name or path."""
    dry_run: bool = False
    """Only say what would be done."""


class KnowledgeDeleteAnswer(Message):
    """What went."""

    message: str
    path: str
    breaks: tuple[LinkNotice, ...]
    """Links of other notes that lead nowhere from now on."""
    change: str | None
    """What takes it back; null in a dry run."""


@operation(Group.KNOWLEDGE, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def knowledge_delete(vault: OpenVault, request: KnowledgeDeleteRequest) -> KnowledgeDeleteAnswer:
    """Delete a note. Its bytes are kept and can be had back; links that break are named."""
    with _changes(vault) as changes:
        plan = changes.plan_delete(request.note)
        change = None if request.dry_run else plan.change.apply().id
    done = "would be deleted" if request.dry_run else "was deleted"
    return KnowledgeDeleteAnswer(
        message=f"{plan.path} {done}; {len(plan.breaks)} links lead to it.",
        path=plan.path,
        breaks=_told(plan.breaks),
        change=change,
    )


@contextmanager
def _changes(vault: OpenVault) -> Iterator[NoteChanges]:
    with vault.catalogued() as catalogue:
        yield NoteChanges(vault.workspace, catalogue)


def _told(links: Iterable[TouchedLink]) -> tuple[LinkNotice, ...]:
    return tuple(LinkNotice.of(link) for link in links)
