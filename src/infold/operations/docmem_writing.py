"""Memory trees written: nodes added, changed, moved, folded, deleted and brought back (spec 2, Operations)."""

from __future__ import annotations

from pydantic import Field

from infold.app import OpenVault
from infold.docmem.writing import NewNode
from infold.errors import MemoryFault, StateUnwritable, UsageError
from infold.operations.contract import Effect, Group, Message
from infold.operations.docmem_messages import (
    ChangeRequest,
    MemoryContext,
    MemoryNode,
    NodeAnswer,
    NodeRequest,
    NodesAnswer,
    PlaceRequest,
    node_messages,
)
from infold.operations.table import operation

_ERRORS = (MemoryFault, StateUnwritable, UsageError)


class DocmemCreateRequest(Message):
    """A tree to begin."""

    name: str | None = None
    """The id of the root; else eight random characters."""
    context: MemoryContext
    """Usually root, purpose, and what the tree is for."""
    text: str = ""
    """The text of the root itself."""
    readonly: bool = False
    """Its text and context shall never change."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def docmem_create(vault: OpenVault, request: DocmemCreateRequest) -> NodeAnswer:
    """Begin a memory tree. Its root stands for one thing: a project, a book, a chat."""
    context = request.context.as_context()
    root = vault.docmem.create_root(request.text, context, root_id=request.name, readonly=request.readonly)
    return NodeAnswer(node=MemoryNode.of_node(root))


class NewMemory(Message):
    """A node to be added."""

    text: str
    """What it says."""
    context: MemoryContext
    """What it is for."""
    readonly: bool = False
    """Its text and context shall never change."""


class DocmemAppendRequest(Message):
    """Nodes to be added below another."""

    parent: str
    """The id of the node above them."""
    nodes: tuple[NewMemory, ...] = Field(min_length=1)
    """The new nodes, in reading order: all of them are added, or none."""


class DocmemAppendAnswer(Message):
    """What was added, and the summaries that were due for it."""

    nodes: tuple[MemoryNode, ...]
    summaries: tuple[MemoryNode, ...]
    """Older memories that have gathered are folded below these, where the settings have it so."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def docmem_append(vault: OpenVault, request: DocmemAppendRequest) -> DocmemAppendAnswer:
    """Add memory nodes as the last children of another."""
    new = [NewNode(node.text, node.context.as_context(), node.readonly) for node in request.nodes]
    added = vault.docmem.append_all(request.parent, new)
    made = vault.summarise_due(added[-1].id)
    return DocmemAppendAnswer(nodes=node_messages(added), summaries=node_messages(made))


class DocmemInsertRequest(NewMemory):
    """A node to be added beside another: exactly one of `before` and `after`."""

    before: str | None = None
    """Right before this node."""
    after: str | None = None
    """Right after this node."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def docmem_insert(vault: OpenVault, request: DocmemInsertRequest) -> NodeAnswer:
    """Add a memory node right before or right after another, below the same parent."""
    place = PlaceRequest(before=request.before, after=request.after).place()
    memory = vault.docmem
    put = memory.insert_before if place.side == "before" else memory.insert_after
    made = put(place.target, request.text, request.context.as_context(), readonly=request.readonly)
    return NodeAnswer(node=MemoryNode.of_node(made))


class DocmemNoteRequest(NodeRequest):
    """What there is to say about a node."""

    text: str
    """The note."""
    name: str = Field(default="", max_length=24)
    """The name in its context."""
    value: str = Field(default="", max_length=24)
    """The value in its context."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def docmem_note(vault: OpenVault, request: DocmemNoteRequest) -> NodeAnswer:
    """Put a note beside a memory node: what there is to say about a node that is readonly."""
    made = vault.docmem.note_beside(request.node, request.text, name=request.name, value=request.value)
    return NodeAnswer(node=MemoryNode.of_node(made))


class DocmemUpdateRequest(ChangeRequest):
    """What a node is to say."""

    text: str | None = None
    """Its new text."""
    context: MemoryContext | None = None
    """Its new context."""


@operation(Group.DOCMEM, Effect.WRITES, errors=_ERRORS)
def docmem_update(vault: OpenVault, request: DocmemUpdateRequest) -> NodeAnswer:
    """Give a memory node another text, another context, or both. What it was before stays in its history."""
    memory = vault.docmem
    if request.text is None and request.context is None:
        raise UsageError("There is nothing to change.", hint="Give a text, a context, or both.")
    with memory.batch():
        node = memory.get(request.node)
        expected = request.expected(memory)
        if request.text is not None:
            node = memory.update_content(request.node, request.text, expected)
            expected = node.hash
        if request.context is not None:
            node = memory.update_context(request.node, request.context.as_context(), expected)
    return NodeAnswer(node=MemoryNode.of_node(node))


class DocmemMoveRequest(PlaceRequest, ChangeRequest):
    """Which node goes where."""


