"""What nodes were before each change, and how it is brought back (spec 2, Additional Features; Visible Compression).

A version is written with the change it precedes (`rows`). What is deleted or unfolded leaves its last version, all of
one operation under one number, until it is forgotten for good.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from infold.docmem import marks
from infold.docmem.lookup import Lookup
from infold.docmem.node import Context, Node
from infold.docmem.place import after, parent_and_order
from infold.docmem.rows import Rows
from infold.docmem.writing import writable
from infold.errors import NodeExists, NodeNotFound, VersionNotFound

_VERSION_COLUMNS: Final = """node_id, version, operation, replaced_at, parent_id, text, order_value,
    context_type, context_name, context_value, hash"""
_GONE_COLUMNS: Final = f"{_VERSION_COLUMNS}, deletion, root_id, created_at, readonly, marks"
_DELETIONS: Final = f"""
SELECT {_GONE_COLUMNS}, (SELECT count(*) FROM history b WHERE b.deletion = a.deletion AND b.root_id IS NOT NULL)
FROM history a WHERE rowid IN (
    SELECT max(rowid) FROM history WHERE deletion IS NOT NULL AND root_id IS NOT NULL GROUP BY deletion
) AND (?1 IS NULL OR root_id = ?1)
ORDER BY deletion DESC
"""  # noqa: S608 - constants only
_OF_NODE: Final = """
SELECT max(deletion) FROM history WHERE node_id = ? AND deletion IS NOT NULL AND root_id IS NOT NULL
"""
_OF_DELETION: Final = f"SELECT {_GONE_COLUMNS} FROM history WHERE deletion = ? ORDER BY rowid DESC"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Version:
    """A node as it was until a change. Versions of a node count from 1, oldest first."""

    node_id: str
    version: int
    operation: str  # what replaced it: content, context, move, summarise, unsummarise, restore, import, delete, …
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


@dataclass(frozen=True, slots=True)
class Deletion:
    """Nodes that one operation took away: `top` is the upmost of them as it was, `nodes` how many there are."""

    number: int
    top: Version
    root_id: str
    nodes: int


@dataclass(frozen=True, slots=True)
class _Gone:
    """A node that was taken away, or one that was moved when a summary above it was."""

    was: Version
    root_id: str | None  # None: it was only moved
    created_at: str
    readonly: int
    flags: dict[str, str]


def versions(rows: Lookup, node_id: str) -> list[Version]:
    """What a node was, oldest first; empty where it was never changed. Raises NodeNotFound where it never was."""
    query = f"SELECT {_VERSION_COLUMNS} FROM history WHERE node_id = ? ORDER BY version"  # noqa: S608 - constants only
    found = [Version(*row) for row in rows.connection.execute(query, (node_id,))]
    if not found:
        rows.get(node_id)
    return found


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


def deletions(rows: Lookup, root_id: str | None = None) -> list[Deletion]:
    """What was deleted or unfolded and can come back, the latest first; of one tree, where its root is given."""
    found = []
    for row in rows.connection.execute(_DELETIONS, (root_id,)):
        was = Version(*row[:11])
        found.append(Deletion(row[11], was, row[12], row[-1]))
    return found


def restore_deleted(rows: Rows, node_id: str) -> Node:
    """Brings back a node that was deleted or unfolded, with all that went with it, marks included.

    It stands where it stood; where another has that place, right behind. What a summary was taken from goes below it
    again where it still stands beside it. Gives the upmost node that came back. Raises NodeNotFound where nothing of it
    is kept, or its parent is gone too; NodeExists where a node has its id.
    """
    (number,) = rows.connection.execute(_OF_NODE, (node_id,)).fetchone()
    if number is None:
        raise NodeNotFound(
            f"No deleted memory node {node_id!r} is kept.", hint="`infold docmem deleted` lists what can come back."
        )
    gone = [
        _Gone(Version(*row[:11]), row[12], row[13] or "", row[14] or 0, json.loads(row[15] or "{}"))
        for row in rows.connection.execute(_OF_DELETION, (number,))
    ]
    rows.connection.execute("UPDATE history SET deletion = NULL WHERE deletion = ?", (number,))
    taken = [one for one in gone if one.root_id is not None]
    back = [_put_back(rows, one, is_top=at == 0) for at, one in enumerate(taken)]
    for one in gone:
        if one.root_id is None:
            _fold_again(rows, one.was, {node.id: node for node in back})
    return rows.get(back[0].id)


def _put_back(rows: Rows, gone: _Gone, *, is_top: bool) -> Node:
    was = gone.was
    if rows.has(was.node_id):
        raise NodeExists(f"There is a memory node {was.node_id!r} by now.", hint="Delete that one first.")
    place = was.order_value
    if was.parent_id is not None and is_top:
        if not rows.has(was.parent_id):
            raise NodeNotFound(
                f"The parent {was.parent_id!r} of {was.node_id!r} is gone too.",
                hint=f"`infold docmem restore {was.parent_id}` brings it back, where it was deleted.",
            )
        place = _free_order(rows, was.parent_id, place)
    node = rows.add(
        was.parent_id,
        was.text,
        was.context,
        place,
        readonly=gone.readonly,
        node_id=was.node_id,
        created_at=gone.created_at,
    )
    for name, value in gone.flags.items():
        marks.mark(rows, node.id, name, value)
    return node


def _free_order(rows: Rows, parent_id: str, wanted: float) -> float:
    """The order that a node had, or one right behind whoever has it now."""
    there = rows.between(parent_id, wanted, wanted)
    return parent_and_order(rows, after(there[0]))[1] if there else wanted


def _fold_again(rows: Rows, was: Version, summaries: dict[str, Node]) -> None:
    """A child of a summary that came back goes below it, unless it was deleted or moved away meanwhile."""
    child, summary = rows.find(was.node_id), summaries.get(was.parent_id or "")
    if child is not None and summary is not None and child.parent_id == summary.parent_id:
        rows.change(child, "restore", place=(summary.id, was.order_value))
