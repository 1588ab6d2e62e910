"""Memory nodes as requests name them and as answers show them (spec 2, Node Structure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import Field

from infold.docmem.node import Context, Node
from infold.docmem.place import Place, after, before, child_of
from infold.errors import UsageError
from infold.operations.contract import Message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infold.docmem.history import Version
    from infold.docmem.memory import Docmem

M = TypeVar("M", bound=Message)


class MemoryContext(Message):
    """What a node is for: three fields, all of them given; each may be empty."""

    type: str = Field(max_length=24)
    """Its role, such as memory, message, summary."""
    name: str = Field(max_length=24)
    """What the value says, such as source."""
    value: str = Field(max_length=24)
    """For example where it is from."""

    def as_context(self) -> Context:
        """The value that memory trees take."""
        return Context(self.type, self.name, self.value)


class MemoryNode(Message):
    """A node, by the properties of the specification."""

    id: str
    parent_id: str | None
    """Null of the root of a tree."""
    text: str
    order_value: float
    token_count: int
    created_at: str
    """ISO 8601, UTC; `updatedAt` likewise."""
    updated_at: str
    context_type: str
    context_name: str
    context_value: str
    readonly: bool
    """Its text and context never change."""
    hash: str
    """What a change of it has to expect."""

    @classmethod
    def of_node(cls, node: Node) -> MemoryNode:
        """A node as it is answered."""
        return cls.of(node, readonly=bool(node.readonly))


def node_messages(nodes: Iterable[Node]) -> tuple[MemoryNode, ...]:
    """Nodes as they are answered."""
    return tuple(MemoryNode.of_node(node) for node in nodes)


class NodeRequest(Message):
    """Which node."""

    node: str
    """Its id."""


class ChangeRequest(NodeRequest):
    """Which node is to change."""

    hash: str | None = None
    """The hash that was read: the change fails where the node is another by now. Else the present one is taken."""

    def expected(self, memory: Docmem) -> str:
        """The hash that the change expects. Raises NodeNotFound."""
        return memory.get(self.node).hash if self.hash is None else self.hash


class PlaceRequest(Message):
    """Where a node is to stand: exactly one of the three."""

    to: str | None = None
    """As the last child of this node."""
    before: str | None = None
    """Right before this node."""
    after: str | None = None
    """Right after this node."""

    def place(self) -> Place:
        """The one place. Raises UsageError where none or several are given."""
        makers = ((child_of, self.to), (before, self.before), (after, self.after))
        named = [make(target) for make, target in makers if target is not None]
        if len(named) != 1:
            which = "Several places were given." if named else "No place was given."
            raise UsageError(which, hint="Give exactly one of to, before and after.")
        return named[0]


class NodeAnswer(Message):
    """A node."""

    node: MemoryNode


class NodesAnswer(Message):
    """Nodes, in reading order."""

    nodes: tuple[MemoryNode, ...]


class NodeVersion(Message):
    """A node as it was until a change."""

    node_id: str
    version: int
    operation: str
    """What changed it."""
    replaced_at: str
    parent_id: str | None
    text: str
    order_value: float
    context_type: str
    context_name: str
    context_value: str
    hash: str

    @classmethod
    def of_version(cls, version: Version) -> NodeVersion:
        """A version as it is answered."""
        return cls.of(version)


SummaryMode = Literal["with", "without", "instead"]
