"""What a replacement is about to do, written down first: a process killed half-way leaves no half-replaced note.

The engine takes points away and adds others in two steps. Whoever opens the shard next does a step again that was
begun, before anybody searches. That is for killed processes; after a power cut the manifest names the notes to redo.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgpack

from infold.search.index.contract import IndexPoint
from infold.search.shared.protocol import pack_point, unpack_point

_FILE: Final = "replacing"
_SHORT: Final = "replacing.tmp"

Replacement = tuple[list[str], list[IndexPoint]]


class Intent:
    """The one replacement that is under way in the shard of `folder`. For whoever has the shard open."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / _FILE

    def begin(self, paths: Sequence[str], points: Sequence[IndexPoint]) -> None:
        """Every point of these paths is about to go, and these are about to come."""
        temporary = self._file.with_name(_SHORT)
        temporary.write_bytes(msgpack.packb([list(paths), [pack_point(point) for point in points]]))
        temporary.replace(self._file)

    def finish(self) -> None:
        """It is done."""
        self._file.unlink(missing_ok=True)

    def left(self) -> Replacement | None:
        """What a killed process has begun; None where there is nothing, or nothing that can be read."""
        try:
            paths, points = msgpack.unpackb(self._file.read_bytes())
            return [str(path) for path in paths], [unpack_point(values) for values in points]
        except (OSError, ValueError, TypeError, msgpack.UnpackException):
            return None
