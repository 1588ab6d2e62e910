"""When vectors are worth compacting: written anew by their engine, in the form that takes least room and opens fastest.

What was written last takes two thirds more, and has to be built up again by whoever opens it. So a sync that has
written much, or finds that others have, ends with this. How belongs to the engine.
"""

from __future__ import annotations

import time
from typing import Final

from infold.progress import Progress
from infold.search.index.contract import VectorEngine
from infold.search.index.manifest import Manifest

LOOSE_PASSAGES: Final = 4000  # written since: some 0.5 MB to give back, and 5 ms of CPU of each opening
LEAST_SECONDS: Final = 20.0
PASSAGES_A_SECOND: Final = 1000  # on the slowest of machines


def is_loose(manifest: Manifest) -> bool:
    """Whether it is worth it: much is new, and no vectors are missing, which would loosen it again."""
    return manifest.has_vectors and manifest.loose_passages() >= LOOSE_PASSAGES and not manifest.pending_count()


def compact(engine: VectorEngine, generation: str, manifest: Manifest, progress: Progress) -> None:
    """Compacts vectors that this process does not have open; left for a later sync where another has.

    Who asks by meaning meanwhile waits, and is answered by words where that takes too long.
    """
    progress("compacting", 0, 1)
    if engine.compact(generation, max(LEAST_SECONDS, manifest.loose_passages() / PASSAGES_A_SECOND)):
        manifest.mark_compacted(time.time_ns())
    progress("compacting", 1, 1)
