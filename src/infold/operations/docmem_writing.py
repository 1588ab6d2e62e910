"""Memory trees changed: nodes made, edited, moved, copied, deleted, folded and brought back (spec 2, Operations)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infold.app import OpenVault
from infold.docmem.node import Context
from infold.docmem.place import Place, Side
from infold.docmem.writing import NewNode
from infold.errors import (
    ContextFieldMissing,
    ContextFieldTooLong,
    CrossRootMove,
    CycleRefused,
    LockConflict,
    NodeExists,
    NodeIdInvalid,
    NodeReadonly,
    NoParent,
    NotASummary,
    NotSummarisable,
    TextNotStorable,
    VersionNotFound,
)
from infold.operations.contract import Effect, Group, Message
from infold.operations.docmem import (
    READ_ERRORS,
    STORE_ERRORS,
    DocmemNodeRequest,
    DocmemNodesAnswer,
    MemoryNode,
    node_of,
)
from infold.operations.table import operation

if TYPE_CHECKING:
    from infold.docmem.node import Node

_CONTEXT_ERRORS = (ContextFieldMissing, ContextFieldTooLong, TextNotStorable)
_PUT_ERRORS = (NoParent, *_CONTEXT_ERRORS, *READ_ERRORS)
_UPDATE_ERRORS = (NodeReadonly, LockConflict, *_CONTEXT_ERRORS, *READ_ERRORS)


class NodeHash(Message):
    """A node and its present hash."""

    id: str
    hash: str


class MadeSummary(Message):
    """A summary that was made, or made again, by itself."""

    id: str
    text: str
    renewed: bool
    nodes: tuple[NodeHash, ...]
    """What is below it. Nodes that were folded have new hashes: theirs name the parent."""


class ChangedNode(MemoryNode):
    """A node as it is now."""

    summaries: tuple[MadeSummary, ...] = ()
    """What was summarised because of the change (`docmem.summarise: auto`); `docmem_unsummarize` takes it back."""


class ContextFields(Message):
    """What a node is for: three fields of at most 24 characters, all of them given."""

    context_type: str
    """Its role, such as memory, message or root."""
    context_name: str
    """What its value is, such as source; may be empty."""
    context_value: str
    """The value, such as walk; may be empty."""

    @property
    def context(self) -> Context:
        """The three as one. Raises ContextFieldTooLong."""
        return Context(self.context_type, self.context_name, self.context_value)


class DocmemCreateRequest(ContextFields):
    """A new tree."""

    root: str | None = None
    """The id of the root, a name of your own; else eight random characters."""
    text: str = ""
    """The text of the root itself."""
    readonly: bool = False
    """Its text and context shall never change."""


@operation(
    Group.DOCMEM,
    Effect.WRITES,
    is_idempotent=False,
    errors=(NodeExists, NodeIdInvalid, *_CONTEXT_ERRORS, *STORE_ERRORS),
)
def docmem_create(vault: OpenVault, request: DocmemCreateRequest) -> MemoryNode:
    """Begin a memory tree. Its root stands for one thing: a project, a book, a chat."""
    made = vault.docmem.create_root(request.text, request.context, root_id=request.root, readonly=request.readonly)
    return node_of(made)


class DocmemAppendRequest(ContextFields):
    """A new last child."""

    parent: str
    """The id of the node to add below."""
    text: str
    """What it says, typically a sentence."""
    readonly: bool = False
    """Its text and context shall never change."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_PUT_ERRORS)
def docmem_append(vault: OpenVault, request: DocmemAppendRequest) -> ChangedNode:
    """Add a node as the last child of another.

    Where many memories have gathered, older ones may be folded under a summary by itself; the answer names them.
    """
    made = vault.docmem.append(request.parent, request.text, request.context, readonly=request.readonly)
    return _changed(vault, made)


class NodeToAdd(ContextFields):
    """A node to be added."""

    text: str
    """What it says."""
    readonly: bool = False
    """Its text and context shall never change."""


class DocmemAppendAllRequest(Message):
    """New last children."""

    parent: str
    """The id of the node to add below."""
    nodes: tuple[NodeToAdd, ...]
    """The nodes, in their order."""


