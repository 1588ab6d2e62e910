"""The tables of the store, and how an older file becomes one of today. A step, once released, never changes.

One table of nodes as the specification lists their properties, with its two indexes and no cascades (spec 2, Database).
The other tables are about nodes and never needed to read a tree.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from infold.errors import StoreDamaged, StoreTooNew

_NODES: Final = (
    """CREATE TABLE nodes (
        id TEXT PRIMARY KEY NOT NULL,
        parent_id TEXT,
        text TEXT NOT NULL,
        order_value REAL NOT NULL,
        token_count INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        context_type TEXT NOT NULL,
        context_name TEXT NOT NULL,
        context_value TEXT NOT NULL,
        readonly INTEGER NOT NULL DEFAULT 0 CHECK (readonly IN (0, 1)),
        hash TEXT
    )""",
    "CREATE INDEX nodes_parent ON nodes (parent_id)",
    "CREATE INDEX nodes_parent_order ON nodes (parent_id, order_value)",
    # What a node was before each update.
    """CREATE TABLE history (
        node_id TEXT NOT NULL,
        version INTEGER NOT NULL,
        operation TEXT NOT NULL,
        replaced_at TEXT NOT NULL,
        parent_id TEXT,
        text TEXT NOT NULL,
        order_value REAL NOT NULL,
        context_type TEXT NOT NULL,
        context_name TEXT NOT NULL,
        context_value TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (node_id, version)
    )""",
    # Nodes whose entry in the search index is not what the node is.
    """CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        node_id TEXT NOT NULL UNIQUE,
        root_id TEXT NOT NULL,
        op TEXT NOT NULL CHECK (op IN ('upsert', 'delete'))
    )""",
    # Flags of nodes that are none of their properties: priority, sticky, …
    """CREATE TABLE marks (
        node_id TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (node_id, name)
    ) WITHOUT ROWID""",
    "CREATE INDEX marks_name ON marks (name)",
    "CREATE TABLE facts (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID",
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (_NODES,)
VERSION: Final = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, file: Path) -> None:
    """Brings the file to today's version, in one transaction.

    Raises StoreTooNew where a later infold wrote it, StoreDamaged where it holds tables of something else.
    """
    if version_of(connection, file) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number in range(version_of(connection, file), VERSION):  # again: another process may have been first
            for statement in MIGRATIONS[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def version_of(connection: sqlite3.Connection, file: Path) -> int:
    """Which version the file has; 0 where it is empty. Raises as `migrate` does."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise StoreTooNew(
            f"{file.name} was written by a later infold (version {version} of its tables; this one knows {VERSION}).",
            hint="Install that infold again, or `infold docmem restore-backup FILE` with a backup made by this one.",
        )
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if (version == 0 and tables) or (version > 0 and "nodes" not in tables):
        raise StoreDamaged(
            f"{file.name} is a database of something else.",
            hint="`infold docmem restore-backup FILE` sets it aside for a backup; or move it away and begin anew.",
        )
    return version
