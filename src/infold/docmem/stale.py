"""Summaries and what they were made from: which say no longer what stands below them (spec 2, Summarization).

Every summary carries the digest of the texts that it was written for; one without, which was put there as it is, is
taken at its word. Automatic ones carry the digest of their own words too, so that a person's are told from them: theirs
alone are made again, and theirs go at once when what they say is deleted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from infold.docmem import marks
from infold.docmem.lookup import Lookup
from infold.docmem.node import Node
from infold.docmem.rows import Rows
from infold.text import content_hash

OF_CHILDREN: Final = "summarises"  # the mark of a summary: the digest of the texts it was written for
OWN_WORDS: Final = "summary_sha256"  # the mark of an automatic one: that of its own text

_ONCE_ABOVE: Final = """
SELECT DISTINCT parent_id FROM history
WHERE node_id IN (SELECT value FROM json_each(?1)) AND parent_id IN (SELECT node_id FROM marks WHERE name = ?2)
"""
_GONE_ABOVE: Final = """
SELECT DISTINCT parent_id FROM history WHERE node_id IN (SELECT value FROM json_each(?1)) AND parent_id IN (
    SELECT node_id FROM history WHERE root_id IS NOT NULL AND instr(marks, '"' || ?2 || '"')
)
"""


def digest_of(nodes: Sequence[Node]) -> str:
    """What the texts of these nodes are, in their order."""
    return content_hash("\0".join(node.text for node in nodes))


def is_automatic(rows: Lookup, summary: Node) -> bool:
    """Whether the words of a summary are the librarian's, and no person has changed them since."""
    return marks.marks_of(rows, summary.id).get(OWN_WORDS) == content_hash(summary.text)


def is_stale(rows: Lookup, summary: Node) -> bool:
    """Whether a summary was written for other texts than those below it now, or says nothing of them."""
    written_for = marks.marks_of(rows, summary.id).get(OF_CHILDREN)
    if written_for is None:
        return False
    return not summary.text.strip() or digest_of(list(rows.children(summary.id))) != written_for


def stale_summaries(rows: Lookup, node_id: str | None = None) -> list[Node]:
    """The summaries that no longer say what is below them, from a node down or in all trees. Raises NodeNotFound."""
    if node_id is not None:
        rows.get(node_id)
    known = (rows.find(summary_id) for summary_id in marks.marked(rows, OF_CHILDREN))
    return [
        summary
        for summary in known
        if summary is not None
        and summary.is_summary
        and (node_id is None or node_id in rows.ancestor_ids(summary.id))
        and is_stale(rows, summary)
    ]


def written_for_these(rows: Rows, summary: Node) -> None:
    """Notes that the words of a summary are meant for what stands below it now."""
    marks.mark(rows, summary.id, OF_CHILDREN, digest_of(list(rows.children(summary.id))))


def once_above(rows: Lookup, node_ids: Sequence[str]) -> list[Node]:
    """The summaries of the librarian's making that nodes stood below before a change."""
    asked = rows.connection.execute(_ONCE_ABOVE, (json.dumps(node_ids), OWN_WORDS)).fetchall()
    return [rows.get(row[0]) for row in asked]


def forget(rows: Rows, node_ids: Sequence[str]) -> None:
    """What nodes that are gone were is kept no longer, nor what was said of them by the librarian."""
    taken_away = rows.connection.execute(_GONE_ABOVE, (json.dumps(node_ids), OWN_WORDS)).fetchall()
    there = [summary.id for summary in once_above(rows, node_ids)]
    rows.forget_history([*(row[0] for row in taken_away), *there, *node_ids])


def withdraw(rows: Rows, summary: Node, deletion: int) -> None:
    """Takes the librarian's words away from a summary; where nothing stands below it any more, itself."""
    if not is_automatic(rows, summary):
        return
    if not rows.has_children(summary.id):
        rows.remove([summary.id], rows.root_id(summary.id), "delete", deletion)
        return
    rows.change(summary, "withdraw", text="")
    marks.mark(rows, summary.id, OWN_WORDS, content_hash(""))
