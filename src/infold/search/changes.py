"""What the notes table says against what the index holds: which notes to write, and which to take away.

Pure over rows, but for `table_notes`, which reads the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROUND_BYTES: Final = 2_000_000  # of notes between two flushes
ROUND_NOTES: Final = 500
UNINDEXED_KINDS: Final = frozenset({"inbox"})


@dataclass(frozen=True, slots=True)
class TableNote:
    """What a sync needs of a row of the notes table."""

    path: str
    content_hash: str
    kind: str
    size: int

    @property
    def stamp(self) -> str:
        """What the index must hold for this note not to be read again."""
        return f"{self.content_hash} {self.kind}"


def table_notes(tables_dir: Path) -> list[TableNote]:
    """Every row of the notes table, as far as a sync needs it."""
    from infold.tables.notes import load_notes

    rows = load_notes(tables_dir).select("path", "content_hash", "kind", "size").iter_rows()
    return [TableNote(*row) for row in rows]


def changes(rows: Sequence[TableNote], held: Mapping[str, str]) -> tuple[list[TableNote], list[str]]:
    """The notes to write, and the paths to take away, given the stamp of each note that the index holds."""
    notes = [note for note in rows if note.kind not in UNINDEXED_KINDS]
    changed = [note for note in notes if held.get(note.path) != note.stamp]
    return changed, sorted(held.keys() - {note.path for note in notes})


def rounds(notes: Sequence[TableNote]) -> Iterator[list[TableNote]]:
    """The notes in rounds of bounded size."""
    batch: list[TableNote] = []
    size = 0
    for note in notes:
        batch.append(note)
        size += note.size
        if size >= ROUND_BYTES or len(batch) >= ROUND_NOTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
