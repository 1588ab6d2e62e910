"""Memory trees read: roots, nodes, outlines, documents, histories (spec 2, Operations)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infold.app import OpenVault
from infold.errors import IndexFault, NodeNotFound, StoreBusy, StoreDamaged
from infold.operations.contract import Effect, Group, Message, Nothing
from infold.operations.docmem_messages import (
    MemoryNode,
    NodeAnswer,
    NodeRequest,
    NodesAnswer,
    NodeVersion,
    SummaryMode,
    node_messages,
)
from infold.operations.table import operation

_ERRORS = (NodeNotFound, StoreBusy, StoreDamaged)


class TreeRoot(MemoryNode):
    """The root of a tree."""

    nodes: int
    """How many nodes the tree has, the root included."""


class DocmemRootsAnswer(Message):
    """The trees."""

    roots: tuple[TreeRoot, ...]


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_roots(vault: OpenVault, request: Nothing) -> DocmemRootsAnswer:  # noqa: ARG001
    """List the memory trees, oldest first: the root of each, and how many nodes it has."""
    memory = vault.docmem
    roots = (TreeRoot.of(root, readonly=bool(root.readonly), nodes=memory.size(root.id)) for root in memory.roots())
    return DocmemRootsAnswer(roots=tuple(roots))


class DocmemGetAnswer(Message):
    """A node, with the flags that it carries."""

    node: MemoryNode | None
    """Null where there is none of that id."""
    marks: dict[str, str]


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_get(vault: OpenVault, request: NodeRequest) -> DocmemGetAnswer:
    """Get one memory node with its text. There may be none of that id: that is no error."""
    memory = vault.docmem
    found = memory.find(request.node)
    if found is None:
        return DocmemGetAnswer(node=None, marks={})
    return DocmemGetAnswer(node=MemoryNode.of_node(found), marks=memory.marks_of(found.id))


class DocmemTreeRequest(NodeRequest):
    """Which part of a tree."""

    depth: int | None = Field(default=None, ge=0)
    """At most so many levels below the node."""


class PlacedNode(MemoryNode):
    """A node of a tree."""

    depth: int
    """How many levels below the node that was asked for."""


class DocmemTreeAnswer(Message):
    """A node and what is below it, in reading order."""

    nodes: tuple[PlacedNode, ...]
    marks: dict[str, str]
    """The flags of the node itself."""
    stale_summaries: tuple[str, ...]
    """Summaries below it whose memories changed since they were written."""


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_tree(vault: OpenVault, request: DocmemTreeRequest) -> DocmemTreeAnswer:
    """Get a memory node and all below it with texts, in reading order."""
    memory = vault.docmem
    nodes = tuple(
        PlacedNode.of(node, readonly=bool(node.readonly), depth=level)
        for node, level in memory.subtree(request.node)
        if request.depth is None or level <= request.depth
    )
    stale = tuple(node.id for node in memory.stale_summaries(request.node))
    return DocmemTreeAnswer(nodes=nodes, marks=memory.marks_of(request.node), stale_summaries=stale)


class DocmemStructureAnswer(Message):
    """An outline."""

    structure: str
    """A line a node, two spaces of indent a level."""


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_structure(vault: OpenVault, request: NodeRequest) -> DocmemStructureAnswer:
    """Get the outline of a memory tree from a node down, without its texts."""
    return DocmemStructureAnswer(structure=vault.docmem.structure(request.node))


class DocmemSerializeRequest(NodeRequest):
    """Which part of a tree, and how."""

    summaries: SummaryMode = "with"
    """Summaries with their memories, without them, or instead of them."""


class DocmemSerializeAnswer(Message):
    """A document."""

    text: str


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_serialize(vault: OpenVault, request: DocmemSerializeRequest) -> DocmemSerializeAnswer:
    """Get the texts below a memory node as one document, in reading order."""
    return DocmemSerializeAnswer(text=vault.docmem.serialise(request.node, request.summaries))


class DocmemExpandRequest(NodeRequest):
    """Which node, and how much there is room for."""

    tokens: int = Field(ge=0)
    """How many tokens may be filled."""
    query: str | None = None
    """What answers this comes first, with what is above it."""
    summaries: Literal["with", "without", "instead", "mixed"] = "with"
    """Summaries with their memories, without them, instead of them, or instead of what does not fit."""


class DocmemExpandAnswer(Message):
    """What fits, in reading order."""

    tokens: int
    """How many are filled."""
    budget: int
    nodes: tuple[MemoryNode, ...]


@operation(Group.DOCMEM, Effect.READS, errors=(*_ERRORS, IndexFault))
def docmem_expand(vault: OpenVault, request: DocmemExpandRequest) -> DocmemExpandAnswer:
    """Get a memory node and as much below it as fits a number of tokens, in reading order.

    Nodes marked with a priority come first, then what answers the query, then upper levels before lower ones, and
    within a level later nodes before earlier ones.
    """
    relevance = None if request.query is None else vault.memory_relevance(request.query, within=request.node)
    nodes = vault.docmem.expand(request.node, request.tokens, relevance=relevance, summaries=request.summaries)
    used = sum(node.token_count for node in nodes)
    return DocmemExpandAnswer(tokens=used, budget=request.tokens, nodes=node_messages(nodes))


class DocmemSearchRequest(Message):
    """What to look for in memory."""

    query: str
    """What to look for; `@tags` in it are followed."""
    within: str | None = None
    """Only from this node down."""
    limit: int = Field(default=10, ge=1)
    """At most so many results."""


class RecalledNode(MemoryNode):
    """A node that answers, and where it stands."""

    score: float
    root: str
    summary: str | None
    """The nearest summary above it."""
    user: str | None
    """The node right below the root that it stands under."""
    above: tuple[str, ...]
    """The nodes above it, its parent first."""
    position: int
    siblings: int
    covered: tuple[MemoryNode, ...]
    """Nodes below it that match too."""
    raised: bool
    """It is here for its children."""


class DocmemSearchAnswer(Message):
    """What memory says, the best first."""

    query: str
    results: tuple[RecalledNode, ...]
    linked: dict[str, tuple[MemoryNode, ...]]
    """What each @tag in the question and in the results stands for."""
    gone: int
    """Hits whose node is no more."""
    notices: tuple[str, ...]


@operation(Group.DOCMEM, Effect.READS, errors=(*_ERRORS, IndexFault))
def docmem_search(vault: OpenVault, request: DocmemSearchRequest) -> DocmemSearchAnswer:
    """Search memory trees by words and by meaning, and say where each result stands in its tree.

    A memory whose summary matches too is named under the summary; several memories of one parent make the parent the
    result.
    """
    found, notices = vault.recall(request.query, within=request.within, limit=request.limit)
    results = tuple(
        RecalledNode.of(
            each.node,
            readonly=bool(each.node.readonly),
            score=round(each.score, 4),
            root=each.root.id,
            summary=each.summary.id if each.summary else None,
            user=each.user.id if each.user else None,
            above=tuple(str(node) for node in each.above),
            position=each.position,
            siblings=each.siblings,
            covered=node_messages(each.covered),
            raised=each.raised,
        )
        for each in found.results
    )
    linked = {tag: node_messages(nodes) for tag, nodes in found.linked.items()}
    return DocmemSearchAnswer(query=found.query, results=results, linked=linked, gone=found.gone, notices=notices)


class DocmemFindRequest(Message):
    """Which context; what is left out may be anything."""

    type: str | None = None
    """The role, such as summary."""
    name: str | None = None
    """The name in the context."""
    value: str | None = None
    """The value in the context."""
    within: str | None = None
    """Only from this node down."""


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_find(vault: OpenVault, request: DocmemFindRequest) -> NodesAnswer:
    """List memory nodes by their context: by role, source or purpose, in all trees or in a part of one."""
    nodes = vault.docmem.with_context(request.type, request.name, request.value, within=request.within)
    return NodesAnswer(nodes=node_messages(nodes))


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_root(vault: OpenVault, request: NodeRequest) -> NodeAnswer:
    """Get the root of the tree that a memory node belongs to."""
    return NodeAnswer(node=MemoryNode.of_node(vault.docmem.get_root(request.node)))


class DocmemHistoryAnswer(Message):
    """What a node was before each change, the oldest first."""

    node: str
    versions: tuple[NodeVersion, ...]


@operation(Group.DOCMEM, Effect.READS, errors=_ERRORS)
def docmem_history(vault: OpenVault, request: NodeRequest) -> DocmemHistoryAnswer:
    """List what a memory node was before each change, oldest first."""
    versions = vault.docmem.versions(request.node)
    return DocmemHistoryAnswer(node=request.node, versions=tuple(NodeVersion.of_version(each) for each in versions))
