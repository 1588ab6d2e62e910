"""The questions that are put to the table of nodes, as SQL. All that varies in them is bound, never written in."""

from __future__ import annotations

from typing import Final

from infold.docmem.node import PROPERTIES

COLUMNS: Final = ", ".join(PROPERTIES)
_OF_NODE: Final = ", ".join(f"n.{name}" for name in PROPERTIES)

NODE: Final = f"SELECT {COLUMNS} FROM nodes WHERE id = ?"
EVERY_NODE: Final = f"SELECT {COLUMNS} FROM nodes"
OF_CONTEXT: Final = f"""
SELECT {COLUMNS} FROM nodes
WHERE (?1 IS NULL OR context_type = ?1) AND (?2 IS NULL OR context_name = ?2) AND (?3 IS NULL OR context_value = ?3)
ORDER BY created_at, id
"""
ROOTS: Final = f"SELECT {COLUMNS} FROM nodes WHERE parent_id IS NULL ORDER BY created_at, id"
CHILDREN: Final = f"SELECT {COLUMNS} FROM nodes WHERE parent_id = ? ORDER BY order_value, id"
CHILDREN_NEWEST_FIRST: Final = f"SELECT {COLUMNS} FROM nodes WHERE parent_id = ? ORDER BY order_value DESC, id DESC"
HIGHEST_ORDER: Final = (
    "SELECT order_value FROM nodes WHERE parent_id = ? AND id IS NOT ? ORDER BY order_value DESC LIMIT 1"
)
_SIBLING: Final = f"SELECT {COLUMNS} FROM nodes WHERE parent_id = ? AND order_value"
NEXT: Final = f"{_SIBLING} > ? AND id IS NOT ? ORDER BY order_value LIMIT 1"
PREVIOUS: Final = f"{_SIBLING} < ? AND id IS NOT ? ORDER BY order_value DESC LIMIT 1"
BETWEEN: Final = "SELECT id FROM nodes WHERE parent_id = ? AND order_value BETWEEN ? AND ?"

# Depth first: of what waits the deepest comes first, and the deepest that wait are always children of one node. Rows
# come out as they are taken from what waits; the limit, which is none, keeps SQLite from dropping the order as useless.
_WALK: Final = """
WITH RECURSIVE tree AS (
    SELECT 0 AS depth, {columns} FROM nodes n WHERE n.id = ?
    UNION ALL
    SELECT tree.depth + 1, {columns} FROM tree CROSS JOIN nodes n ON n.parent_id = tree.id
    ORDER BY {order} LIMIT -1
)
SELECT {wanted} FROM tree
"""
TREE: Final = _WALK.format(columns=_OF_NODE, order="depth DESC, order_value, id", wanted=f"{COLUMNS}, depth")
TREE_TEXTS: Final = _WALK.format(
    columns="n.order_value, n.id, n.text", order="depth DESC, order_value, id", wanted="text"
)
TREE_METADATA: Final = _WALK.format(
    columns="n.order_value, n.id, n.context_type, n.context_name, n.context_value, n.updated_at",
    order="depth DESC, order_value, id",
    wanted="depth, id, context_type, context_name, context_value, updated_at",
)
MIRRORED_PREORDER: Final = _WALK.format(  # backwards it is the post-order
    columns="n.order_value, n.id", order="depth DESC, order_value DESC, id DESC", wanted="id"
)
SIZE: Final = """
WITH RECURSIVE tree (id) AS (
    SELECT id FROM nodes WHERE id = ?
    UNION ALL SELECT n.id FROM tree CROSS JOIN nodes n ON n.parent_id = tree.id
)
SELECT count(*) FROM tree
"""
CHAIN: Final = """
WITH RECURSIVE chain (id, parent_id, height) AS (
    SELECT id, parent_id, 0 FROM nodes WHERE id = ?
    UNION ALL
    SELECT n.id, n.parent_id, chain.height + 1 FROM chain JOIN nodes n ON n.id = chain.parent_id
    WHERE chain.height < 100000
)
SELECT id, parent_id FROM chain ORDER BY height
"""

INSERT: Final = f"INSERT INTO nodes ({COLUMNS}) VALUES ({', '.join('?' for _ in PROPERTIES)})"
UPDATE: Final = """
UPDATE nodes SET parent_id = ?, text = ?, order_value = ?, token_count = ?, updated_at = ?,
    context_type = ?, context_name = ?, context_value = ?, hash = ?
WHERE id = ?
"""
_REMEMBERED: Final = """INSERT INTO history (node_id, version, operation, replaced_at, deletion,
    parent_id, text, order_value, context_type, context_name, context_value, hash"""
_VERSION: Final = "1 + coalesce((SELECT max(version) FROM history h WHERE h.node_id = n.id), 0)"
_STATE: Final = "parent_id, text, order_value, context_type, context_name, context_value, coalesce(hash, '')"
REMEMBER: Final = f"{_REMEMBERED}) SELECT id, {_VERSION}, ?2, ?3, ?4, {_STATE} FROM nodes n WHERE id = ?1"
REMEMBER_GONE: Final = f"""{_REMEMBERED}, root_id, created_at, readonly, marks)
SELECT id, {_VERSION}, ?2, ?3, ?4, {_STATE}, ?5, created_at, readonly,
    (SELECT json_group_object(name, value) FROM marks WHERE node_id = n.id)
FROM nodes n WHERE id = ?1
"""
WAS: Final = """
INSERT OR REPLACE INTO history (node_id, version, operation, replaced_at, parent_id, text, order_value,
    context_type, context_name, context_value, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
SINCE: Final = """
SELECT operation, replaced_at, text FROM history WHERE node_id = ? AND hash = ? ORDER BY version DESC LIMIT 1
"""  # what became of the state that a caller read
STALE: Final = "INSERT OR REPLACE INTO outbox (node_id, root_id, op) VALUES (?, ?, 'upsert')"
GONE: Final = "INSERT OR REPLACE INTO outbox (node_id, root_id, op) VALUES (?, ?, 'delete')"
COUNT: Final = """
INSERT INTO facts VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + ?2
"""

_ORPHAN: Final = "parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM nodes p WHERE p.id = n.parent_id)"
ORPHANS: Final = f"SELECT id, parent_id FROM nodes n WHERE {_ORPHAN} LIMIT 20"
UNREACHED: Final = """
WITH RECURSIVE tree (id) AS (
    SELECT id FROM nodes WHERE parent_id IS NULL
    UNION SELECT n.id FROM tree CROSS JOIN nodes n ON n.parent_id = tree.id
)
SELECT (SELECT count(*) FROM nodes) - count(*) FROM tree
"""
TIES: Final = """
SELECT parent_id, order_value FROM nodes WHERE parent_id IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1 LIMIT 20
"""