class DocmemAppendAllAnswer(DocmemNodesAnswer):
    """The nodes that were added."""

    summaries: tuple[MadeSummary, ...] = ()
    """What was summarised because of it."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_PUT_ERRORS)
def docmem_append_all(vault: OpenVault, request: DocmemAppendAllRequest) -> DocmemAppendAllAnswer:
    """Add many nodes as the last children of another, in one step: all of them, or none."""
    memory = vault.docmem
    nodes = [NewNode(node.text, node.context, node.readonly) for node in request.nodes]
    made = memory.append_all(request.parent, nodes)
    summaries = summarised(vault, made[-1].id) if made else ()
    return DocmemAppendAllAnswer(nodes=tuple(node_of(memory.get(node.id)) for node in made), summaries=summaries)


class DocmemInsertRequest(ContextFields):
    """A new sibling."""

    target: str
    """The id of the node beside which it is put."""
    text: str
    """What it says."""
    readonly: bool = False
    """Its text and context shall never change."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_PUT_ERRORS)
def docmem_insert_before(vault: OpenVault, request: DocmemInsertRequest) -> ChangedNode:
    """Add a node right before another, below the same parent."""
    put = vault.docmem.insert_before
    return _changed(vault, put(request.target, request.text, request.context, readonly=request.readonly))


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_PUT_ERRORS)
def docmem_insert_after(vault: OpenVault, request: DocmemInsertRequest) -> ChangedNode:
    """Add a node right after another, below the same parent."""
    put = vault.docmem.insert_after
    return _changed(vault, put(request.target, request.text, request.context, readonly=request.readonly))


class DocmemNoteRequest(DocmemNodeRequest):
    """A note."""

    text: str
    """What there is to say about the node."""
    name: str = ""
    """The name in the note's context."""
    value: str = ""
    """The value in the note's context."""


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=_PUT_ERRORS)
def docmem_note(vault: OpenVault, request: DocmemNoteRequest) -> MemoryNode:
    """Put a note beside a node: what there is to say about one that is readonly. It goes where the node goes."""
    return node_of(vault.docmem.note_beside(request.node, request.text, name=request.name, value=request.value))


class LockedRequest(DocmemNodeRequest):
    """A node as it was read."""

    expected_hash: str
    """The hash that you read, or its first 12 characters: the change fails where the node is another by now."""


class DocmemUpdateContentRequest(LockedRequest):
    """Another text."""

    text: str
    """What the node says from now on."""


@operation(Group.DOCMEM, Effect.WRITES, errors=_UPDATE_ERRORS)
def docmem_update_content(vault: OpenVault, request: DocmemUpdateContentRequest) -> ChangedNode:
    """Give a node another text. What it said before stays in its history."""
    return _changed(vault, vault.docmem.update_content(request.node, request.text, _hash(vault, request)))


class DocmemUpdateContextRequest(LockedRequest, ContextFields):
    """Another context."""


@operation(Group.DOCMEM, Effect.WRITES, errors=_UPDATE_ERRORS)
def docmem_update_context(vault: OpenVault, request: DocmemUpdateContextRequest) -> MemoryNode:
    """Give a node another context. What it was before stays in its history."""
    return node_of(vault.docmem.update_context(request.node, request.context, _hash(vault, request)))


class DocmemCopyRequest(DocmemNodeRequest):
    """A node, and a place."""

    side: Side
    """child: as the last child of the target; before or after: as its sibling."""
    target: str
    """The id of the node that the place is told by."""


class DocmemMoveRequest(LockedRequest, DocmemCopyRequest):
    """A node as it was read, and its new place."""


@operation(Group.DOCMEM, Effect.WRITES, errors=(LockConflict, NoParent, CrossRootMove, CycleRefused, *READ_ERRORS))
def docmem_move(vault: OpenVault, request: DocmemMoveRequest) -> ChangedNode:
    """Move a node, with all below it and the notes beside it, within its tree."""
    return _changed(vault, vault.docmem.move(request.node, Place(request.side, request.target), _hash(vault, request)))


@operation(Group.DOCMEM, Effect.WRITES, is_idempotent=False, errors=(NoParent, *READ_ERRORS))
def docmem_copy(vault: OpenVault, request: DocmemCopyRequest) -> ChangedNode:
    """Copy a node, with all below it, to a place of any tree."""
    return _changed(vault, vault.docmem.copy(request.node, Place(request.side, request.target)))


class DocmemDeleteRequest(LockedRequest):
    """A node as it was read."""

    for_good: bool = False
    """Keep nothing of it: it cannot be brought back."""


