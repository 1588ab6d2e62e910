"""The index as it stands, in the shapes that a debugger asks for (spec 3, section 10): status, files, rebuild.

Plain JSON values out, under the names of the specification and no others. Serving them belongs to the faces.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from infold.catalogue.embeddings import EmbeddingStore
from infold.durable.files import Disk
from infold.errors import IndexFault, NoteUnreadable, PathRefused
from infold.search.index.change_detection import gone
from infold.search.index.feeds import notes_in
from infold.search.index.generations import Generations
from infold.search.index.manifest import IN_PROGRESS, Manifest
from infold.search.shared.rendezvous import RESIDENT_CARD, is_serving, read_card
from infold.vault.files import decode, read_bytes
from infold.vault.scanning import Scan

if TYPE_CHECKING:
    from infold.progress import Progress
    from infold.search.embed.embedder import Embedder
    from infold.search.index.feeds import Feed, Item
    from infold.search.index.manifest import IndexedNote, Manifest
    from infold.search.index.sync_stats import SyncResult
    from infold.workspace import Workspace

_RECORD: Final = "last_sync.json"
_BLOCK_BYTES: Final = 512
_MOST_OPENED: Final = 100  # files, to tell a new note from what is none
_NS: Final = 1_000_000_000
_REBUILT: Final = ("filesScanned", "filesChanged", "chunksCreated", "embeddingsComputed", "durationMs")

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LastSync:
    """When the index was last brought in step, nanoseconds since 1970, and how long that took, where it is known."""

    moment_ns: int
    duration_ms: int | None


def remember_sync(index_dir: Path, result: SyncResult) -> None:
    """Keeps that a sync of the index has just ended, and how long it took."""
    record = {"finishedNs": time.time_ns(), "durationMs": result.duration_ms}
    Disk().write_whole(index_dir / _RECORD, json.dumps(record).encode())


def held(workspace: Workspace) -> tuple[int, int, int]:
    """How many notes and passages the index holds, and how many of these have no vector yet."""
    manifest = _manifest(Generations(workspace.index))
    if manifest is None:
        return 0, 0, 0
    with closing(manifest):
        notes = manifest.notes()
        done = sum(note.sha256 != IN_PROGRESS for note in notes.values())
        return done, _passages(manifest, notes), manifest.pending_count()


def status(workspace: Workspace, seen: Scan | None = None) -> JsonObject:
    """Health and numbers of the index, beside the notes as they are or were just `seen`.

    Raises VaultNotFound: without a vault nobody can say what is stale.
    """
    from infold.search.follow.watcher import is_watched  # here: who only keeps when a sync ended does without it

    folder = Generations(workspace.index)
    facts: JsonObject = {
        "indexed": False,
        "lastSync": None,
        "lastSyncDuration": None,
        "files": {"total": 0, "stale": 0},
        "chunks": {"total": 0, "withEmbeddings": 0, "cachedEmbeddings": _kept_embeddings(workspace)},
        "embeddingModel": None,
        "dbSizeBytes": _bytes_on_disk(workspace.index),
        "watcherActive": is_watched(workspace.index),
        "servedBy": served_by(workspace.index),
    }
    manifest = _manifest(folder)
    if manifest is None:
        return facts
    with closing(manifest):
        notes, identity = manifest.notes(), manifest.identity()
        model = identity.model if identity is not None else ""
        passages = _passages(manifest, notes)
        last = _last_sync(workspace.index, manifest)
        facts["indexed"] = not folder.is_damaged
        facts["lastSync"] = _iso(last.moment_ns) if last else None
        facts["lastSyncDuration"] = last.duration_ms if last else None
        facts["files"] = {"total": len(notes), "stale": len(_stale(workspace, notes, seen))}
        facts["chunks"]["total"] = passages
        facts["chunks"]["withEmbeddings"] = max(0, passages - manifest.pending_count()) if model else 0
        facts["embeddingModel"] = model or None
    return facts


def served_by(index_dir: Path) -> int | None:
    """The process that answers searches from an open index; None where none does."""
    card = read_card(index_dir, RESIDENT_CARD) if is_serving(index_dir) else None
    return card.process if card is not None else None


def files(workspace: Workspace) -> JsonObject:
    """Every note that is indexed, and whether it is still as it was then."""
    manifest = _manifest(Generations(workspace.index))
    if manifest is None:
        return {"files": []}
    with closing(manifest):
        notes = manifest.notes()
    stale = _stale(workspace, notes)
    return {
        "files": [
            {
                "path": note.path,
                "hash": note.sha256,
                "mtime": _iso(note.mtime_ns),
                "size": note.size,
                "chunks": note.passages,
                "stale": note.path in stale,
            }
            for note in sorted(notes.values(), key=lambda note: note.path)
        ]
    }


def rebuild(
    workspace: Workspace,
    embedder: Embedder,
    progress: Progress | None = None,
    feeds: Sequence[Feed] | None = None,
) -> Iterator[JsonObject]:
    """Makes catalogue and index of these feeds anew: first that it has begun, then, when it is done, what came of it.

    The old ones serve meanwhile, and vectors that are kept are not computed again. Raises as `sync_index` does.
    """
    from infold.search.index.sync import sync_index  # here: a look at the index needs no writer of words

    yield {"started": True, "message": "Full rebuild initiated"}
    space = workspace
    result = sync_index(
        space.vault, space.index, space.embeddings, space.params, embedder, progress, feeds=feeds, rebuild=True
    )
    remember_sync(workspace.index, result)
    counts = result.as_json()
    yield {"completed": True, "result": {name: counts[name] for name in _REBUILT}}


def _manifest(folder: Generations) -> Manifest | None:
    """The manifest of the generation in use; None where there is none that can be read."""
    generation = folder.current()
    if generation is None:
        return None
    try:
        return Manifest(folder.manifest_of(generation), read_only=True)
    except IndexFault:
        return None


def _passages(manifest: Manifest, notes: dict[str, IndexedNote]) -> int:
    """All of them, sessions too; while something is being written only those of notes can be told."""
    counted = manifest.passage_count()
    return sum(note.passages for note in notes.values()) if counted is None else counted


def _stale(workspace: Workspace, notes: dict[str, IndexedNote], seen: Scan | None = None) -> set[str]:
    """The notes that a sync would read, by time and size, and those that it would take away.

    A file that no sync can read is none of them; where a great many are not indexed, they are not opened to see.
    """
    listing = notes_in(workspace.vault, workspace.params, seen)
    changed = {item.path for item in listing.items if _differs(item, notes.get(item.path))}
    unknown = changed - notes.keys()
    if len(unknown) <= _MOST_OPENED:
        changed -= {path for path in unknown if not _is_readable(workspace, path)}
    return changed | set(gone(notes, listing.items, listing.skipped))


def _is_readable(workspace: Workspace, path: str) -> bool:
    try:
        decode(read_bytes(workspace.vault, path, workspace.params.vault.max_note_bytes), path)
    except (NoteUnreadable, PathRefused):
        return False
    return True


def _differs(item: Item, row: IndexedNote | None) -> bool:
    return row is None or (item.variant, item.mtime_ns, item.size) != (row.variant, row.mtime_ns, row.size)


def _last_sync(index_dir: Path, manifest: Manifest) -> LastSync | None:
    """The later of what the manifest says of the whole vault, and what was remembered of the last sync."""
    try:
        record = json.loads((index_dir / _RECORD).read_bytes())
        last = LastSync(int(record["finishedNs"]), int(record["durationMs"]))
    except (OSError, ValueError, KeyError, TypeError):
        last = None
    if last is None or manifest.synced_ns > last.moment_ns:
        last = LastSync(manifest.synced_ns, None)
    return last if last.moment_ns else None


def _kept_embeddings(workspace: Workspace) -> int:
    return EmbeddingStore(workspace.embeddings).count()


def _bytes_on_disk(folder: Path) -> int:
    """What the files take, holes not counted."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.lstat().st_blocks * _BLOCK_BYTES
        except OSError:
            continue  # gone meanwhile
    return total


def _iso(moment_ns: int) -> str:
    return datetime.fromtimestamp(moment_ns // _NS, UTC).isoformat().replace("+00:00", "Z")
