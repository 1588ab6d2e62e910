"""Parquet files as infold writes them: whole or not at all, known by their version, the same bytes for the same rows.

A file that is damaged, or was written by another version, reads as if it were not there: what is in it is derived or is
made again. Schemas carry a sentence on each column, so that a table can be read without this program.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from infold.durable.files import SHARED, Disk

if TYPE_CHECKING:  # its import takes a tenth of a second, which who neither reads nor writes a table does without
    import pyarrow as pa

VERSION_KEY: Final = "infold-table"
_STALE_SECONDS: Final = 3600


def schema_of(columns: Mapping[str, tuple[str, str]], version: str) -> pa.Schema:
    """A schema from names to (type, what the column holds). Types: text, texts, int, bool."""
    import pyarrow as pa

    types = {"text": pa.string(), "texts": pa.list_(pa.string()), "int": pa.int64(), "bool": pa.bool_()}
    fields = [pa.field(name, types[kind], metadata={"description": told}) for name, (kind, told) in columns.items()]
    return pa.schema(fields, metadata={VERSION_KEY: version})


def table_of(schema: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.Table:
    """A table of rows, each in the order of the schema's columns."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def read_rows(file: Path, schema: pa.Schema) -> list[tuple[Any, ...]] | None:
    """The rows in `file`; None where there is none, it cannot be read, or its version or columns are others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    version = VERSION_KEY.encode()
    try:
        data = file.read_bytes()  # at once: a file replaced while it is read part by part would look damaged
        table = pq.ParquetFile(io.BytesIO(data)).read()  # `read_table` loads twice as much of the library
        metadata = table.schema.metadata or {}
        if metadata.get(version) != schema.metadata[version] or table.column_names != schema.names:
            return None
        columns = [column.to_pylist() for column in table.cast(schema).columns]  # a text may be written in two ways
    except (OSError, ValueError, pa.ArrowException):
        return None
    return list(zip(*columns, strict=True))


def write_table(file: Path, table: pa.Table) -> None:
    """Puts `table` in place of `file` in one step: after a crash either the old file is there or the new one.

    Raises StateUnwritable.
    """
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", compression_level=3)
    disk = Disk()
    disk.make_folder(file.parent)
    _sweep(file.parent)
    disk.write_whole(file, sink.getvalue(), SHARED, is_shared=True)


def _sweep(folder: Path) -> None:
    """Removes what writers that were killed left behind; an hour is more than any write takes."""
    for leftover in folder.glob(".*.parquet.*.tmp"):
        try:
            if time.time() - leftover.stat().st_mtime > _STALE_SECONDS:
                leftover.unlink()
        except OSError:  # another process was quicker
            continue
