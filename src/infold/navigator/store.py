"""Imported articles with their nodes and edges.

The file can be deleted: `navigator.importing` makes it anew from the vault and from what `navigator.choices` keeps, and
nothing is asked of a model again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from infold.durable.records import moment
from infold.durable.sqlite import Database, Schema
from infold.errors import NavigatorDamaged, NodeUnknown
from infold.navigator.choices import NavigatorChoices
from infold.navigator.nodes import NodeType, NoteNode
from infold.navigator.records import (
    NODE_COLUMNS,
    Article,
    Edge,
    StoredContent,
    StoredNode,
    article_of,
    article_row,
    node_of,
    node_row,
)
from infold.vault.front_matter import TRUST_OF_NOTES, TRUST_OF_OTHERS, read_front_matter, trust_of
from infold.vault.outside import OutsideText, outside_texts

_NODES: Final = (
    """CREATE TABLE articles (
        path TEXT PRIMARY KEY, content_hash TEXT NOT NULL, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
        title TEXT NOT NULL, day TEXT, tags TEXT NOT NULL, text TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE nodes (
        id TEXT PRIMARY KEY, parent_id TEXT, type TEXT NOT NULL, path TEXT NOT NULL, ordinal INTEGER NOT NULL,
        title TEXT NOT NULL, trail TEXT NOT NULL, level INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
        line INTEGER NOT NULL, end_line INTEGER NOT NULL, content_hash TEXT NOT NULL, context_hash TEXT NOT NULL,
        summary TEXT NOT NULL, is_dirty INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX nodes_parent ON nodes (parent_id, ordinal)",
    "CREATE INDEX nodes_path ON nodes (path, ordinal)",
    """CREATE TABLE edges (
        source_id TEXT NOT NULL, path TEXT NOT NULL, target_path TEXT NOT NULL, anchor TEXT NOT NULL,
        context TEXT NOT NULL
    )""",
    "CREATE INDEX edges_source ON edges (source_id)",
    "CREATE INDEX edges_path ON edges (path)",
    "CREATE INDEX edges_target ON edges (target_path)",
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE computed (name TEXT PRIMARY KEY, generation INTEGER NOT NULL, value TEXT NOT NULL) WITHOUT ROWID",
)
_NODES_SCHEMA: Final = Schema(
    "the navigator's nodes",
    "nodes",
    (_NODES,),
    NavigatorDamaged,
    hint="Delete the file; the next import makes it anew from what is kept.",
    synchronous="NORMAL",
)
_NEXT_GENERATION: Final = (
    "INSERT INTO facts VALUES ('generation', '1') ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
)
_AMONG: Final = "IN (SELECT value FROM json_each(?))"

Facts = Mapping[str, tuple[str, str | None, tuple[str, ...]]]


class NavigatorStore:
    """The nodes, and the `choices` beside them, open.

    Transactions belong to their callers (`durable.sqlite`). Raises NavigatorDamaged.
    """

    def __init__(self, derived: Path, kept: Path) -> None:
        self._nodes = Database(derived, _NODES_SCHEMA)
        self._facts: tuple[int, Facts] | None = None
        self._foreign: tuple[int, dict[str, tuple[str, tuple[OutsideText, ...]]]] = 0, {}
        try:
            self.choices = NavigatorChoices(kept)
        except BaseException:
            self._nodes.close()
            raise

    def close(self) -> None:
        """Closes both."""
        self._nodes.close()
        self.choices.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # nodes

    @property
    def generation(self) -> int:
        """A number that grows with every change of nodes: what was made from them is told fresh from stale by it."""
        rows = self._rows("SELECT value FROM facts WHERE name = 'generation'")
        return int(rows[0][0]) if rows else 0

    def node(self, node_id: str) -> StoredNode | None:
        """The node of that id."""
        return next(self._found("WHERE id = ?", node_id), None)

    def nodes(self, ids: Sequence[str]) -> dict[str, StoredNode]:
        """The nodes of these ids that there are."""
        return {node.id: node for node in self._found(f"WHERE id {_AMONG}", _listed(ids))}

    def id_of(self, beginning: str) -> str:
        """The id that begins so. Raises NodeUnknown where none does, or several do."""
        wanted = beginning.strip().casefold()
        rows = self._rows("SELECT id FROM nodes WHERE id >= ? AND id < ? LIMIT 2", wanted, f"{wanted}\uffff")
        if len(rows) != 1:
            which = "Several nodes begin" if rows else "No node begins"
            raise NodeUnknown(
                f"{which} with {beginning!r}.", hint="Give more of its id; `infold nav explore` shows ids."
            )
        return str(rows[0][0])

    def children(self, node_id: str) -> list[StoredNode]:
        """The nodes right below one, in reading order."""
        return list(self._found("WHERE parent_id = ? ORDER BY ordinal", node_id))

    def of_article(self, path: str) -> list[StoredNode]:
        """All nodes of a note, in reading order; none where it is not imported."""
        return list(self._found("WHERE path = ? ORDER BY ordinal", path))

    def lines(self, paths: Iterable[str]) -> dict[str, list[tuple[str, int, int]]]:
        """The id, first and last line of each node of these notes."""
        found: dict[str, list[tuple[str, int, int]]] = {}
        for path, *node in self._rows(
            f"SELECT path, id, line, end_line FROM nodes WHERE path {_AMONG}", _listed(paths)
        ):
            found.setdefault(path, []).append((node[0], node[1], node[2]))
        return found

    def contents(self, paths: Sequence[str]) -> dict[tuple[str, int], StoredContent]:
        """What each node of these notes says now, by path and ordinal."""
        query = f"SELECT path, ordinal, id, type, content_hash, context_hash FROM nodes WHERE path {_AMONG}"
        rows = self._rows(query, _listed(paths))
        return {(path, ordinal): StoredContent(*rest) for path, ordinal, *rest in rows}

    def count(self, paths: Sequence[str]) -> int:
        """How many nodes these notes have together."""
        return int(self._rows(f"SELECT count(*) FROM nodes WHERE path {_AMONG}", _listed(paths))[0][0])

    def every(self, types: Iterable[NodeType] = tuple(NodeType)) -> Iterator[StoredNode]:
        """All nodes of these types, note after note in the order of their paths."""
        return self._found(f"WHERE type {_AMONG} ORDER BY path, ordinal", _listed(types))

    def articles_of(self, paths: Sequence[str]) -> list[StoredNode]:
        """The article nodes of these notes, in the order of their paths."""
        return list(self._found(f"WHERE ordinal = 0 AND path {_AMONG} ORDER BY path", _listed(paths)))

    def sections_of(self, paths: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """The id and title of each section of these notes, in reading order."""
        query = f"SELECT path, id, title FROM nodes WHERE type = ? AND path {_AMONG} ORDER BY path, ordinal"
        found: dict[str, list[tuple[str, str]]] = {}
        for path, node_id, title in self._rows(query, NodeType.SECTION, _listed(paths)):
            found.setdefault(path, []).append((node_id, title))
        return found

    def below(self, node: StoredNode) -> list[str]:
        """The ids of all that a node is made of."""
        query = "SELECT id FROM nodes WHERE path = ? AND ordinal > ? AND start >= ? AND end <= ?"
        return [node_id for (node_id,) in self._rows(query, node.path, node.ordinal, node.start, node.end)]

    def articles(self) -> dict[str, tuple[str, int, int]]:
        """Content hash, mtime and size of every imported note, by path."""
        rows = self._rows("SELECT path, content_hash, mtime_ns, size FROM articles")
        return {path: (digest, mtime_ns, size) for path, digest, mtime_ns, size in rows}

    def article(self, path: str) -> Article | None:
        """An imported note."""
        rows = self._rows("SELECT * FROM articles WHERE path = ?", path)
        return article_of(rows[0]) if rows else None

    def article_facts(self) -> Facts:
        """Title, day and tags of every imported note, by path. Read once for each state of the nodes."""
        generation = self.generation
        if self._facts is None or self._facts[0] != generation:
            rows = self._rows("SELECT path, title, day, tags FROM articles")
            self._facts = generation, {path: (title, day, tuple(json.loads(tags))) for path, title, day, tags in rows}
        return self._facts[1]

    def text(self, node: StoredNode) -> str:
        """What a node said when it was imported."""
        article = self.article(node.path)
        return article.text[node.start : node.end] if article is not None else ""

    def trusts(self, nodes: Sequence[StoredNode]) -> dict[str, str]:
        """Whose text each node is, by id: what holds text from outside, or is of a note from outside, is external."""
        generation = self.generation
        if self._foreign[0] != generation:
            self._foreign = generation, {}
        known = self._foreign[1]
        for path in {node.path for node in nodes} - known.keys():
            article = self.article(path)
            known[path] = _foreign(article.text) if article is not None else (TRUST_OF_NOTES, ())
        return {node.id: _trust(node, *known[node.path]) for node in nodes}

    def dirty(self, paths: Iterable[str] | None = None) -> dict[str, int]:
        """How many nodes of each note wait for a summary; notes without any are left out."""
        counts = self._rows("SELECT path, count(*) FROM nodes WHERE is_dirty GROUP BY path")
        wanted = None if paths is None else set(paths)
        return {path: count for path, count in counts if wanted is None or path in wanted}

    def waiting(self, paths: Sequence[str]) -> dict[str, str]:
        """The hash of the content of each node of these notes that waits for a summary, by id."""
        query = f"SELECT id, context_hash FROM nodes WHERE is_dirty AND path {_AMONG}"
        return dict(self._rows(query, _listed(paths)))

    def links_from(self, node_ids: Sequence[str]) -> list[Edge]:
        """The links out of these nodes."""
        query = f"SELECT * FROM edges WHERE source_id {_AMONG} ORDER BY rowid"
        return [Edge(*row) for row in self._rows(query, _listed(node_ids))]

    def links_to(self, path: str) -> list[Edge]:
        """The links of imported notes that lead to a note."""
        query = "SELECT * FROM edges WHERE target_path = ? ORDER BY path, rowid"
        return [Edge(*row) for row in self._rows(query, path)]

    def article_links(self) -> list[tuple[str, str]]:
        """Source and target path of every link between two different imported notes, each once."""
        return self._rows(
            "SELECT DISTINCT path, target_path FROM edges WHERE path != target_path "
            "AND target_path IN (SELECT path FROM articles) ORDER BY 1, 2"
        )

    def put(
        self,
        articles: Sequence[tuple[Article, Sequence[tuple[NoteNode, str, bool]], Sequence[Edge]]],
        gone: Iterable[str] = (),
    ) -> None:
        """Replaces what is stored of these notes, all or nothing; takes those that are `gone` away.

        Each node comes with its summary and whether it is dirty. A node that was there keeps when it was made, and when
        it was changed unless its content is another.
        """
        now = moment()
        with self._nodes.writing() as db:
            for path in gone:
                _remove(db, path)
            known = _times(db, [article.path for article, _, _ in articles])
            for article, nodes, edges in articles:
                before = known.get(article.path)
                if before is not None:
                    _remove(db, article.path)
                db.execute("INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?, ?)", article_row(article))
                db.executemany(
                    "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        node_row(node, summary, (before or {}).get(node.id), now, is_dirty=dirty)
                        for node, summary, dirty in nodes
                    ],
                )
                db.executemany(
                    "INSERT INTO edges VALUES (?, ?, ?, ?, ?)",
                    [(edge.source_id, edge.path, edge.target_path, edge.anchor, edge.context) for edge in edges],
                )
            db.execute(_NEXT_GENERATION)

    def settle(self, summaries: Mapping[str, str]) -> None:
        """Gives nodes, by id, the summary of their content now."""
        with self._nodes.writing() as db:
            db.executemany(
                "UPDATE nodes SET summary = ?, is_dirty = 0 WHERE id = ?",
                [(summary, node_id) for node_id, summary in summaries.items()],
            )
            db.execute(_NEXT_GENERATION)

    def computed(self, name: str) -> tuple[int, str] | None:
        """What was computed under a name, and of which generation of nodes."""
        rows = self._rows("SELECT generation, value FROM computed WHERE name = ?", name)
        return (int(rows[0][0]), str(rows[0][1])) if rows else None

    def keep_computed(self, name: str, value: str) -> None:
        """Keeps what was computed of the nodes as they are."""
        generation = self.generation
        with self._nodes.writing() as db:
            db.execute("INSERT OR REPLACE INTO computed VALUES (?, ?, ?)", (name, generation, value))

    def _rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        with self._nodes.reading() as db:
            return db.execute(query, values).fetchall()

    def _found(self, which: str, *values: str | int) -> Iterator[StoredNode]:
        """The nodes that are left of all by these words of SQL, in their order."""
        return map(node_of, self._rows(f"SELECT {NODE_COLUMNS} FROM nodes {which}", *values))


def _listed(values: Iterable[str]) -> str:
    """Values as one argument of `_AMONG`."""
    return json.dumps([str(value) for value in values])


def _foreign(text: str) -> tuple[str, tuple[OutsideText, ...]]:
    """Whose text a note is, and what of it is from outside."""
    front = read_front_matter(text)
    return TRUST_OF_NOTES if front is None else trust_of(front.values), tuple(outside_texts(text))


def _trust(node: StoredNode, whole: str, outside: Sequence[OutsideText]) -> str:
    holds = any(each.start < node.end and node.start < each.end for each in outside)
    return TRUST_OF_OTHERS if holds else whole


def _times(db: sqlite3.Connection, paths: Sequence[str]) -> dict[str, dict[str, tuple[str, str, str]]]:
    """Content hash and the two times of each node of those notes that are stored, by path and id."""
    found: dict[str, dict[str, tuple[str, str, str]]] = {}
    query = f"SELECT path, id, content_hash, created_at, updated_at FROM nodes WHERE path {_AMONG}"
    for path, node_id, *times in db.execute(query, (_listed(paths),)):
        found.setdefault(path, {})[node_id] = (times[0], times[1], times[2])
    return found


def _remove(db: sqlite3.Connection, path: str) -> None:
    for table in ("edges", "nodes", "articles"):
        db.execute(f"DELETE FROM {table} WHERE path = ?", (path,))
