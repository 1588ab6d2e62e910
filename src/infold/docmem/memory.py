"""Memory trees behind one door: each method is one operation and one transaction (spec 2, Operations).

    memory = open_docmem(workspace.docmem)
    tree = memory.create_root("", Context("root", "purpose", "project"), root_id="garden")
    bed = memory.append(tree.id, "The bed by the wall gets sun until noon.", Context("memory", "source", "walk"))
    memory.update_content(bed.id, "The bed by the wall gets sun until two.", bed.hash)
    print(memory.serialise(tree.id))

Every method may raise StoreBusy, StoreDamaged or StateUnwritable beside what it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from infold.docmem import expanding, focus, history, marks, moving, reading, summarising, writing
from infold.docmem.focus import Resolution, Summaries
from infold.docmem.history import Version
from infold.docmem.node import Context, Node
from infold.docmem.place import Place, after, before, child_of
from infold.docmem.store import Store, open_store


def open_docmem(file: Path) -> Docmem:
    """The memory trees in `file` (`Workspace.docmem`), made where there are none. Raises StoreTooNew too."""
    return Docmem(open_store(file))


class Docmem:
    """All memory trees of one store. Made as often as one likes: they share the store's one connection."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Makes all that happens within one transaction: durable at its end, or none of it when the body raises.

        An operation that fails within and is caught there leaves nothing; those before it stay. Other processes wait.
        """
        with self.store.writing():
            yield

    # made and changed

    def create_root(self, text: str, context: Context, *, root_id: str | None = None, readonly: bool = False) -> Node:
        """The root of a new tree, with a name of one's own or a random id. Raises NodeIdInvalid, NodeExists."""
        with self.store.writing() as rows:
            return writing.create_root(rows, text, context, root_id=root_id, readonly=readonly)

    def append(self, parent_id: str, text: str, context: Context, *, readonly: bool = False) -> Node:
        """A new last child of a node (spec 2, Append). Raises NodeNotFound."""
        with self.store.writing() as rows:
            return writing.put(rows, child_of(parent_id), text, context, readonly=readonly)

    def insert_before(self, target_id: str, text: str, context: Context, *, readonly: bool = False) -> Node:
        """A new sibling right before a node (spec 2, Insert). Raises NodeNotFound, NoParent."""
        with self.store.writing() as rows:
            return writing.put(rows, before(target_id), text, context, readonly=readonly)

    def insert_after(self, target_id: str, text: str, context: Context, *, readonly: bool = False) -> Node:
        """A new sibling right after a node (spec 2, Insert). Raises NodeNotFound, NoParent."""
        with self.store.writing() as rows:
            return writing.put(rows, after(target_id), text, context, readonly=readonly)

    def note_beside(self, node_id: str, text: str, *, name: str = "", value: str = "") -> Node:
        """A note as a sibling after a node, behind its earlier notes (spec 2, Readonly Metadata).

        Raises NodeNotFound, NoParent.
        """
        with self.store.writing() as rows:
            return writing.note_beside(rows, node_id, text, name, value)

    def update_content(self, node_id: str, text: str, expected_hash: str) -> Node:
        """The node with another text (spec 2, Update Content). Raises NodeNotFound, NodeReadonly, LockConflict."""
        with self.store.writing() as rows:
            return writing.update_content(rows, node_id, text, expected_hash)

    def update_context(self, node_id: str, context: Context, expected_hash: str) -> Node:
        """The node with another context (spec 2, Update Context). Raises as `update_content` does."""
        with self.store.writing() as rows:
            return writing.update_context(rows, node_id, context, expected_hash)

    def delete(self, node_id: str, expected_hash: str | None = None) -> int:
        """Removes a node and all below it; gives how many (spec 2, Delete). Raises NodeNotFound, LockConflict."""
        with self.store.writing() as rows:
            return writing.delete(rows, node_id, expected_hash)

    # moved, copied, folded

    def move(self, node_id: str, place: Place, expected_hash: str) -> Node:
        """The node, with all below it, at a place of the same tree (spec 2, Move).

        Raises NodeNotFound, LockConflict, NoParent, CrossRootMove, CycleRefused.
        """
        with self.store.writing() as rows:
            return moving.move(rows, node_id, place, expected_hash)

    def copy(self, node_id: str, place: Place) -> Node:
        """A deep copy at a place of any tree; gives its upmost node (spec 2, Copy). Raises NodeNotFound, NoParent."""
        with self.store.writing() as rows:
            return moving.copy(rows, node_id, place)

    def summarise(self, expected: Mapping[str, str], text: str, context: Context) -> Node:
        """A summary over neighbouring leaves, given by id and hash (spec 2, Summarization).

        Raises NodeNotFound, LockConflict, NotSummarisable.
        """
        with self.store.writing() as rows:
            return summarising.summarise(rows, expected, text, context)

    def unsummarise(self, summary_id: str, expected_hash: str) -> list[Node]:
        """Takes a summary back: its children stand where it stood (spec 2, Visible Compression). Gives the children.

        Raises NodeNotFound, LockConflict, NotASummary, NoParent.
        """
        with self.store.writing() as rows:
            return summarising.unsummarise(rows, summary_id, expected_hash)

    # read

    def find(self, node_id: str) -> Node | None:
        """The node of that id, or None (spec 2, Find)."""
        with self.store.reading() as rows:
            return rows.find(node_id)

    def get(self, node_id: str) -> Node:
        """The node of that id. Raises NodeNotFound."""
        with self.store.reading() as rows:
            return rows.get(node_id)

    def get_root(self, node_id: str) -> Node:
        """The root of the tree of a node (spec 2, Get Root of Node). Raises NodeNotFound."""
        with self.store.reading() as rows:
            return reading.get_root(rows, node_id)

    def roots(self) -> list[Node]:
        """The root of every tree, oldest first."""
        with self.store.reading() as rows:
            return list(rows.children(None))

    def children(self, node_id: str) -> list[Node]:
        """The children of a node in order. Raises NodeNotFound."""
        with self.store.reading() as rows:
            return list(rows.children(rows.get(node_id).id))

    def with_context(
        self,
        context_type: str | None = None,
        context_name: str | None = None,
        context_value: str | None = None,
        *,
        within: str | None = None,
    ) -> list[Node]:
        """The nodes with these context fields, None being any: in all trees oldest first, or from a node down.

        Spec 2, Node Differentiation. Raises NodeNotFound.
        """
        with self.store.reading() as rows:
            return reading.with_context(rows, within, (context_type, context_name, context_value))

    def ancestors(self, node_id: str) -> list[Node]:
        """The nodes above one, its parent first. Raises NodeNotFound."""
        with self.store.reading() as rows:
            return reading.ancestors(rows, node_id)

    def subtree(self, node_id: str) -> list[tuple[Node, int]]:
        """The node and all below it with their depths, in reading order. Raises NodeNotFound."""
        with self.store.reading() as rows:
            return list(rows.tree(rows.get(node_id).id))

    def size(self, node_id: str) -> int:
        """How many nodes there are from a node down, itself included. Raises NodeNotFound."""
        with self.store.reading() as rows:
            return rows.size(rows.get(node_id).id)

    def serialise(self, node_id: str, summaries: Summaries = "with") -> str:
        """The texts below a node as one document, with, without or `instead` of what is below summaries.

        Spec 2, Serialization and Open Questions. Raises NodeNotFound.
        """
        with self.store.reading() as rows:
            return reading.serialise(rows, node_id, summaries)

    def expand_to_length(self, node_id: str, budget_tokens: int) -> list[Node]:
        """The node and what of its tree fits the budget, in reading order (spec 2, Expand to Length).

        Raises NodeNotFound.
        """
        with self.store.reading() as rows:
            return expanding.expand_to_length(rows, node_id, budget_tokens)

    def expand(
        self,
        node_id: str,
        budget_tokens: int,
        *,
        relevance: Mapping[str, float] | None = None,
        summaries: Resolution = "with",
    ) -> list[Node]:
        """The same by priority marks, by relevance (`recall.relevance`), in groups that stick together.

        Without marks and relevance it is `expand_to_length`; the rules are `focus`'s. Raises NodeNotFound.
        """
        with self.store.reading() as rows:
            return focus.expand(rows, node_id, budget_tokens, relevance=relevance, summaries=summaries)

    def structure(self, node_id: str) -> str:
        """The tree from a node down without texts, a line a node (spec 2, Structure). Raises NodeNotFound."""
        with self.store.reading() as rows:
            return reading.structure(rows, node_id)

    # about nodes

    def versions(self, node_id: str) -> list[Version]:
        """What a node was before each of its updates, oldest first. Raises NodeNotFound."""
        with self.store.reading() as rows:
            return history.versions(rows, node_id)

    def restore_version(self, node_id: str, version: int, expected_hash: str) -> Node:
        """The node with the text and context of a version. Raises as `update_content` does, and VersionNotFound."""
        with self.store.writing() as rows:
            return history.restore_version(rows, node_id, version, expected_hash)

    def mark(self, node_id: str, name: str, value: str = "1") -> None:
        """Sets a flag of a node that is none of its properties (priority, sticky, …). Raises NodeNotFound."""
        with self.store.writing() as rows:
            marks.mark(rows, node_id, name, value)

    def unmark(self, node_id: str, name: str) -> None:
        """Takes a flag away; one that is not there is fine. Raises NodeNotFound."""
        with self.store.writing() as rows:
            marks.unmark(rows, node_id, name)

    def marks_of(self, node_id: str) -> dict[str, str]:
        """The flags of a node. Raises NodeNotFound."""
        with self.store.reading() as rows:
            return marks.marks_of(rows, node_id)

    def marked(self, name: str) -> dict[str, str]:
        """Every node with that flag, and the flag's value."""
        with self.store.reading() as rows:
            return marks.marked(rows, name)

    def close(self) -> None:
        """Lets go of the store's file, for everybody in this process."""
        self.store.close()
