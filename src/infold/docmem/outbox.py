"""Which nodes the search index has to hear of: written with every change, in its transaction; drained by others.

An entry is the last word about a node: a later change replaces it, under a new number. Whoever drains reads `waiting`,
brings the index up to date, and says `done` of those entries: a node changed meanwhile has a newer one, which stays.
An order alone is not in the index: siblings that are numbered anew wait for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from infold.docmem.lookup import Lookup
from infold.docmem.rows import Rows


@dataclass(frozen=True, slots=True)
class Stale:
    """A node whose entry in the index is not what the node is."""

    seq: int
    node_id: str
    root_id: str
    op: Literal["upsert", "delete"]


def waiting(rows: Lookup, limit: int) -> list[Stale]:
    """The oldest entries, at most `limit`."""
    found = rows.connection.execute("SELECT seq, node_id, root_id, op FROM outbox ORDER BY seq LIMIT ?", (limit,))
    return [Stale(*row) for row in found]


def waiting_count(rows: Lookup) -> int:
    """How many nodes wait."""
    return int(rows.connection.execute("SELECT count(*) FROM outbox").fetchone()[0])


def done(rows: Rows, entries: Iterable[Stale]) -> None:
    """The index has these; those that were replaced meanwhile stay."""
    rows.connection.executemany("DELETE FROM outbox WHERE seq = ?", [(entry.seq,) for entry in entries])


def everything_stale(rows: Rows) -> int:
    """Puts every node of the store into the outbox, parents first, and gives how many: for an index made anew.

    What was deleted is not among them: whoever sends everything to an index that is not empty clears it first.
    """
    rows.connection.execute("DELETE FROM outbox")
    rows.connection.execute(
        """
        WITH RECURSIVE tree (id, root_id) AS (
            SELECT id, id FROM nodes WHERE parent_id IS NULL
            UNION ALL
            SELECT n.id, tree.root_id FROM tree CROSS JOIN nodes n ON n.parent_id = tree.id
        )
        INSERT INTO outbox (node_id, root_id, op) SELECT id, root_id, 'upsert' FROM tree
        """
    )
    return waiting_count(rows)
