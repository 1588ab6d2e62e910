"""Bringing the index up to date with the notes table: only what changed, keywords first, vectors after.

A note counts as indexed once its points are flushed and the manifest says so; killed anywhere, the next sync does again
what was in progress. Notes that the table no longer has leave the index. A vault that is suddenly empty does not.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from infold.errors import IndexFault, NoteUnreadable, PathRefused
from infold.search import terms
from infold.search.changes import TableNote, changes, rounds, table_notes
from infold.search.edge import EdgeIndex
from infold.search.embedding import Embedder
from infold.search.index import SCHEMA, Index, Vector
from infold.search.manifest import Identity, IndexedNote, Manifest, PendingVector
from infold.search.points import NotePoints, note_points
from infold.search.shard import OWNER_WAIT_SECONDS, IndexFolder
from infold.settings import Params
from infold.tables.embeddings import EmbeddingStore
from infold.text import content_hash
from infold.vault.files import decode, read_bytes
from infold.vault.note import parse

Progress = Callable[[str, int, int], None]

VECTOR_BATCH: Final = 512


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync did (spec 3, section 5). `skipped` gives path and reason of notes that could not be read."""

    files_scanned: int = 0
    files_changed: int = 0
    files_removed: int = 0
    chunks_created: int = 0
    embeddings_computed: int = 0
    embeddings_cached: int = 0
    duration_ms: int = 0
    emptied: bool = False
    rebuilt: bool = False
    skipped: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, int]:
        """The record under the names of spec 3."""
        return {
            "filesScanned": self.files_scanned,
            "filesChanged": self.files_changed,
            "chunksCreated": self.chunks_created,
            "embeddingsComputed": self.embeddings_computed,
            "embeddingsCached": self.embeddings_cached,
            "durationMs": self.duration_ms,
        }


def sync_index(
    vault: Path,
    tables_dir: Path,
    embeddings_dir: Path,
    index_dir: Path,
    params: Params,
    embedder: Embedder | None,
    progress: Progress | None = None,
    *,
    rebuild: bool = False,
    wait_seconds: float = OWNER_WAIT_SECONDS,
) -> SyncResult:
    """Makes the index hold what the notes table names; `rebuild` makes it anew, without computing a kept vector again.

    Raises VaultBusy where another process is still syncing after `wait_seconds`.
    """
    started = time.perf_counter()
    rows = table_notes(tables_dir)
    folder = IndexFolder(index_dir)
    with folder.owned(wait_seconds):
        sync = _Sync(
            vault=vault,
            folder=folder,
            store=EmbeddingStore(embeddings_dir),
            params=params,
            embedder=embedder,
            progress=progress or _silent,
        )
        try:
            sync.run(rows, rebuild=rebuild)
        except IndexFault:
            if sync.rebuilt:
                raise
            with contextlib.suppress(IndexFault):
                sync.close()
            sync.run(rows, rebuild=True)
        finally:
            sync.close()
    return sync.result(started)


