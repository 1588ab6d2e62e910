"""The tables of the store, and how an older file becomes one of today. A step, once released, never changes.

One table of nodes as the specification lists their properties, with its two indexes and no cascades (spec 2, Database).
The other tables are about nodes and never needed to read a tree.
"""

from __future__ import annotations

from typing import Final

from infold.durable.sqlite import Schema
from infold.errors import StoreBusy, StoreDamaged, StoreTooNew

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

# What was deleted or unfolded can come back: the rest of what a node was, and which operation took it.
_DELETED: Final = (
    "ALTER TABLE history ADD COLUMN deletion INTEGER",
    "ALTER TABLE history ADD COLUMN root_id TEXT",
    "ALTER TABLE history ADD COLUMN created_at TEXT",
    "ALTER TABLE history ADD COLUMN readonly INTEGER",
    "ALTER TABLE history ADD COLUMN marks TEXT",
    "CREATE INDEX history_deletion ON history (deletion) WHERE deletion IS NOT NULL",
)

SCHEMA: Final = Schema(
    name="the memory trees",
    table="nodes",
    migrations=(_NODES, _DELETED),
    damaged=StoreDamaged,
    hint="`infold doctor` says what is wrong; `infold docmem restore-backup FILE` goes back to a backup.",
    too_new=StoreTooNew,
    too_new_hint="Install that infold again, or `infold docmem restore-backup FILE` with a backup made by this one.",
    busy=StoreBusy,
)
