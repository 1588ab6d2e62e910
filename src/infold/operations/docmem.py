"""Memory trees read: nodes, outlines, documents, what fits a budget, what was (spec 2, Operations)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from infold.app import OpenVault
from infold.docmem.budgeted_expansion import SummaryUse
from infold.docmem.node import metadata
from infold.errors import NodeNotFound, StoreBusy, StoreDamaged, StoreTooNew
from infold.operations.contract import Effect, Group, Message, Nothing
from infold.operations.table import operation

if TYPE_CHECKING:
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node

STORE_ERRORS = (StoreBusy, StoreDamaged, StoreTooNew)
READ_ERRORS = (NodeNotFound, *STORE_ERRORS)


class MemoryNode(Message):
    """A node with the properties of the specification."""

    id: str
    parent_id: str | None
    """Null: it is the root of a tree."""
    text: str
    order_value: float
    token_count: int
    created_at: str
    updated_at: str
    context_type: str
    context_name: str
    context_value: str
    readonly: int
    """1: its text and context never change; say what there is to say in a note (`docmem_note`)."""
    hash: str
    """What a change of it has to expect; the first 12 characters are enough."""
    depth: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """How far below the node that was asked for."""
    stale: bool | None = Field(default=None, exclude_if=lambda value: not value)
    """True for a summary that no longer says what is below it."""

    def __str__(self) -> str:
        context = (self.context_type, self.context_name, self.context_value)
        return metadata(self.id, *context, self.updated_at)


def node_of(node: Node, *, depth: int | None = None, stale: bool | None = None) -> MemoryNode:
    """A node as it is answered."""
    return MemoryNode.of(node, depth=depth, stale=stale)


class DocmemNodeRequest(Message):
    """Which node."""

    node: str
    """The id of a node; that of a root is the name of its tree."""


class MemoryTree(Message):
    """A tree by its root."""

    root: MemoryNode
    nodes: int
    """How many nodes it has, the root included."""


class DocmemRootsAnswer(Message):
    """The trees, the oldest first."""

    trees: tuple[MemoryTree, ...]


@operation(Group.DOCMEM, Effect.READS, errors=STORE_ERRORS)
def docmem_roots(vault: OpenVault, request: Nothing) -> DocmemRootsAnswer:  # noqa: ARG001 - the signature of operations
    """List the memory trees: the root of each, and how many nodes it has."""
    memory = vault.docmem
    return DocmemRootsAnswer(
        trees=tuple(MemoryTree(root=node_of(root), nodes=memory.size(root.id)) for root in memory.roots())
    )


class DocmemFindAnswer(Message):
    """The node, with what is known about it; null where there is none of that id."""

    node: MemoryNode | None
    marks: dict[str, str] = Field(default_factory=dict)
    """Its flags, such as priority and sticky."""
    notes: tuple[MemoryNode, ...] = ()
    """The notes about it, wherever they stand."""


@operation(Group.DOCMEM, Effect.READS, errors=STORE_ERRORS)
def docmem_find(vault: OpenVault, request: DocmemNodeRequest) -> DocmemFindAnswer:
    """Get one memory node by its id, with its flags and the notes about it."""
    memory = vault.docmem
    node = memory.find(request.node)
    if node is None:
        return DocmemFindAnswer(node=None)
    is_stale = node.is_summary and node in memory.stale_summaries(node.id)
    return DocmemFindAnswer(
        node=node_of(node, stale=is_stale),
        marks=memory.marks_of(node.id),
        notes=tuple(node_of(note) for note in memory.notes_of(node.id)),
    )


@operation(Group.DOCMEM, Effect.READS, errors=READ_ERRORS)
def docmem_get_root(vault: OpenVault, request: DocmemNodeRequest) -> MemoryNode:
    """Get the root of the tree that a node belongs to."""
    return node_of(vault.docmem.get_root(request.node))


class DocmemShowRequest(DocmemNodeRequest):
    """Which part of a tree."""

    depth: int | None = Field(default=None, ge=0)
    """At most so many levels below the node."""


class DocmemNodesAnswer(Message):
    """Nodes."""

    nodes: tuple[MemoryNode, ...]


class DocmemShowAnswer(DocmemNodesAnswer):
    """A part of a tree, in reading order."""

    marks: dict[str, str]
    """The flags of the node itself, such as where it was imported from."""


@operation(Group.DOCMEM, Effect.READS, errors=READ_ERRORS)
def docmem_show(vault: OpenVault, request: DocmemShowRequest) -> DocmemShowAnswer:
    """Get a node and what is below it, in reading order with depths."""
    memory = vault.docmem
    stale = _stale_ids(memory, request.node)
    return DocmemShowAnswer(
        marks=memory.marks_of(request.node),
        nodes=tuple(
            node_of(node, depth=depth, stale=node.id in stale)
            for node, depth in memory.subtree(request.node)
            if request.depth is None or depth <= request.depth
        ),
    )


class DocmemStructureAnswer(Message):
    """An outline."""

    structure: str
    """A line a node: a dash, its id, its context, when it was updated; two spaces of indent a level."""


@operation(Group.DOCMEM, Effect.READS, errors=READ_ERRORS)
def docmem_structure(vault: OpenVault, request: DocmemNodeRequest) -> DocmemStructureAnswer:
    """Get the outline of a tree from a node down, without texts."""
    return DocmemStructureAnswer(structure=vault.docmem.structure(request.node))


class DocmemSerializeRequest(DocmemNodeRequest):
    """Which document."""

    summaries: SummaryUse = "with"
    """Summaries over what is below them (with), left out (without), or in its place (instead)."""


class DocmemSerializeAnswer(Message):
    """A document."""

    text: str
    stale: tuple[str, ...]
    """The ids of summaries in it that no longer say what is below them."""


@operation(Group.DOCMEM, Effect.READS, errors=READ_ERRORS)
def docmem_serialize(vault: OpenVault, request: DocmemSerializeRequest) -> DocmemSerializeAnswer:
    """Get the texts below a node as one document, in reading order; its own text is not part of it."""
    memory = vault.docmem
    text = memory.serialise(request.node, request.summaries)
    stale = _stale_ids(memory, request.node) - {request.node} if request.summaries != "without" else ()
    return DocmemSerializeAnswer(text=text, stale=tuple(sorted(stale)))


class DocmemNodesRequest(Message):
    """Which nodes, by their context: each field that is given has to be equal."""

    context_type: str | None = None
    """Their role, such as summary, message or memory."""
    context_name: str | None = None
    """The name in their context."""
    context_value: str | None = None
    """The value in their context."""
    within: str | None = None
    """Only from this node down."""


@operation(Group.DOCMEM, Effect.READS, errors=READ_ERRORS)
def docmem_nodes(vault: OpenVault, request: DocmemNodesRequest) -> DocmemNodesAnswer:
    """List nodes by their context: by role, source or purpose, in all trees or in a part of one."""
    wanted = (request.context_type, request.context_name, request.context_value)
    found = vault.docmem.with_context(*wanted, within=request.within)
    return DocmemNodesAnswer(nodes=tuple(node_of(node) for node in found))


class NodeVersion(Message):
    """A node as it was until a change."""

    node_id: str
    version: int
    operation: str
    """What replaced it: content, context, move, summarise, unsummarise, delete, import, …"""
    replaced_at: str
    parent_id: str | None
    text: str
    order_value: float
    context_type: str
    context_name: str
    context_value: str
    hash: str


class DocmemHistoryAnswer(Message):
    """What a node was, the oldest first."""

    node: str
    versions: tuple[NodeVersion, ...]


@operation(Group.DOCMEM, Effect.READS, errors=READ_ERRORS)
def docmem_history(vault: OpenVault, request: DocmemNodeRequest) -> DocmemHistoryAnswer:
    """List what a node was before each change. `docmem_restore_version` goes back to one."""
    found = vault.docmem.versions(request.node)
    return DocmemHistoryAnswer(node=request.node, versions=tuple(NodeVersion.of(version) for version in found))


class DocmemDeletedRequest(Message):
    """Of which tree."""

    tree: str | None = None
    """The root of a tree; else all."""


class DeletedNodes(Message):
    """What one operation took away."""

    node: str
    """The upmost of the nodes."""
    operation: str
    """delete or unsummarise."""
    deleted_at: str
    tree: str
    nodes: int
    """How many went."""
    context: str
    text: str


class DocmemDeletedAnswer(Message):
    """What can come back, the latest first."""

    deleted: tuple[DeletedNodes, ...]


@operation(Group.DOCMEM, Effect.READS, errors=STORE_ERRORS)
def docmem_deleted(vault: OpenVault, request: DocmemDeletedRequest) -> DocmemDeletedAnswer:
    """List what was deleted or unfolded and can be brought back by `docmem_restore_deleted`."""
    return DocmemDeletedAnswer(
        deleted=tuple(
            DeletedNodes(
                node=one.top.node_id,
                operation=one.top.operation,
                deleted_at=one.top.replaced_at,
                tree=one.root_id,
                nodes=one.nodes,
                context=str(one.top.context),
                text=one.top.text,
            )
            for one in vault.docmem.deletions(request.tree)
        )
    )


def _stale_ids(memory: Docmem, node_id: str) -> set[str]:
    return {summary.id for summary in memory.stale_summaries(node_id)}
