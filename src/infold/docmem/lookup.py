"""Nodes found and walked in the database: what every operation asks before it answers or writes.

Nothing is changed here; that is `rows`. Transactions belong to `store`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from infold.docmem import queries
from infold.docmem.node import Node, metadata, node_hash
from infold.errors import LockConflict, NodeNotFound, StoreDamaged

SHORT_HASH: Final = 12  # characters of a hash that are shown, and enough to name it


class Lookup:
    """The nodes behind one connection, to be read. Its methods are parts of a transaction that `store` holds."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._root_of: dict[str, str] = {}  # within one transaction: a node never changes its tree

    def forget(self) -> None:
        """The transaction is over: what was known of it is not known any more."""
        self._root_of.clear()

    def find(self, node_id: str) -> Node | None:
        """The node of that id."""
        row = self.connection.execute(queries.NODE, (node_id,)).fetchone()
        return None if row is None else node_of(row)

    def get(self, node_id: str) -> Node:
        """The node of that id. Raises NodeNotFound."""
        node = self.find(node_id)
        if node is None:
            raise NodeNotFound(f"There is no memory node {node_id!r}.", hint="`infold docmem roots` lists the trees.")
        return node

    def get_locked(self, node_id: str, expected_hash: str) -> Node:
        """The node of that id, where it is still what the caller read. Raises NodeNotFound or LockConflict."""
        node = self.get(node_id)
        check_lock(node, expected_hash, self)
        return node

    def full_hash(self, node_id: str, given: str) -> str:
        """The hash that a caller means: one that begins as it does, where that is the node's present one."""
        present = self.get(node_id).hash
        return present if len(given) >= SHORT_HASH and present.startswith(given) else given

    def every_node(self) -> Iterator[Node]:
        """All nodes of all trees, in no order."""
        return map(node_of, self.connection.execute(queries.EVERY_NODE))

    def has(self, node_id: str) -> bool:
        """Whether there is a node of that id."""
        return self.connection.execute("SELECT 1 FROM nodes WHERE id = ?", (node_id,)).fetchone() is not None

    def children(self, parent_id: str | None, *, newest_first: bool = False) -> Iterator[Node]:
        """The children of a node in order, or the roots by id; read as far as one iterates."""
        if parent_id is None:
            return map(node_of, self.connection.execute(queries.ROOTS))
        query = queries.CHILDREN_NEWEST_FIRST if newest_first else queries.CHILDREN
        return map(node_of, self.connection.execute(query, (parent_id,)))

    def has_children(self, node_id: str) -> bool:
        """Whether anything stands below it."""
        return self.connection.execute("SELECT 1 FROM nodes WHERE parent_id = ?", (node_id,)).fetchone() is not None

    def highest_order(self, parent_id: str, *, without: str | None = None) -> float | None:
        """The order of the last child of `parent_id`, `without` left aside."""
        row = self.connection.execute(queries.HIGHEST_ORDER, (parent_id, without)).fetchone()
        return None if row is None else float(row[0])

    def neighbour(self, node: Node, *, after: bool, without: str | None = None) -> Node | None:
        """The sibling right after or right before `node`, `without` left aside."""
        query = queries.NEXT if after else queries.PREVIOUS
        row = self.connection.execute(query, (node.parent_id, node.order_value, without)).fetchone()
        return None if row is None else node_of(row)

    def between(self, parent_id: str, first: float, final: float) -> list[str]:
        """The ids of the children of a node from one order to another, both included."""
        rows = self.connection.execute(queries.BETWEEN, (parent_id, first, final))
        return [row[0] for row in rows]

    def tree(self, node_id: str) -> Iterator[tuple[Node, int]]:
        """The node and all below it with their depths, in reading order (preorder); nothing where it is absent."""
        for row in self.connection.execute(queries.TREE, (node_id,)):
            yield node_of(row[:-1]), row[-1]

    def size(self, node_id: str) -> int:
        """How many nodes there are from this one down, itself included; 0 where it is absent."""
        return int(self.connection.execute(queries.SIZE, (node_id,)).fetchone()[0])

    def texts(self, node_id: str) -> Iterator[str]:
        """The texts of the node and of all below it, in reading order."""
        return (text for (text,) in self.connection.execute(queries.TREE_TEXTS, (node_id,)))

    def outline(self, node_id: str) -> Iterator[tuple[int, str]]:
        """Depth and full metadata of the node and of all below it, in reading order."""
        for depth, *fields in self.connection.execute(queries.TREE_METADATA, (node_id,)):
            yield depth, metadata(*fields)

    def post_order(self, node_id: str) -> list[str]:
        """The ids of all below a node and its own, children before parents."""
        return [row[0] for row in self.connection.execute(queries.MIRRORED_PREORDER, (node_id,))][::-1]

    def ancestor_ids(self, node_id: str) -> list[str]:
        """The node and those above it, up to the root. Raises NodeNotFound where one in the chain is missing."""
        chain = self.connection.execute(queries.CHAIN, (node_id,)).fetchall()
        if not chain:
            self.get(node_id)
        node, parent = chain[-1]
        if parent is not None:
            if self.has(parent):
                raise StoreDamaged(f"The nodes above {node_id!r} stand in a circle.", hint="Restore a backup.")
            raise NodeNotFound(
                f"The parent {parent!r} of the memory node {node!r} is missing.",
                hint="`infold doctor` checks the store.",
            )
        return [row[0] for row in chain]

    def root_id(self, node_id: str) -> str:
        """The root of the tree of a node. Raises NodeNotFound as `ancestor_ids` does."""
        known = self._root_of.get(node_id)
        if known is None:
            known = self._root_of[node_id] = self.ancestor_ids(node_id)[-1]
        return known


def node_of(row: Iterable[object]) -> Node:
    """A row as a node; one without a hash gets the one it should have."""
    values: list[Any] = list(row)
    if values[-1] is None:
        values[-1] = ""
        node = Node(*values)
        return replace(node, hash=node_hash(node.parent_id, node.context, node.text, node.order_value))
    return Node(*values)


def check_lock(node: Node, expected_hash: str, rows: Lookup) -> None:
    """Raises LockConflict where the node is no longer what the caller read, saying what has happened to it."""
    if node.hash == expected_hash:
        return
    row = rows.connection.execute(queries.SINCE, (node.id, expected_hash)).fetchone()
    since = f" ({row[0]}, {row[1]})" if row is not None else ""
    is_folded = row is not None and row[0] in {"summarise", "unsummarise"} and row[2] == node.text
    shown, known = expected_hash[:SHORT_HASH], node.hash[:SHORT_HASH]
    raise LockConflict(
        f"The memory node {node.id!r} was changed meanwhile{since}: its hash is {known}, not {shown}.",
        hint=(
            f"Its words are those you read: it stands below {node.parent_id!r} now. Repeat the change with {known}."
            if is_folded
            else "Read it again, look at what changed, and repeat the change with its present hash."
        ),
        node_id=node.id,
        expected=expected_hash,
        current=node.hash,
    )