class _Sync:
    """One sync while it runs, with what it has counted so far."""

    def __init__(
        self,
        *,
        vault: Path,
        folder: IndexFolder,
        store: EmbeddingStore,
        params: Params,
        embedder: Embedder | None,
        progress: Progress,
    ) -> None:
        self.rebuilt = False
        self.scanned = 0
        self._vault, self._folder, self._store, self._params = vault, folder, store, params
        self._embedder, self._progress = embedder, progress
        self._manifest: Manifest | None = None
        self._index: Index | None = None
        self._changed = self._removed = self._created = self._computed = self._cached = 0
        self._emptied = False
        self._skipped: list[tuple[str, str]] = []

    def run(self, rows: Sequence[TableNote], *, rebuild: bool) -> None:
        self.scanned = len(rows)
        if not rows and self._folder.manifest.exists() and self._holds_notes():
            self._emptied = True  # a vault that is suddenly empty is not a deletion
            return
        manifest = self._ready(rebuild=rebuild)
        known = manifest.notes()
        changed, gone = changes(rows, {path: note.stamp for path, note in known.items()})
        if changed or gone:
            self._write(manifest, changed, gone, known)
        self._fill(manifest)

    def close(self) -> None:
        index, self._index = self._index, None
        manifest, self._manifest = self._manifest, None
        try:
            if index is not None:
                with self._folder.moving():
                    index.close()
        finally:
            if manifest is not None:
                manifest.close()

    def result(self, started: float) -> SyncResult:
        return SyncResult(
            files_scanned=self.scanned,
            files_changed=self._changed,
            files_removed=self._removed,
            chunks_created=self._created,
            embeddings_computed=self._computed,
            embeddings_cached=self._cached,
            duration_ms=round((time.perf_counter() - started) * 1000),
            emptied=self._emptied,
            rebuilt=self.rebuilt,
            skipped=tuple(self._skipped),
        )

    def _holds_notes(self) -> bool:
        """Whether the index as it stands holds anything; where that cannot be told, it is not to be emptied either."""
        try:
            manifest = Manifest(self._folder.manifest, read_only=True)
        except IndexFault:
            return True
        with contextlib.closing(manifest):
            return bool(manifest.notes())

    def _ready(self, *, rebuild: bool) -> Manifest:
        """The manifest of an index made as the parameters say; a new, empty one where it was made otherwise."""
        identity = self._identity()
        if not rebuild and not self._folder.is_damaged and self._folder.manifest.exists():
            self._manifest = Manifest(self._folder.manifest)
            if self._manifest.identity() == identity:
                return self._manifest
            self._manifest.close()
        self.rebuilt = self._folder.manifest.exists()
        self._changed = self._removed = self._created = self._computed = self._cached = 0
        self._skipped.clear()
        with self._folder.moving():
            self._folder.clear()
            self._index = EdgeIndex(self._folder.shard, identity.vector_size)
            self._index.flush()
            self._manifest = Manifest(self._folder.manifest)
            self._manifest.set_identity(identity)
        return self._manifest

    def _identity(self) -> Identity:
        search = self._params.search
        return Identity(
            schema=SCHEMA,
            tokeniser=terms.VERSION,
            model=self._embedder.name if self._embedder else "",
            vector_size=self._embedder.size if self._embedder else 0,
            passages=f"{search.passage_tokens}/{search.overlap_tokens}",
        )

    def _opened(self, manifest: Manifest) -> Index:
        if self._index is None:
            self._index = EdgeIndex(self._folder.shard, self._identity().vector_size)
            if manifest.passage_count() not in (None, self._index.count()):
                raise IndexFault("The search index has lost passages.")
        return self._index

    def _write(
        self, manifest: Manifest, changed: Sequence[TableNote], gone: Sequence[str], known: dict[str, IndexedNote]
    ) -> None:
        """Keywords, and the vectors that are kept already, of every changed note, round by round."""
        done = 0
        total = len(changed)
        self._progress("keywords", 0, total)
        for turn, batch in enumerate(rounds(changed) if changed else [[]]):
            leaving = gone if turn == 0 else ()
            written = [entry for note in batch if (entry := self._read(note)) is not None]
            vectors = self._kept(key for entry in written for key in entry.keys)
            points, pending = [], []
            for entry in written:
                for point, key, text in zip(entry.points, entry.keys, entry.texts, strict=True):
                    if self._embedder is not None and key not in vectors:
                        pending.append(PendingVector(point.id, point.path, key, text))
                    points.append(replace(point, dense=vectors.get(key)))
            stale = [entry.note.path for entry in written if entry.note.path in known]
            with self._folder.moving():
                index = self._opened(manifest)
                manifest.begin([*(entry.note.path for entry in written), *leaving])
                index.replace([*stale, *leaving], points)
                index.flush()
                manifest.finish([entry.note for entry in written], leaving, pending)
            self._changed += len(written)
            self._removed += len(leaving)
            self._created += len(points)
            self._cached += len(points) - len(pending) if self._embedder else 0
            done += len(batch)
            self._progress("keywords", done, total)

    def _fill(self, manifest: Manifest) -> None:
        """The vectors that are still missing, batch by batch; each batch is kept before it is indexed."""
        total = manifest.pending_count()
        if self._embedder is None or not total:
            return
        done = 0
        self._progress("vectors", 0, total)
        while batch := manifest.pending(VECTOR_BATCH):
            texts = {item.key: item.text for item in batch}
            vectors = self._store.find(self._embedder.name, texts)
            missing = [key for key in texts if key not in vectors]
            if missing:
                computed = dict(zip(missing, self._embedder.embed([texts[key] for key in missing]), strict=True))
                vectors |= self._store.append(self._embedder.name, computed)
            with self._folder.moving():
                index = self._opened(manifest)
                index.add_vectors({item.id: vectors[item.key] for item in batch if vectors[item.key].any()})
                index.flush()
                manifest.filled(item.id for item in batch)
            self._computed += len(missing)
            self._cached += len(batch) - len(missing)
            done += len(batch)
            self._progress("vectors", done, total)
        self._store.compact()

    def _kept(self, keys: Iterable[str]) -> dict[str, Vector]:
        return self._store.find(self._embedder.name, set(keys)) if self._embedder else {}

    def _read(self, row: TableNote) -> NotePoints | None:
        """The points of a note, from its present text; None, and named, where it cannot be read."""
        try:
            data = read_bytes(self._vault, row.path, self._params.vault.max_note_bytes)
            note = parse(row.path, decode(data, row.path))
        except (NoteUnreadable, PathRefused, OSError) as error:
            self._skipped.append((row.path, str(error)))
            return None
        read = replace(row, content_hash=content_hash(data))
        return note_points(note, row.kind, read.stamp, self._params.search)


def _silent(stage: str, done: int, total: int) -> None:
    """No progress is shown."""
