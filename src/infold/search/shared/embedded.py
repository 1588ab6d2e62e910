"""The embedded engine as a whole: a shard for each generation of an index, shared by all processes that use it.

The library of the engine is loaded by the process that opens a shard; its clients do without.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

from infold.errors import IndexFault
from infold.search.index.contract import VectorIndex
from infold.search.index.generations import OWNER_LOCK, Generations
from infold.search.index.process_lock import ProcessLock
from infold.search.shared.shared_index import SharedIndex, end_unused

_SHARD: Final = "shard"
_COMPACTING: Final = (
    "import sys, pathlib; from infold.search.shared.edge import compact; compact(pathlib.Path(sys.argv[1]))"
)
_CONFIG_FILE: Final = "edge_config.json"  # as the engine calls it


class EdgeEngine:
    """The embedded engine under an index's folder: a shard for each generation, shared by all processes that use it."""

    def __init__(self, index_dir: Path) -> None:
        self._folder = Generations(index_dir)

    @property
    def name(self) -> str:
        """Part of what an index was made with."""
        return "edge"

    def exists(self, generation: str) -> bool:
        """Whether there is a shard of this generation."""
        return (self._shard(generation) / _CONFIG_FILE).exists()

    def create(self, generation: str, vector_size: int) -> VectorIndex:
        """Room for vectors of this size, without any yet."""
        return SharedIndex(self._folder.folder_of(generation), lambda: _opened(self._shard(generation), vector_size))

    def open(self, generation: str) -> VectorIndex:
        """The vectors of this generation, used together with every other process that has them open."""
        if not self.exists(generation):
            raise IndexFault("There is no search index yet.", hint="`infold index` makes it.")
        return SharedIndex(self._folder.folder_of(generation), lambda: _opened(self._shard(generation)))

    def compact(self, generation: str, seconds: float) -> bool:
        """Has a process of its own do it: the engine would let no other thread of this one run meanwhile.

        That process inherits the owner's lock, so that the shard is nobody else's until it ends, even where this one is
        killed.
        """
        end_unused(self._folder.folder_of(generation))
        claim = ProcessLock(self._folder.folder_of(generation) / OWNER_LOCK)
        if not (self.exists(generation) and claim.take()):
            return False
        try:
            _run(_COMPACTING, str(self._shard(generation)), claim, seconds)
        finally:
            claim.release()
        return True

    def drop(self, generation: str) -> None:
        """Takes the generation away, unless somebody still uses it; what is not there is passed over."""
        end_unused(self._folder.folder_of(generation))
        self._folder.remove(generation)

    def _shard(self, generation: str) -> Path:
        return self._folder.folder_of(generation) / _SHARD


def _run(code: str, argument: str, claim: ProcessLock, seconds: float) -> None:
    """Runs `code` in a process that holds the claim too, until it ends, however it does, or the time is over."""
    import subprocess  # here, because a search needs neither

    with contextlib.suppress(OSError, subprocess.TimeoutExpired):  # it cannot be started, or is killed
        subprocess.run(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-c", code, argument],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            pass_fds=claim.descriptors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )


def _opened(shard: Path, vector_size: int | None = None) -> VectorIndex:
    from infold.search.shared.edge import EdgeIndex

    return EdgeIndex(shard, vector_size)
