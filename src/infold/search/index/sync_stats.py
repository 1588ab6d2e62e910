"""What a sync did, counted while it runs and told when it is done (spec 3, section 5, SyncResult)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from infold.vault.scanning import Skipped


class SyncResult(NamedTuple):
    """What a sync did. `skipped` gives path and reason of what could not be read.

    `emptied`: no notes were found where there had been some, so none were taken away. `rebuilt`: there was an index,
    and it was made anew. `pending` passages still wait for a vector. `embeddings_dropped` had been kept, and need not
    be. `generation` is the index that is now in use.
    """

    files_scanned: int = 0
    files_changed: int = 0
    files_removed: int = 0
    chunks_created: int = 0
    embeddings_computed: int = 0
    embeddings_cached: int = 0
    embeddings_dropped: int = 0
    duration_ms: int = 0
    emptied: bool = False
    rebuilt: bool = False
    pending: int = 0
    generation: str = ""
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


@dataclass(slots=True)
class SyncCounts:
    """What has been done so far."""

    scanned: int = 0
    changed: int = 0
    removed: int = 0
    created: int = 0
    computed: int = 0
    cached: int = 0
    dropped: int = 0
    skipped: list[Skipped] = field(default_factory=list)

    def result(self, *, duration_ms: int, emptied: bool, rebuilt: bool, pending: int, generation: str) -> SyncResult:
        """The record of it."""
        return SyncResult(
            files_scanned=self.scanned,
            files_changed=self.changed,
            files_removed=self.removed,
            chunks_created=self.created,
            embeddings_computed=self.computed,
            embeddings_cached=self.cached,
            embeddings_dropped=self.dropped,
            duration_ms=duration_ms,
            emptied=emptied,
            rebuilt=rebuilt,
            pending=pending,
            generation=generation,
            skipped=tuple(sorted({item.path: item.reason for item in self.skipped}.items())),
        )
