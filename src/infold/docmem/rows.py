"""Nodes written to the database. Each write keeps hash, tokens, times, history and outbox right.

What an operation may do belongs to `writing`, `moving`, `summarising`; transactions to `store`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from infold.docmem import queries
from infold.docmem.ids import free_id
from infold.docmem.lookup import Lookup
from infold.docmem.node import PROPERTIES, Context, Node, node_hash, now
from infold.text import token_count

OperationName = Literal["content", "context", "move", "summarise", "unsummarise", "restore", "import", "withdraw"]


class Rows(Lookup):
    """The nodes behind one connection, to be read and written. Its methods are parts of a transaction of `store`."""

    def add(
        self,
        parent_id: str | None,
        text: str,
        context: Context,
        order_value: float,
        *,
        readonly: int = 0,
        node_id: str | None = None,
        created_at: str | None = None,
    ) -> Node:
        """A new node; `created_at` is for one that comes from elsewhere. Its parent exists, its order is free."""
        moment = now()
        node = Node(
            id=node_id or free_id(self.has),
            parent_id=parent_id,
            text=text,
            order_value=order_value,
            token_count=token_count(text),
            created_at=created_at or moment,
            updated_at=moment,
            context_type=context.type,
            context_name=context.name,
            context_value=context.value,
            readonly=readonly,
            hash=node_hash(parent_id, context, text, order_value),
        )
        values = [getattr(node, name) for name in PROPERTIES]
        self.connection.execute(queries.INSERT, values)
        self._root_of[node.id] = node.id if parent_id is None else self.root_id(parent_id)
        self._stale(node.id, self._root_of[node.id])
        return node

    def change(
        self,
        node: Node,
        operation: OperationName,
        *,
        text: str | None = None,
        context: Context | None = None,
        place: tuple[str | None, float] | None = None,
        deletion: int | None = None,
    ) -> Node:
        """`node` with another text, context or place (parent, order); what it was goes into its history.

        `deletion` is the number of the operation that took away what it stood below.
        """
        self.connection.execute(queries.REMEMBER, (node.id, operation, now(), deletion))
        changed = self._write(node, text=text, context=context, place=place)
        self._stale(node.id, self.root_id(node.id))
        return changed

    def renumber(self, numbered: Sequence[tuple[Node, float]]) -> None:
        """Gives siblings new orders; counted in the facts. Their entries in the search index stay good."""
        for node, number in numbered:
            if node.order_value != number:
                self._write(node, place=(node.parent_id, number))
        self.count("rebalances")
        self.count("rebalanced_nodes", len(numbered))

    def copy_marks(self, source_id: str, target_id: str) -> None:
        """Gives one node the marks of another."""
        self.connection.execute(
            "INSERT INTO marks SELECT ?, name, value FROM marks WHERE node_id = ?", (target_id, source_id)
        )

    def remove(
        self,
        node_ids: Sequence[str],
        root_id: str,
        operation: Literal["delete", "unsummarise"],
        deletion: int | None = None,
    ) -> int:
        """Removes nodes of one tree in the order given; what they were stays in the history, under one number.

        Gives that number.
        """
        number = self.next_deletion() if deletion is None else deletion
        moment = now()
        self.connection.executemany(
            queries.REMEMBER_GONE, [(node_id, operation, moment, number, root_id) for node_id in node_ids]
        )
        ids = [(node_id,) for node_id in node_ids]
        self.connection.executemany("DELETE FROM nodes WHERE id = ?", ids)
        self.connection.executemany("DELETE FROM marks WHERE node_id = ?", ids)
        self.connection.executemany(queries.GONE, [(node_id, root_id) for node_id in node_ids])
        self.forget()
        return number

    def next_deletion(self) -> int:
        """The number of the next operation that takes nodes away."""
        (last,) = self.connection.execute("SELECT max(deletion) FROM history WHERE deletion IS NOT NULL").fetchone()
        return int(last or 0) + 1

    def forget_history(self, node_ids: Iterable[str]) -> None:
        """What these nodes were is gone for good."""
        self.connection.executemany("DELETE FROM history WHERE node_id = ?", [(node_id,) for node_id in node_ids])

    def count(self, name: str, by: int = 1) -> None:
        """Adds to a counter among the facts."""
        self.connection.execute(queries.COUNT, (name, by))

    def _write(
        self,
        node: Node,
        *,
        text: str | None = None,
        context: Context | None = None,
        place: tuple[str | None, float] | None = None,
    ) -> Node:
        parent_id, order_value = place or (node.parent_id, node.order_value)
        context = context or node.context
        text = node.text if text is None else text
        changed = replace(
            node,
            parent_id=parent_id,
            text=text,
            order_value=order_value,
            token_count=token_count(text),
            updated_at=now(),
            context_type=context.type,
            context_name=context.name,
            context_value=context.value,
            hash=node_hash(parent_id, context, text, order_value),
        )
        self.connection.execute(
            queries.UPDATE,
            (parent_id, text, order_value, changed.token_count, changed.updated_at,
             context.type, context.name, context.value, changed.hash, node.id),
        )  # fmt: skip
        return changed

    def _stale(self, node_id: str, root_id: str) -> None:
        self.connection.execute(queries.STALE, (node_id, root_id))