@operation(Group.DOCMEM, Effect.WRITES, errors=_ERRORS)
def docmem_move(vault: OpenVault, request: DocmemMoveRequest) -> NodeAnswer:
    """Move a memory node, with all below it, within its tree."""
    memory = vault.docmem
    moved = memory.move(request.node, request.place(), request.expected(memory))
    return NodeAnswer(node=MemoryNode.of_node(moved))


class DocmemCopyRequest(PlaceRequest, NodeRequest):
    """Which node is copied where."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def docmem_copy(vault: OpenVault, request: DocmemCopyRequest) -> NodeAnswer:
    """Copy a memory node, with all below it, to a place of any tree."""
    return NodeAnswer(node=MemoryNode.of_node(vault.docmem.copy(request.node, request.place())))


class DocmemDeleteAnswer(Message):
    """What was deleted."""

    deleted: int
    """How many nodes."""
    node: MemoryNode
    """The upmost of them, as it was."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def docmem_delete(vault: OpenVault, request: ChangeRequest) -> DocmemDeleteAnswer:
    """Delete a memory node with all that is below it. `docmem_restore` brings it back."""
    return _deleted(vault, request, for_good=False)


@operation(Group.DOCMEM, Effect.DESTROYS, is_idempotent=False, errors=_ERRORS)
def docmem_forget(vault: OpenVault, request: ChangeRequest) -> DocmemDeleteAnswer:
    """Delete a memory node with all that is below it and all of their history, for good."""
    return _deleted(vault, request, for_good=True)


def _deleted(vault: OpenVault, request: ChangeRequest, *, for_good: bool) -> DocmemDeleteAnswer:
    memory = vault.docmem
    was = memory.get(request.node)
    expected = was.hash if request.hash is None else request.hash
    gone = memory.delete(request.node, expected, for_good=for_good)
    return DocmemDeleteAnswer(deleted=gone, node=MemoryNode.of_node(was))


class DocmemRestoreRequest(ChangeRequest):
    """What is to be brought back."""

    version: int | None = None
    """The version of the node to go back to; without one, the node was deleted, and comes back with what was below."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def docmem_restore(vault: OpenVault, request: DocmemRestoreRequest) -> NodeAnswer:
    """Give a memory node the text and context of an earlier version, or bring a deleted one back."""
    memory = vault.docmem
    if request.version is None:
        return NodeAnswer(node=MemoryNode.of_node(memory.restore_deleted(request.node)))
    back = memory.restore_version(request.node, request.version, request.expected(memory))
    return NodeAnswer(node=MemoryNode.of_node(back))


class DocmemSummarizeRequest(Message):
    """Which nodes are folded below what."""

    nodes: tuple[str, ...] = Field(min_length=1)
    """Leaves of one parent, without a gap."""
    text: str
    """What the summary says."""
    name: str = Field(default="", max_length=24)
    """The name in the summary's context; its type is `summary`."""
    value: str = Field(default="", max_length=24)
    """The value in the summary's context."""
    hashes: dict[str, str] = Field(default_factory=dict)
    """The hashes that were read, by node; else the present ones are taken."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def docmem_summarize(vault: OpenVault, request: DocmemSummarizeRequest) -> NodeAnswer:
    """Fold neighbouring memory nodes below a summary of your own words. They stay as they are."""
    memory = vault.docmem
    expected = {node: request.hashes.get(node) or memory.get(node).hash for node in request.nodes}
    context = MemoryContext(type="summary", name=request.name, value=request.value).as_context()
    return NodeAnswer(node=MemoryNode.of_node(memory.summarise(expected, request.text, context)))


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_ERRORS)
def docmem_unsummarize(vault: OpenVault, request: ChangeRequest) -> NodesAnswer:
    """Take a summary back: what it stands for comes into its place, and the summary goes."""
    memory = vault.docmem
    return NodesAnswer(nodes=node_messages(memory.unsummarise(request.node, request.expected(memory))))


class DocmemMarkRequest(NodeRequest):
    """A flag of a node."""

    name: str
    """priority (a number, higher comes first in an expansion), sticky (the name of a group), or one of your own."""
    value: str | None = "1"
    """Its value; null takes the flag away."""


class DocmemMarkAnswer(Message):
    """The flags of a node."""

    node: str
    marks: dict[str, str]


@operation(Group.DOCMEM, Effect.WRITES, errors=_ERRORS)
def docmem_mark(vault: OpenVault, request: DocmemMarkRequest) -> DocmemMarkAnswer:
    """Set a flag of a memory node, or take one away: what comes first in an expansion, what sticks together."""
    memory = vault.docmem
    if request.value is None:
        memory.unmark(request.node, request.name)
    else:
        memory.mark(request.node, request.name, request.value)
    return DocmemMarkAnswer(node=request.node, marks=memory.marks_of(request.node))
