"""Memory trees and the rest: what the librarian does for them, documents in and out, the inbox, the index."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infold.app import OpenVault
from infold.docmem import upkeep
from infold.docmem.exporting import export_text
from infold.docmem.filing import Document, import_document
from infold.docmem.importing import import_note
from infold.docmem.place import child_of
from infold.docmem.to_inbox import send_to_inbox
from infold.errors import IndexFault, LibrarianFault, MemoryFault, PathRefused, StateUnwritable, UsageError, VaultBusy
from infold.librarian.spend import Usage
from infold.operations.contract import Effect, Group, Message, Nothing
from infold.operations.docmem_messages import MemoryNode, NodeRequest, node_messages
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation

_ERRORS = (MemoryFault, StateUnwritable, VaultBusy)


class DocmemCondenseRequest(Spending):
    """Where to look for what is due."""

    node: str | None = None
    """Only from this node down; else in all trees."""
    dry_run: bool = False
    """Say what is due, and do nothing."""


class DueSummary(Message):
    """Memories that have gathered, or whose summary is out of date."""

    parent: str
    summary: str | None
    """The summary that is to be renewed; null where there is none yet."""
    nodes: tuple[str, ...]


class DocmemCondenseAnswer(Message):
    """What was summarised. With a `quote`, nothing was: it says what it would take."""

    due: tuple[DueSummary, ...] = ()
    made: tuple[MemoryNode, ...] = ()
    renewed: tuple[MemoryNode, ...] = ()
    left: dict[str, str] = Field(default_factory=dict)
    """The first node of what could not be summarised, and why."""
    usage: Usage = Usage()
    quote: Quote | None = None


@operation(Group.DOCMEM, Effect.SPENDS, takes_long=True, errors=(*_ERRORS, LibrarianFault))
def docmem_condense(vault: OpenVault, request: DocmemCondenseRequest) -> DocmemCondenseAnswer:
    """Let the librarian summarise memories that have gathered, and renew summaries whose memories changed.

    Memories stay as they are, below their summary; `docmem_unsummarize` takes one back. Where a model would be paid,
    the first answer is an estimate with a token.
    """
    planned = vault.plan_condensing(request.node)
    due = tuple(
        DueSummary(
            parent=each.parent_id,
            summary=each.summary.id if each.summary else None,
            nodes=tuple(node.id for node in each.nodes),
        )
        for each in planned.due
    )
    quote = quote_first(vault, "docmem_condense", request, lambda: vault.estimate_condensing(planned))
    if quote is not None or request.dry_run:
        return DocmemCondenseAnswer(due=due, quote=quote)
    caps = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    done, usage = vault.condense(request.node, caps)
    made, renewed = node_messages(done.made), node_messages(done.renewed)
    return DocmemCondenseAnswer(due=due, made=made, renewed=renewed, left=done.left, usage=usage)


class DocmemImportRequest(Message):
    """A note of the vault, or a text, to become a tree. Exactly one of `note` and `text`."""

    note: str | None = None
    """The path of a note."""
    text: str | None = None
    """A document, Markdown."""
    title: str = "document"
    """What the text is called."""
    to: str | None = None
    """Below this node; else a tree of its own."""
    again: bool = False
    """Also where the same note was imported before."""


class DocmemImportAnswer(Message):
    """What was made."""

    node: MemoryNode
    """The upmost of it."""
    new: bool
    """False where the same was imported before, and nothing was done."""


@operation(Group.DOCMEM, Effect.WRITES, errors=(*_ERRORS, PathRefused))
def docmem_import(vault: OpenVault, request: DocmemImportRequest) -> DocmemImportAnswer:
    """Read a note or a text into a memory tree: Markdown by headings. All of it becomes readonly nodes."""
    if (request.note is None) == (request.text is None):
        raise UsageError("Give exactly one of note and text.")
    memory = vault.docmem
    if request.note is not None:
        place = child_of(request.to) if request.to is not None else None
        done = import_note(memory, vault.workspace, request.note, place, again=request.again)
        node, is_new = done.node, done.is_new
    else:
        target = memory.get(request.to) if request.to is not None else None
        node = import_document(memory, vault.workspace, Document(request.title, request.text or ""), target)
        is_new = True
    if is_new:
        vault.summarise_due(node.id)
    return DocmemImportAnswer(node=MemoryNode.of_node(memory.get(node.id)), new=is_new)


class DocmemPlaceRequest(Spending):
    """A document that looks for its place."""

    text: str
    """The document, or what was said."""
    title: str = "document"
    """What it is called."""


class DocmemPlaceAnswer(Message):
    """Where it belongs. With a `quote`, nothing was asked: it says what it would take."""

    target: MemoryNode | None = None
    """The node to import it below; null where it needs a tree of its own."""
    score: float = 0.0
    reason: str = ""
    quote: Quote | None = None


@operation(Group.DOCMEM, Effect.SPENDS, errors=(*_ERRORS, LibrarianFault, IndexFault))
def docmem_place(vault: OpenVault, request: DocmemPlaceRequest) -> DocmemPlaceAnswer:
    """Say which memory tree, and which part of it, a document or thread belongs to; or that it needs a new one."""
    document = Document(request.title, request.text)
    quote = quote_first(vault, "docmem_place", request, lambda: vault.estimate_placing(document))
    if quote is not None:
        return DocmemPlaceAnswer(quote=quote)
    caps = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    found = vault.propose_place(document, caps)
    target = MemoryNode.of_node(found.target) if found.target is not None else None
    return DocmemPlaceAnswer(target=target, score=found.home.score, reason=found.home.reason)


class DocmemExportRequest(NodeRequest):
    """Which part of a tree, and how."""

    format: Literal["markdown", "toml", "jsonl"] = "markdown"
    """The document it reads as, TOML that makes an equal tree, or a line of JSON a node."""


class DocmemExportAnswer(Message):
    """What was exported."""

    node: str
    format: str
    text: str


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_export(vault: OpenVault, request: DocmemExportRequest) -> DocmemExportAnswer:
    """Export a memory tree, or a part of one: as the document it reads as, as TOML, as a line of JSON a node."""
    text = export_text(vault.docmem, request.node, request.format)
    return DocmemExportAnswer(node=request.node, format=request.format, text=text)


class DocmemToInboxRequest(NodeRequest):
    """Which part of a tree."""

    again: bool = False
    """Also where the same texts were sent before."""


class DocmemToInboxAnswer(Message):
    """What was sent."""

    sent: bool
    """False where it was sent before, and nothing was done."""
    paragraphs: int
    inbox: str
    day: str
    node: MemoryNode


@operation(Group.DOCMEM, Effect.WRITES, errors=_ERRORS)
def docmem_to_inbox(vault: OpenVault, request: DocmemToInboxRequest) -> DocmemToInboxAnswer:
    """Send a memory node and what is below it to the vault's inbox, as paragraphs, to be folded into notes."""
    sent = send_to_inbox(vault.docmem, vault.workspace, request.node, again=request.again)
    return DocmemToInboxAnswer.of(sent, sent=sent.is_new, node=MemoryNode.of_node(sent.node))


