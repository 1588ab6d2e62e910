"""Room on the disk, looked at before the index is written to.

The embedded engine maps files that have holes: where the disk is full, what is written into a hole ends the process at
once, with no error that anybody could tell. So nothing is written where room is scarce, and it is said.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from infold.errors import StateUnwritable

LEAST_FREE_BYTES: Final = 64 * 1024 * 1024  # more than one round of writing takes
LEAST_TO_OPEN_BYTES: Final = 16 * 1024 * 1024  # the engine writes a little whenever it opens an index


def require_room(folder: Path, least_bytes: int = LEAST_FREE_BYTES) -> None:
    """Raises StateUnwritable where the disk of `folder` has too little room to use the index."""
    nearest = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    try:
        free = shutil.disk_usage(nearest).free
    except OSError as error:
        raise StateUnwritable(f"{folder} cannot be reached: {error.strerror or error}.") from error
    if free < least_bytes:
        raise StateUnwritable(
            f"The disk of {folder} has too little room: {free // 1_000_000} MB are free, and the search index "
            f"needs {least_bytes // 1_000_000}.",
            hint="Free disk space or choose another --state.",
        )
