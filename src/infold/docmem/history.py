"""What nodes were before each update, and how one becomes that again (spec 2, Additional Features).

A version is written with the update it precedes (`rows`). It goes when its node is deleted.
"""

from __future__ import annotations

from dataclasses import dataclass

from infold.docmem.lookup import Lookup
from infold.docmem.node import Context, Node
from infold.docmem.rows import Rows
from infold.docmem.writing import writable
from infold.errors import VersionNotFound


@dataclass(frozen=True, slots=True)
class Version:
    """A node as it was until an update. Versions of a node count from 1, oldest first."""

    node_id: str
    version: int
    operation: str  # what replaced it: content, context, move, summarise, unsummarise, restore
    replaced_at: str
    parent_id: str | None
    text: str
    order_value: float
    context_type: str
    context_name: str
    context_value: str
    hash: str

    @property
    def context(self) -> Context:
        """The three context fields as one value."""
        return Context(self.context_type, self.context_name, self.context_value)


def versions(rows: Lookup, node_id: str) -> list[Version]:
    """What a node was, oldest first; empty where it was never updated. Raises NodeNotFound."""
    rows.get(node_id)
    found = rows.connection.execute("SELECT * FROM history WHERE node_id = ? ORDER BY version", (node_id,))
    return [Version(*row) for row in found]


def restore_version(rows: Rows, node_id: str, version: int, expected_hash: str) -> Node:
    """The node with the text and context of one of its versions; it stays where it stands, and this too can be undone.

    Raises NodeNotFound, NodeReadonly, LockConflict, VersionNotFound.
    """
    node = writable(rows, node_id, expected_hash)
    for was in versions(rows, node_id):
        if was.version == version:
            return rows.change(node, "restore", text=was.text, context=was.context)
    raise VersionNotFound(
        f"The memory node {node_id!r} has no version {version}.", hint="`infold docmem history` lists those it has."
    )
