"""Memory nodes in the search index: the outbox says which are not there as they are, and is emptied as they are taken.

The index is a copy: killed anywhere, what was not confirmed is given again. An index made anew, or a store restored, is
noticed by the fact `maintenance.INDEX_GENERATION`, and everything is given again; kept vectors are not computed twice.
Who writes it, and when, belongs to `search.index.sync`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final

from infold.docmem import marks, outbox
from infold.docmem.chats import SESSION
from infold.docmem.maintenance import INDEX_GENERATION
from infold.docmem.points import MemoryPoint, entry_of, node_id_of_point, point_id
from infold.errors import IndexFault, NodeNotFound
from infold.notebook.sessions import FEED as SESSIONS
from infold.notebook.sessions import PREFIX
from infold.progress import Progress, silent
from infold.search.index.feeds import ChangedPoints
from infold.search.index.generations import SYNC_WAIT_SECONDS, Generations
from infold.search.index.manifest import Manifest
from infold.search.index.sync import SyncResult, sync_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from infold.docmem.lookup import Lookup
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.docmem.outbox import Stale
    from infold.search.embed.embedder import Embedder
    from infold.workspace import Workspace

FEED: Final = "memory"  # what the trees are noted under in the manifest
BATCH: Final = 1000
_ALL_BELOW: Final = """
WITH RECURSIVE tree (id) AS (
    SELECT id FROM nodes WHERE parent_id = ?1
    UNION ALL SELECT n.id FROM tree CROSS JOIN nodes n ON n.parent_id = tree.id
)
INSERT OR IGNORE INTO outbox (node_id, root_id, op) SELECT id, ?2, 'upsert' FROM tree
"""


class MemoryFeed:
    """The trees of a store as `search.index.feeds.ChangeFeed`; `language` as `search.language`.

    `is_searched` says of a session's path whether its transcript is in the index itself: then a tree that only shows
    the session is not.
    """

    name = FEED

    def __init__(self, memory: Docmem, language: str, is_searched: Callable[[str], bool]) -> None:
        self._memory, self._language, self._is_searched = memory, language, is_searched

    def heard(self) -> str:
        """The generation of the index that has heard of every node which does not wait; "" where none has."""
        with self._memory.store.reading() as rows:
            return marks.fact(rows, INDEX_GENERATION) or ""

    def begin(self, generation: str) -> None:
        """Puts every node into the outbox, for an index that has none."""
        with self._memory.store.writing() as rows:
            outbox.everything_stale(rows)
            marks.set_fact(rows, INDEX_GENERATION, generation)

    def waiting(self) -> int:
        """How many nodes wait; those below a parent that was changed come to it."""
        with self._memory.store.reading() as rows:
            return outbox.waiting_count(rows)

    def changes(self) -> ChangedPoints | None:
        """The next nodes. What stands below one that changed is found by its words, or within it: it goes too."""
        with self._memory.store.writing() as rows:
            entries = outbox.waiting(rows, BATCH)
            for entry in entries:
                if entry.op == "upsert" and rows.has(entry.node_id) and rows.has_children(entry.node_id):
                    rows.connection.execute(_ALL_BELOW, (entry.node_id, entry.root_id))
        return self._read(entries) if entries else None

    def confirm(self, changes: ChangedPoints) -> None:
        """Takes them from the outbox; a node changed meanwhile has a newer entry, which stays."""
        entries = changes.token
        if isinstance(entries, list):
            with self._memory.store.writing() as rows:
                outbox.done(rows, entries)

    def current(self, ids: Sequence[str]) -> ChangedPoints:
        """The nodes of these points as they are now."""
        with self._memory.store.reading() as rows:
            roots = {point_id(root, root): root for root in _roots(rows)}
            nodes = [(one, roots.get(one) or node_id_of_point(one)) for one in ids]
            known = [(one, node) for one, node in nodes if rows.has(node)]
            found = self._entries(rows, [node for _, node in known])
        points = {entry.point.id for entry in found}
        return _changes(found, [one for one in ids if one not in points])

    def _read(self, entries: list[Stale]) -> ChangedPoints:
        with self._memory.store.reading() as rows:
            found = self._entries(rows, [stale.node_id for stale in entries])
        points = {entry.point.id for entry in found}
        former = dict.fromkeys(point_id(stale.node_id, stale.root_id) for stale in entries)
        return _changes(found, [one for one in former if one not in points], entries)

    def _entries(self, rows: Lookup, nodes: Iterable[str]) -> list[MemoryPoint]:
        """The nodes that there are, and have something to find, as the index takes them."""
        known: dict[str, Node] = {}
        sessions: dict[str, bool] = {}
        found: list[MemoryPoint] = []
        for node in dict.fromkeys(nodes):
            try:
                session = marks.marks_of(rows, rows.ancestor_ids(node)[-1]).get(SESSION)
                if session is not None and session not in sessions:
                    sessions[session] = self._is_searched(session)
                entry = entry_of(rows, node, self._language, known, sessions)
            except NodeNotFound:
                continue
            if entry is not None:
                found.append(entry)
        return found


def memory_feed(memory: Docmem, workspace: Workspace) -> MemoryFeed:
    """The trees as a feed of the workspace's index; one that shows a session which is searched itself is left out."""

    def is_searched(session: str) -> bool:
        if (workspace.sessions / session.removeprefix(PREFIX)).is_file():
            return True
        folder = Generations(workspace.index)
        generation = folder.current()
        try:
            if generation is None:
                return False
            with closing(Manifest(folder.manifest_of(generation), read_only=True)) as manifest:
                return session in manifest.notes(SESSIONS)
        except IndexFault:
            return False

    return MemoryFeed(memory, workspace.params.search.language, is_searched)


def index_memory(
    memory: Docmem,
    workspace: Workspace,
    embedder: Embedder,
    progress: Progress = silent,
    *,
    vectors: bool = True,
    wait_seconds: float = SYNC_WAIT_SECONDS,
) -> SyncResult:
    """Makes the index hold the trees as they are, and nothing else; raises as `sync_index` does.

    Where there is no index yet, IndexFault: one is made of all that there is to search.
    """
    if Generations(workspace.index).is_damaged:
        raise IndexFault("There is no search index yet.", hint="`infold index` makes it.")
    return sync_index(
        workspace.vault,
        workspace.index,
        workspace.embeddings,
        workspace.params,
        embedder,
        progress,
        feeds=(memory_feed(memory, workspace),),
        vectors=vectors,
        wait_seconds=wait_seconds,
    )


def _roots(rows: Lookup) -> list[str]:
    return [row[0] for row in rows.connection.execute("SELECT id FROM nodes WHERE parent_id IS NULL")]


def _changes(found: Sequence[MemoryPoint], gone: list[str], token: object = None) -> ChangedPoints:
    return ChangedPoints(
        [entry.point for entry in found], [entry.key for entry in found], [entry.text for entry in found], gone, token
    )
