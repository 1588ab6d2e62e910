"""When an index is worth compacting: written anew by its engine, in the form that opens fastest.

What was written last has to be built up again by whoever opens the index, and a search by itself waits for that. So a
sync that has written much, or finds that others have, ends with this. How belongs to the engine.
"""

from __future__ import annotations

import time
from typing import Final

from infold.search.index.engine import Engine
from infold.search.index.manifest import Manifest
from infold.search.index.sync_stats import Progress

LOOSE_PASSAGES: Final = 4000  # written since: they add 0.05 s of CPU to each opening
MOST_SEEN: Final = 100_000  # while others may wait for the index: each takes 0.1 ms of CPU
SEEN_SECONDS: Final = 20.0  # less than others wait for an owner
UNSEEN_SECONDS: Final = 600.0


def is_loose(manifest: Manifest, *, is_seen: bool) -> bool:
    """Whether it is worth it: much is new, and no vectors are missing, which would loosen it again.

    `is_seen`: the index is in use, and whoever wants it meanwhile has to wait.
    """
    loose = manifest.loose_passages()
    return loose >= LOOSE_PASSAGES and not (is_seen and loose > MOST_SEEN) and not manifest.pending_count()


def compact(engine: Engine, generation: str, manifest: Manifest, progress: Progress, *, is_seen: bool) -> None:
    """Compacts an index that this process does not have open; left for a later sync where another has."""
    progress("compacting", 0, 1)
    if engine.compact(generation, SEEN_SECONDS if is_seen else UNSEEN_SECONDS):
        manifest.mark_compacted(time.time_ns())
    progress("compacting", 1, 1)
