"""Parquet files as infold keeps them: written whole or not at all, and known by their version.

Every table goes through here. A file that is damaged, or was written by another version, reads as if it were not there:
tables are derived, so they are made again.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from infold.errors import StateUnwritable

if TYPE_CHECKING:
    import polars as pl

VERSION_KEY: Final = "infold-table"
_STALE_SECONDS: Final = 3600


def read_table(
    file: Path, schema: Mapping[str, Any], version: str, columns: list[str] | None = None
) -> pl.DataFrame | None:
    """The table in `file`; None where there is none, it cannot be read, or its version or columns are others."""
    import polars as pl

    try:
        data = file.read_bytes()  # at once: a file replaced while it is read part by part would look damaged
    except OSError:
        return None
    try:
        if pl.read_parquet_metadata(data).get(VERSION_KEY) != version:
            return None
        table = pl.read_parquet(data, columns=columns)
    except pl.exceptions.PolarsError:
        return None
    wanted = {name: schema[name] for name in (columns or schema)}
    return table if dict(table.schema) == wanted else None


def list_column(lists: Sequence[Sequence[str]]) -> pl.Series:
    """A column of lists of text. Polars' own constructor makes a column of each list first: ten times the time."""
    import polars as pl

    flat = pl.DataFrame(
        {
            "row": [row for row, texts in enumerate(lists) for _ in texts],
            "texts": [t for texts in lists for t in texts],
        },
        schema={"row": pl.Int64(), "texts": pl.String()},
    )
    full = flat.group_by("row", maintain_order=True).agg("texts")
    rows = pl.DataFrame({"row": range(len(lists))}, schema={"row": pl.Int64()})
    empty = pl.lit([], dtype=pl.List(pl.String()))
    return rows.join(full, on="row", how="left", maintain_order="left").select(pl.col("texts").fill_null(empty))[
        "texts"
    ]


def write_table(file: Path, table: pl.DataFrame, version: str) -> None:
    """Puts `table` in place of `file` in one step: after a crash either the old file is there or the new one.

    Raises StateUnwritable.
    """
    temporary: Path | None = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _sweep(file.parent)
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".tmp")
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as stream:
            table.write_parquet(stream, compression="zstd", compression_level=1, metadata={VERSION_KEY: version})
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise StateUnwritable(
            f"{file} cannot be written: {error.strerror or error}.", hint="Free disk space or choose another --state."
        ) from error


def _sweep(folder: Path) -> None:
    """Removes what writers that were killed left behind; an hour is more than any write takes."""
    for leftover in folder.glob(".*.parquet.*.tmp"):
        try:
            if time.time() - leftover.stat().st_mtime > _STALE_SECONDS:
                leftover.unlink()
        except OSError:  # another process was quicker
            continue


def sync_folder(folder: Path) -> None:
    """Makes the names in `folder` durable, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