class DocmemDeleteAnswer(Message):
    """What was deleted."""

    deleted: int
    """How many nodes went."""
    summaries: tuple[MadeSummary, ...] = ()
    """Summaries that were made again without it."""


@operation(Group.DOCMEM, Effect.DESTROYS, errors=(LockConflict, *READ_ERRORS))
def docmem_delete(vault: OpenVault, request: DocmemDeleteRequest) -> DocmemDeleteAnswer:
    """Delete a node with all that is below it. `docmem_restore_deleted` brings it back, unless it went for good.

    Automatic summaries that said it lose those words.
    """
    memory = vault.docmem
    parent = memory.get(request.node).parent_id
    gone = memory.delete(request.node, _hash(vault, request), for_good=request.for_good)
    return DocmemDeleteAnswer(deleted=gone, summaries=summarised(vault, parent) if parent else ())


class ReadNode(Message):
    """A node as it was read."""

    id: str
    hash: str
    """The hash that you read of it."""


class DocmemSummarizeRequest(ContextFields):
    """What is to be summarised, and the summary."""

    expected_hashes: tuple[ReadNode, ...]
    """The nodes, each with the hash that you read: leaves of one parent, without a gap."""
    text: str
    """What the summary says."""


@operation(
    Group.DOCMEM,
    Effect.WRITES,
    is_idempotent=False,
    errors=(LockConflict, NotSummarisable, NoParent, *_CONTEXT_ERRORS, *READ_ERRORS),
)
def docmem_summarize(vault: OpenVault, request: DocmemSummarizeRequest) -> MemoryNode:
    """Fold neighbouring nodes below a summary of your own words; its context type is summary.

    They stay as they are; `docmem_unsummarize` unfolds them.
    """
    memory = vault.docmem
    expected = {node.id: memory.full_hash(node.id, node.hash) for node in request.expected_hashes}
    return node_of(memory.summarise(expected, request.text, request.context))


@operation(Group.DOCMEM, Effect.WRITES, errors=(LockConflict, NotASummary, NoParent, *READ_ERRORS))
def docmem_unsummarize(vault: OpenVault, request: LockedRequest) -> DocmemNodesAnswer:
    """Take a summary back: what it stands for comes into its place. `docmem_restore_deleted` folds it again."""
    back = vault.docmem.unsummarise(request.node, _hash(vault, request))
    return DocmemNodesAnswer(nodes=tuple(node_of(node) for node in back))


class DocmemRestoreVersionRequest(LockedRequest):
    """Which version."""

    version: int
    """A number that `docmem_history` shows."""


@operation(Group.DOCMEM, Effect.WRITES, errors=(VersionNotFound, *_UPDATE_ERRORS))
def docmem_restore_version(vault: OpenVault, request: DocmemRestoreVersionRequest) -> ChangedNode:
    """Give a node the text and context of an earlier version; it stays where it stands."""
    memory = vault.docmem
    return _changed(vault, memory.restore_version(request.node, request.version, _hash(vault, request)))


@operation(Group.DOCMEM, Effect.WRITES, errors=(NodeExists, *READ_ERRORS))
def docmem_restore_deleted(vault: OpenVault, request: DocmemNodeRequest) -> MemoryNode:
    """Bring back a node that was deleted or unfolded, with all that went with it."""
    return node_of(vault.docmem.restore_deleted(request.node))


def _hash(vault: OpenVault, request: LockedRequest) -> str:
    return vault.docmem.full_hash(request.node, request.expected_hash)


def _changed(vault: OpenVault, node: Node) -> ChangedNode:
    """A node that was changed, after what was due around it is summarised."""
    summaries = summarised(vault, node.id)
    return ChangedNode.of(vault.docmem.get(node.id) if summaries else node, summaries=summaries)


def summarised(vault: OpenVault, changed_id: str) -> tuple[MadeSummary, ...]:
    """What is summarised by itself where something was added or changed, as the settings have it."""
    done = vault.summarise_due(changed_id)
    return tuple(
        MadeSummary(
            id=summary.id,
            text=summary.text,
            renewed=summary in done.renewed,
            nodes=tuple(NodeHash.of(child) for child in vault.docmem.children(summary.id)),
        )
        for summary in (*done.made, *done.renewed)
    )