class DocmemTaggedRequest(Message):
    """Which tag."""

    tag: str
    """With or without the @."""
    limit: int = Field(default=20, ge=1)
    """At most so many nodes."""


class DocmemTaggedAnswer(Message):
    """The nodes of a tag."""

    tag: str
    nodes: tuple[MemoryNode, ...]


@operation(Group.DOCMEM, Effect.READS, errors=(*_ERRORS, IndexFault))
def docmem_tagged(vault: OpenVault, request: DocmemTaggedRequest) -> DocmemTaggedAnswer:
    """List the memory nodes that carry a @tag in their text, and those that are named so."""
    nodes = vault.tagged(request.tag, limit=request.limit)
    return DocmemTaggedAnswer(tag=request.tag.lstrip("@").casefold(), nodes=node_messages(nodes))


class DocmemIndexAnswer(Message):
    """What was sent to the search index."""

    sent: int
    removed: int
    embeddings_computed: int


@operation(Group.DOCMEM, Effect.READS, takes_long=True, errors=(*_ERRORS, IndexFault))
def docmem_index(vault: OpenVault, request: Nothing) -> DocmemIndexAnswer:  # noqa: ARG001
    """Bring the search index up to date with the memory trees. Every search does this first."""
    done = vault.index_memory()
    return DocmemIndexAnswer(
        sent=done.chunks_created, removed=done.files_removed, embeddings_computed=done.embeddings_computed
    )


class DocmemCheckAnswer(Message):
    """How the store of all trees stands."""

    file: str
    problems: tuple[str, ...]
    """What is wrong; empty where nothing is."""
    trees: int = 0
    nodes: int = 0
    versions: int = 0
    """Earlier versions of nodes."""


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_check(vault: OpenVault, request: Nothing) -> DocmemCheckAnswer:  # noqa: ARG001
    """Check the store of all memory trees: the file, the trees, every hash."""
    store = vault.docmem.store
    wrong = tuple(upkeep.problems(store))
    if wrong:
        return DocmemCheckAnswer(file=str(store.file), problems=wrong)
    return DocmemCheckAnswer.of(upkeep.facts(store), file=str(store.file), problems=())
