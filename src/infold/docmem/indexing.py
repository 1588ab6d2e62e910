"""Memory nodes in the search index: what the outbox names is sent, batch by batch, and what is gone is taken away.

The index is a copy: killed anywhere, what was not confirmed is sent again. An index made anew, or a store restored,
is noticed by the fact `upkeep.INDEX_GENERATION`, and everything is sent again; kept vectors are not computed twice.
Whoever writes holds the index's turn, as a sync of the notes does, so that the two never write at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from infold.docmem import marks, outbox
from infold.docmem.chats import SESSION
from infold.docmem.points import PREFIX, Entry, entry_of, point_id
from infold.docmem.upkeep import INDEX_GENERATION
from infold.errors import IndexFault, NodeNotFound
from infold.search.index.engines import open_engine
from infold.search.index.generations import SYNC_WAIT_SECONDS, IndexFolder
from infold.search.index.manifest import IndexedNote, Manifest, PendingVector

if TYPE_CHECKING:
    from infold.docmem.lookup import Lookup
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.docmem.outbox import Stale
    from infold.docmem.rows import Rows
    from infold.search.embed.embedder import Embedder
    from infold.search.index.contract import Index, IndexPoint, Vector
    from infold.workspace import Workspace

FEED: Final = "docmem"  # what the trees are noted under in the manifest, with no passage that a sync would count
BATCH: Final = 1000
_ALL_BELOW: Final = """
WITH RECURSIVE tree (id) AS (
    SELECT id FROM nodes WHERE parent_id = ?1
    UNION ALL SELECT n.id FROM tree CROSS JOIN nodes n ON n.parent_id = tree.id
)
INSERT OR IGNORE INTO outbox (node_id, root_id, op) SELECT id, ?2, 'upsert' FROM tree
"""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class MemoryIndexed:
    """What was done: nodes sent, nodes taken away, vectors computed, and those left to the next sync."""

    sent: int = 0
    removed: int = 0
    computed: int = 0
    pending: int = 0
    anew: bool = False  # everything was sent


def _silent(stage: str, done: int, total: int) -> None:
    """No progress."""


def is_indexed(memory: Docmem, workspace: Workspace) -> bool:
    """Whether the index in use has heard of every node."""
    generation = IndexFolder(workspace.index).current()
    with memory.store.reading() as rows:
        return marks.fact(rows, INDEX_GENERATION) == generation and not outbox.waiting(rows, 1)


def index_memory(
    memory: Docmem,
    workspace: Workspace,
    embedder: Embedder | None,
    progress: Progress = _silent,
    *,
    vectors: bool = True,
    wait_seconds: float = SYNC_WAIT_SECONDS,
) -> MemoryIndexed:
    """Sends what waits. Without `vectors` those that are not kept are left to the next sync of the notes.

    Raises IndexFault where there is no index, VaultBusy where another process brings it up to date after the wait.
    """
    folder = IndexFolder(workspace.index)
    if is_indexed(memory, workspace) and not folder.is_damaged:
        return MemoryIndexed()
    with folder.syncing(wait_seconds):
        generation = folder.current()
        if generation is None or folder.is_damaged:
            raise IndexFault("There is no search index yet.", hint="`infold index` makes it.")
        with (
            closing(Manifest(folder.manifest_of(generation))) as manifest,
            closing(open_engine(folder.folder).open(generation)) as index,
        ):
            return _Sending(memory, workspace, embedder, manifest, index, generation, progress).run(vectors=vectors)


class _Sending:
    """One drain of the outbox while it runs."""

    def __init__(
        self,
        memory: Docmem,
        workspace: Workspace,
        embedder: Embedder | None,
        manifest: Manifest,
        index: Index,
        generation: str,
        progress: Progress,
    ) -> None:
        from infold.catalogue.embeddings import EmbeddingStore

        identity = manifest.identity()
        fits = embedder is not None and identity is not None and identity.model == embedder.name
        self._embedder = embedder if fits else None
        self._memory, self._workspace, self._manifest, self._index = memory, workspace, manifest, index
        self._generation, self._progress = generation, progress
        self._kept = EmbeddingStore(workspace.embeddings)
        self._paths = set(manifest.notes(FEED))
        self._sessions: dict[str, bool] = {}
        self._done = MemoryIndexed()

    def run(self, *, vectors: bool) -> MemoryIndexed:
        """All that waits, batch by batch."""
        with self._memory.store.reading() as rows:
            known = marks.fact(rows, INDEX_GENERATION)
        if known != self._generation:
            self._begin_anew()
        with self._memory.store.reading() as rows:
            total = outbox.waiting_count(rows)
        sent = 0
        while entries := self._batch():
            self._send(entries, vectors=vectors)
            sent += len(entries)
            self._progress("memory", sent, max(total, sent))
        return self._done

    def _begin_anew(self) -> None:
        """Takes every memory node from the index, then puts every node of the store into the outbox."""
        if self._paths:
            self._index.replace(sorted(self._paths), [])
            self._index.flush()
            self._manifest.begin(FEED, sorted(self._paths))  # what they waited for is forgotten
            self._manifest.finish(FEED, [], sorted(self._paths), [])
            self._paths.clear()
        with self._memory.store.writing() as rows:
            outbox.everything_stale(rows)
            marks.set_fact(rows, INDEX_GENERATION, self._generation)
        self._done = replace(self._done, anew=True)

    def _batch(self) -> list[Stale]:
        """The next entries. What stands below a heading, a summary or a root is found by its words: it goes too."""
        with self._memory.store.writing() as rows:
            entries = outbox.waiting(rows, BATCH)
            for entry in entries:
                if entry.op == "upsert" and _is_heading(rows, entry.node_id):
                    rows.connection.execute(_ALL_BELOW, (entry.node_id, entry.root_id))
            return entries

    def _send(self, entries: Sequence[Stale], *, vectors: bool) -> None:
        found, gone = self._read(entries)
        self._note_paths(entry.point.path for entry in found)
        points, pending = self._with_vectors(found, vectors=vectors)
        self._manifest.filled([point.id for point in points] + gone)
        self._manifest.finish(FEED, [], [], pending)
        self._index.delete(gone)
        self._index.upsert(points)
        self._index.flush()
        with self._memory.store.writing() as rows:
            outbox.done(rows, entries)
        self._done = replace(
            self._done,
            sent=self._done.sent + len(points),
            removed=self._done.removed + len(gone),
            pending=self._done.pending + len(pending),
        )

    def _read(self, entries: Sequence[Stale]) -> tuple[list[Entry], list[str]]:
        """What the nodes are now, and the points of those that are gone or have nothing to find."""
        language = self._workspace.params.search.language
        known: dict[str, Node] = {}
        found: list[Entry] = []
        gone: list[str] = []
        with self._memory.store.reading() as rows:
            for path in {path for entry in entries if (path := _session(rows, entry.root_id)) is not None}:
                self._sessions[path] = self._is_searched(path)
            for stale in entries:
                try:
                    entry = entry_of(rows, stale.node_id, language, known, self._sessions)
                except NodeNotFound:
                    entry = None
                if entry is None:
                    gone.append(point_id(stale.node_id, stale.root_id))
                else:
                    found.append(entry)
        return found, gone

    def _is_searched(self, session: str) -> bool:
        """Whether a transcript is in the index itself, or will be: it lies where the sessions are."""
        from infold.notebook.sessions import FEED as SESSIONS
        from infold.notebook.sessions import PREFIX as SESSION_PREFIX

        file = self._workspace.sessions / session.removeprefix(SESSION_PREFIX)
        return file.is_file() or session in self._manifest.notes(SESSIONS)

    def _note_paths(self, paths: Iterable[str]) -> None:
        """Notes the trees in the manifest before their first point, so that they are found when all has to go."""
        new = sorted({path for path in paths if path not in self._paths})
        if new:
            rows = [IndexedNote(FEED, path, 0, 0, FEED, "", 0, "", path.removeprefix(PREFIX), 0) for path in new]
            self._manifest.finish(FEED, rows, [], [])
            self._paths.update(new)

    def _with_vectors(self, found: Sequence[Entry], *, vectors: bool) -> tuple[list[IndexPoint], list[PendingVector]]:
        """The points with the vectors that are kept or computed, and what is left to be computed."""
        embedder = self._embedder
        if embedder is None:
            return [entry.point for entry in found], []
        texts = {entry.key: entry.text for entry in found if entry.text.strip()}
        kept: Mapping[str, Vector] = self._kept.find(embedder.name, list(texts))
        missing = [key for key in texts if key not in kept]
        if missing and vectors:
            computed = dict(zip(missing, embedder.embed([texts[key] for key in missing]), strict=True))
            kept = {**kept, **self._kept.append(embedder.name, computed)}
            self._done = replace(self._done, computed=self._done.computed + len(missing))
            missing = []
        waiting = set(missing)
        points = [replace(entry.point, dense=kept.get(entry.key)) for entry in found]
        pending = [
            PendingVector(entry.point.id, entry.point.path, entry.key, entry.text)
            for entry in found
            if entry.key in waiting
        ]
        return points, pending


def _is_heading(rows: Rows, node_id: str) -> bool:
    """Whether what stands below a node is found by its words too, and there is something below it."""
    node = rows.find(node_id)
    if node is None or not rows.has_children(node_id):
        return False
    return node.parent_id is None or node.context_type in {"section", "summary", "user"}


def _session(rows: Lookup, root_id: str) -> str | None:
    return marks.marks_of(rows, root_id).get(SESSION) if rows.has(root_id) else None
