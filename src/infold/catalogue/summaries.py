"""Summaries, kept by content: written in part files as they are made, compacted later.

Parts are parquet; rows that are not many are lines of JSON until then, which take no table library to write or read. A
part is named after its content and is never changed, so a crash loses nothing that was written, and writing the same
rows twice is writing them once. Who makes summaries, and when one is stale, is for `inbox.summarising`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from infold.catalogue.parquet import read_rows, schema_of, table_of, write_table
from infold.durable.files import SHARED, Disk
from infold.text import content_hash

if TYPE_CHECKING:
    import pyarrow as pa

VERSION: Final = "summaries/2"
MANY_PARTS: Final = 64
FEW_ROWS: Final = 2500  # that are not worth loading what writes and reads tables

Key = tuple[str, str, str]  # content hash, level, lens
NOTE: Final = "note"  # the level of a note as a whole
GENERAL: Final = "general"  # the lens of what is looked at without a wish
OWN: Final = "own"  # the model of a note that is its own summary
_TABLE: Final = ".parquet"
_LINES: Final = ".jsonl"


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One summary. `level` is note, section or paragraph; tokens are those of the call that made it."""

    content_hash: str
    level: str
    lens: str
    summary: str
    model: str
    prompt_version: str
    tokens_in: int
    tokens_out: int
    made: int = 0  # how often a summary under this key was made before

    @property
    def key(self) -> Key:
        """What a summary is looked up by."""
        return self.content_hash, self.level, self.lens


_COLUMNS: Final = {
    "content_hash": ("text", "SHA-256 of what is summarised"),
    "level": ("text", "note, section or paragraph"),
    "lens": ("text", "what the summary looks at"),
    "summary": ("text", "the summary"),
    "model": ("text", "who made it, with the version of the prompt"),
    "prompt_version": ("text", "the version of the prompt"),
    "tokens_in": ("int", "tokens of what was asked"),
    "tokens_out": ("int", "tokens of the answer"),
    "made": ("int", "how often a summary of this was made before: no clock, so equal notes give equal bytes"),
}
_values_of: Final = attrgetter(*_COLUMNS)


class SummaryStore:
    """The summaries in one folder. Several processes may append; each sees what was there when it loaded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.problems: list[str] = []  # parts that could not be read, with their names; they are left where they are

    def load(self) -> dict[Key, SummaryRow]:
        """Every summary by its key. Of several under one key the last one made counts."""
        rows, _ = self._read()
        return rows

    def append(self, rows: Sequence[SummaryRow]) -> None:
        """Adds `rows` as a part file, whole or not at all. Raises StateUnwritable."""
        if rows:
            self._write(rows, in_lines=len(rows) < FEW_ROWS)

    def parts(self) -> list[tuple[str, int, int]]:
        """Name, size and time of each part file, sorted: what tells one state of the store from another."""
        return sorted((part.name, (stat := part.stat()).st_size, stat.st_mtime_ns) for part in self._parts())

    def compact(self, *, least_parts: int = MANY_PARTS) -> int:
        """Makes one part of all where there are at least `least_parts`; how many parts there were.

        A crash in between leaves rows twice, never lost; parts that another process adds meanwhile stay.
        """
        there = len(self._parts())
        if there < max(2, least_parts):
            return there
        rows, parts = self._read()
        merged = self._write(sorted(rows.values(), key=lambda row: row.key))
        for part in parts:
            if part != merged:
                part.unlink(missing_ok=True)
        return there

    def settle(self, keys: Iterable[Key]) -> None:
        """Keeps the rows of these keys alone, as one part in which nothing tells how they came about.

        For a record of one state of the notes: equal notes and summaries give equal bytes. What is dropped is a summary
        of text that is no more; a model's answer stays among its decisions. Raises StateUnwritable.
        """
        rows, parts = self._read()
        wanted = sorted(set(keys) & rows.keys())
        settled = self._write(replace(rows[key], made=0) for key in wanted)
        for part in parts:
            if part != settled:
                part.unlink(missing_ok=True)

    def _read(self) -> tuple[dict[Key, SummaryRow], list[Path]]:
        rows: dict[Key, SummaryRow] = {}
        parts: list[Path] = []
        self.problems.clear()
        for part in self._parts():
            values = _read_lines(part) if part.suffix == _LINES else read_rows(part, _schema())
            if values is None:
                if part.exists():
                    self.problems.append(f"{part.name} cannot be read; the summaries in it will be made again")
                continue
            parts.append(part)
            for row in starmap(SummaryRow, values):
                before = rows.get(row.key)
                if before is None or row.made >= before.made:
                    rows[row.key] = row
        return rows, parts

    def _parts(self) -> list[Path]:
        """The part files, oldest first."""
        stamped: list[tuple[int, str, Path]] = []
        for part in (part for suffix in (_TABLE, _LINES) for part in self._folder.glob(f"summaries-*{suffix}")):
            try:
                stamped.append((part.stat().st_mtime_ns, part.name, part))
            except OSError:  # compacted away by another process
                continue
        return [part for _, _, part in sorted(stamped)]

    def _write(self, rows: Iterable[SummaryRow], *, in_lines: bool = False) -> Path:
        ordered = [*map(_values_of, rows)]
        part = self._folder / f"summaries-{content_hash(repr(ordered))[:32]}{_LINES if in_lines else _TABLE}"
        if in_lines:
            disk = Disk()
            disk.make_folder(self._folder)
            lines = [json.dumps(each) for each in (VERSION, *ordered)]
            disk.write_whole(part, "".join(f"{line}\n" for line in lines).encode(), SHARED, is_shared=True)
        else:
            write_table(part, table_of(_schema(), ordered))
        return part


def _read_lines(part: Path) -> list[tuple[Any, ...]] | None:
    """The rows of a part in lines; None where it cannot be read, or its version or columns are others."""
    try:
        version, *rows = [json.loads(line) for line in part.read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return None
    if version != VERSION or any(not isinstance(row, list) or len(row) != len(_COLUMNS) for row in rows):
        return None
    return [tuple(row) for row in rows]


def _schema() -> pa.Schema:
    return schema_of(_COLUMNS, VERSION)
