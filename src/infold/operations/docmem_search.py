"""Memory trees and the search index: searched, expanded by a question, indexed; and where a document belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from infold.app import OpenVault
from infold.docmem.budgeted_expansion import Resolution
from infold.docmem.import_routing import Document, import_document
from infold.errors import EnvironmentFault, ImportRefused, IndexFault, LibrarianFault, UsageError
from infold.operations.contract import Effect, Group, Message, Nothing
from infold.operations.docmem import READ_ERRORS, DocmemNodeRequest, DocmemNodesAnswer, MemoryNode, node_of
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation

if TYPE_CHECKING:
    from infold.docmem.recalling import Recalled


class DocmemSearchRequest(Message):
    """What to look for, and where."""

    query: str
    """What to look for; @name follows a tag."""
    within: str | None = None
    """Only from this node down: a tree, or a part of one."""
    limit: int = Field(default=10, ge=1)
    """At most so many results."""


class FoundMemory(MemoryNode):
    """A node that answers, and where it stands."""

    score: float
    """From 0 to 1."""
    root: str
    summary: str | None
    """The nearest summary above it."""
    user: str | None
    """The node right below the root that it stands under."""
    above: tuple[MemoryNode, ...]
    """Its parent first, the root last."""
    position: int
    """Among its siblings, from 1."""
    siblings: int
    covered: tuple[MemoryNode, ...]
    """What matches below it too, the best first."""
    raised: bool
    """It is here for what is below it."""


class DocmemSearchAnswer(Message):
    """What was found, the best first."""

    query: str
    results: tuple[FoundMemory, ...]
    linked: dict[str, tuple[MemoryNode, ...]]
    """What each @tag in the query and the results stands for."""
    gone: int
    """Hits whose node is there no more."""
    notices: tuple[str, ...]
    """How far the answer can be relied on."""


@operation(Group.DOCMEM, Effect.READS, errors=(IndexFault, *READ_ERRORS))
def docmem_search(vault: OpenVault, request: DocmemSearchRequest) -> DocmemSearchAnswer:
    """Search memory trees by words and by meaning; each result says where it stands in its tree.

    A memory whose summary matches too is named under the summary; several memories of one parent make the parent the
    result.
    """
    found, notices = vault.recall(request.query, within=request.within, limit=request.limit)
    return DocmemSearchAnswer(
        query=request.query,
        results=tuple(_found(result) for result in found.results),
        linked={tag: tuple(node_of(node) for node in nodes) for tag, nodes in found.linked.items()},
        gone=found.gone,
        notices=notices,
    )


class DocmemTagsRequest(Message):
    """Which tag."""

    tag: str
    """With or without the @."""
    limit: int = Field(default=20, ge=1)
    """At most so many nodes."""


@operation(Group.DOCMEM, Effect.READS, errors=(IndexFault, *READ_ERRORS))
def docmem_tags(vault: OpenVault, request: DocmemTagsRequest) -> DocmemNodesAnswer:
    """List the nodes that carry a @tag in their text, and those that are named so."""
    nodes = vault.tagged(request.tag, limit=request.limit)
    return DocmemNodesAnswer(nodes=tuple(node_of(node) for node in nodes))


class DocmemExpandRequest(DocmemNodeRequest):
    """How much of which tree."""

    budget_tokens: int = Field(ge=0)
    """How many tokens there is room for; one is four characters."""
    query: str | None = None
    """What answers this comes first, with what is above it; else upper levels and later nodes do."""
    summaries: Resolution = "with"
    """Summaries over their memories (with), left out (without), instead of them, or mixed: where they do not fit."""


class DocmemExpandAnswer(Message):
    """What fits, in reading order."""

    tokens: int
    budget: int
    nodes: tuple[MemoryNode, ...]


@operation(Group.DOCMEM, Effect.READS, errors=(IndexFault, *READ_ERRORS))
def docmem_expand_to_length(vault: OpenVault, request: DocmemExpandRequest) -> DocmemExpandAnswer:
    """Get a node and as much of what is below it as a budget of tokens allows.

    What has a priority comes first, then what answers the query; what sticks together comes whole.
    """
    memory = vault.docmem
    scores = None if request.query is None else vault.memory_relevance(request.query, within=request.node)
    nodes = memory.expand(request.node, request.budget_tokens, relevance=scores, summaries=request.summaries)
    depths: dict[str | None, int] = {}
    for node in nodes:  # a node whose parent was left out for its children takes its place
        above = memory.ancestors(node.id) if depths else []
        depths[node.id] = next((depths[parent.id] + 1 for parent in above if parent.id in depths), 0)
    return DocmemExpandAnswer(
        tokens=sum(node.token_count for node in nodes),
        budget=request.budget_tokens,
        nodes=tuple(node_of(node, depth=depths[node.id]) for node in nodes),
    )


class DocmemPlaceRequest(Spending):
    """A document, or a thread."""

    text: str
    """What it says."""
    name: str = "text"
    """What it is called, as a file is."""
    apply: bool = False
    """Import it there."""


class DocmemPlaceAnswer(Message):
    """Where it belongs. With a `quote`, nothing was asked: it says what it would take."""

    tree: str | None = None
    """Null: it needs a new one."""
    part: str | None = None
    target: MemoryNode | None = None
    """The node to import it below."""
    score: float = 0.0
    reason: str = ""
    imported: MemoryNode | None = None
    quote: Quote | None = None


@operation(
    Group.DOCMEM,
    Effect.SPENDS,
    takes_long=True,
    is_idempotent=False,
    errors=(EnvironmentFault, LibrarianFault, ImportRefused, IndexFault, UsageError, *READ_ERRORS),
)
def docmem_place(vault: OpenVault, request: DocmemPlaceRequest) -> DocmemPlaceAnswer:
    """Say which tree, and which part of it, a text belongs to, or that it needs a new one; with `apply` import it.

    The librarian decides, by what a search finds of it in each tree and by what the trees are about. Where a model
    would be paid, the first answer is an estimate with a token.
    """
    document = Document(request.name, request.text)
    quote = quote_first(vault, "docmem_place", request, lambda: vault.estimate_placing(document))
    if quote is not None:
        return DocmemPlaceAnswer(quote=quote)
    return place_document(vault, document, request)


def place_document(vault: OpenVault, document: Document, request: DocmemPlaceRequest) -> DocmemPlaceAnswer:
    """The same of a document, from a file or at hand, for who has agreed to the caps."""
    caps = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    proposal = vault.propose_place(document, caps)
    node = import_document(vault.docmem, vault.workspace, document, proposal.target) if request.apply else None
    home = proposal.home
    return DocmemPlaceAnswer(
        tree=None if home.is_none else home.tree,
        part=home.part or None,
        target=node_of(proposal.target) if proposal.target is not None else None,
        score=round(home.score, 4),
        reason=home.reason,
        imported=node_of(node) if node is not None else None,
    )


class DocmemIndexAnswer(Message):
    """What was sent to the search index."""

    sent: int
    removed: int
    embeddings_computed: int
    waiting: int
    """Nodes that are found by their words only until they have a vector."""


@operation(Group.DOCMEM, Effect.READS, takes_long=True, errors=(IndexFault, *READ_ERRORS))
def docmem_index(vault: OpenVault, request: Nothing) -> DocmemIndexAnswer:  # noqa: ARG001 - the signature of operations
    """Bring the search index up to date with the memory trees. Every search does this first."""
    done = vault.index_memory()
    return DocmemIndexAnswer(
        sent=done.chunks_created,
        removed=done.files_removed,
        embeddings_computed=done.embeddings_computed,
        waiting=done.pending,
    )


def _found(result: Recalled) -> FoundMemory:
    return FoundMemory.of(
        result.node,
        score=round(result.score, 4),
        root=result.root.id,
        summary=result.summary.id if result.summary else None,
        user=result.user.id if result.user else None,
        above=tuple(node_of(node) for node in result.above),
        position=result.position,
        siblings=result.siblings,
        covered=tuple(node_of(node) for node in result.covered),
        raised=result.raised,
    )
