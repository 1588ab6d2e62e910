"""Where indexes live: one protocol for the embedded engine and for a Qdrant server.

An index has generations. A rebuild makes a new one beside the old, which serves until the new one is published; which
one is in use, and what it holds (the manifest), belongs to `search.index.generations` for both engines.
"""

from __future__ import annotations

from typing import Protocol

from infold.search.index.contract import Index


class Engine(Protocol):
    """Makes, opens and drops the index of a generation. Every call that fails raises IndexFault.

    Where the index is well and only out of reach, as a server's may be, it is an EnvironmentFault instead: then nothing
    has to be made anew. The same goes for the calls of the index itself.
    """

    @property
    def name(self) -> str:
        """`edge` or `server`: part of what an index was made with."""

    def exists(self, generation: str) -> bool:
        """Whether there is an index of this generation."""

    def create(self, generation: str, vector_size: int) -> Index:
        """A new, empty index that nobody searches yet. `vector_size` 0 makes one without dense vectors."""

    def open(self, generation: str) -> Index:
        """The index of this generation, used together with every other process that has it open."""

    def compact(self, generation: str, seconds: float) -> bool:
        """Puts an index that nobody has open in the form that opens fastest, or gives it up after so many seconds.

        False where somebody has it open, and it stays as it is. An index that could not be compacted is whole too.
        """

    def drop(self, generation: str) -> None:
        """Takes the generation away; what is not there is passed over."""
