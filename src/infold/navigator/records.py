"""What the navigator stores, as records and as rows of its tables: nodes, articles, edges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from infold.durable.records import moment
from infold.navigator.nodes import NodeType, NoteNode
from infold.text import content_hash

NODE_COLUMNS: Final = (
    "id, parent_id, type, path, ordinal, title, trail, level, start, end, line, end_line, content_hash, context_hash, "
    "summary, is_dirty, created_at, updated_at"
)
_TYPES: Final = {str(each): each for each in NodeType}


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node as it was stored. `summary` is '' where there is none yet; `is_dirty`: it has none of its content now."""

    id: str
    parent_id: str | None
    type: NodeType
    path: str
    ordinal: int
    title: str
    trail: tuple[str, ...]
    level: int
    start: int
    end: int
    line: int
    end_line: int
    content_hash: str
    context_hash: str
    summary: str
    is_dirty: bool
    created_at: str
    updated_at: str


class StoredContent(NamedTuple):
    """Which node says something, and the hashes of that."""

    id: str
    type: str
    content_hash: str
    context_hash: str


@dataclass(frozen=True, slots=True)
class Article:
    """An imported note as it was read: its state on disk then, and what it says."""

    path: str
    content_hash: str
    mtime_ns: int
    size: int
    title: str
    day: str | None
    tags: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A link out of a node, to a note and perhaps a heading of it, with the line it stands on."""

    source_id: str
    path: str
    target_path: str
    anchor: str
    context: str


def as_stored(node: NoteNode) -> StoredNode:
    """A node as it would be stored, without a summary."""
    now = moment()
    row = node_row(node, "", None, now, is_dirty=True)
    return node_of(row)


def node_of(row: Sequence[Any]) -> StoredNode:
    """The node of a row of `NODE_COLUMNS`."""
    values = list(row)
    values[2], values[6], values[15] = _TYPES[row[2]], _trail(row[6]), bool(row[15])
    return StoredNode(*values)


@lru_cache(maxsize=4096)
def _trail(stored: str) -> tuple[str, ...]:
    """The titles above a node; the nodes of a section have the same ones."""
    return tuple(json.loads(stored))


def content_of(nodes: Iterable[StoredNode]) -> str:
    """What nodes say together, whatever their order, as one hash."""
    return content_hash("\0".join(sorted(node.context_hash for node in nodes)))


def article_of(row: Sequence[Any]) -> Article:
    """The article of a row."""
    return Article(**{**dict(zip(Article.__slots__, row, strict=True)), "tags": tuple(json.loads(row[6]))})


def article_row(article: Article) -> tuple[object, ...]:
    """Its row."""
    tags = json.dumps(article.tags, ensure_ascii=False)
    return (
        article.path,
        article.content_hash,
        article.mtime_ns,
        article.size,
        article.title,
        article.day,
        tags,
        article.text,
    )


def node_row(
    node: NoteNode, summary: str, before: Sequence[str] | None, now: str, *, is_dirty: bool
) -> tuple[object, ...]:
    """Its row; `before` are content hash and times as stored until now: what says the same keeps its times."""
    digest = node.content_hash
    created, updated = (before[1], before[2] if before[0] == digest else now) if before else (now, now)
    return (
        node.id,
        node.parent_id,
        str(node.type),
        node.path,
        node.ordinal,
        node.title,
        json.dumps(node.trail, ensure_ascii=False),
        node.level,
        node.start,
        node.end,
        node.line,
        node.end_line,
        digest,
        node.context_hash,
        summary,
        int(is_dirty),
        created,
        updated,
    )
