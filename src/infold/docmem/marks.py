"""Flags of nodes that are none of their properties, and facts about the store. Neither is part of a node's hash.

A mark (priority, sticky, …) is copied with its node and goes with it.
"""

from __future__ import annotations

from infold.docmem.lookup import Lookup
from infold.docmem.rows import Rows


def mark(rows: Rows, node_id: str, name: str, value: str = "1") -> None:
    """Sets a mark of a node. Raises NodeNotFound."""
    rows.get(node_id)
    rows.connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?, ?)", (node_id, name, value))


def unmark(rows: Rows, node_id: str, name: str) -> None:
    """Takes a mark away; one that is not there is fine. Raises NodeNotFound."""
    rows.get(node_id)
    rows.connection.execute("DELETE FROM marks WHERE node_id = ? AND name = ?", (node_id, name))


def marks_of(rows: Lookup, node_id: str) -> dict[str, str]:
    """The marks of a node. Raises NodeNotFound."""
    rows.get(node_id)
    return dict(rows.connection.execute("SELECT name, value FROM marks WHERE node_id = ? ORDER BY name", (node_id,)))


def marked(rows: Lookup, name: str) -> dict[str, str]:
    """Every node with that mark, and the mark's value."""
    return dict(rows.connection.execute("SELECT node_id, value FROM marks WHERE name = ? ORDER BY node_id", (name,)))


def marked_with(rows: Lookup, name: str, value: str) -> list[str]:
    """The nodes with that mark of that value."""
    found = rows.connection.execute("SELECT node_id FROM marks WHERE name = ? AND value = ?", (name, value))
    return [row[0] for row in found]


def marked_from(rows: Lookup, name: str, beginning: str) -> list[str]:
    """The nodes with that mark, where its value begins so."""
    query = "SELECT node_id FROM marks WHERE name = ? AND substr(value, 1, ?) = ?"
    return [row[0] for row in rows.connection.execute(query, (name, len(beginning), beginning))]


def fact(rows: Lookup, name: str) -> str | None:
    """What the store remembers under that name."""
    row = rows.connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def set_fact(rows: Rows, name: str, value: str) -> None:
    """Remembers something about the store, such as which index has heard of its nodes."""
    rows.connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
