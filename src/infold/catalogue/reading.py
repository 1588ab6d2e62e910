"""Rows of many notes at once: in this process when they are few, in worker processes when they are many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from infold.catalogue.notes import NoteRow, read_row
from infold.errors import NoteUnreadable, PathRefused
from infold.workers import MANY, Crew, processors

Wanted = tuple[str, str | None]  # path, and the content hash known for it


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of one file: a row, nothing new (`row` None), or a reason why it cannot be read."""

    path: str
    row: NoteRow | None
    reason: str | None = None
    is_kept: bool = False  # it may well be readable later, so what is known of it stays known


def read_rows(
    root: Path,
    wanted: Sequence[Wanted],
    max_bytes: int,
    progress: Callable[[int, int], None],
    workers: int | None = None,
) -> list[Reading]:
    """Reads the files of `wanted`, in any order. `workers` is chosen by their number and the processors if None."""
    if workers is None:
        workers = processors() if len(wanted) > MANY else 1
    readings: list[Reading] = []
    with closing(Crew("infold.catalogue.reading:read_one", workers)) as crew:
        for batch in crew.each(wanted, root, max_bytes):
            readings += [reading for _, reading in batch]
            progress(len(readings), len(wanted))
    return readings


def read_one(wanted: Wanted, root: Path, max_bytes: int) -> Reading:
    """Reads one file."""
    path, known_hash = wanted
    try:
        return Reading(path, read_row(root, path, max_bytes, known_hash))
    except (NoteUnreadable, PathRefused) as error:
        cause = error.__cause__
        is_kept = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
        return Reading(path, None, str(error), is_kept)
