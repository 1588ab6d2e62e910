"""Tables as files."""

import os

import pyarrow.parquet as pq
import pytest

from infold.catalogue.parquet import read_rows, schema_of, table_of, write_table
from infold.errors import StateUnwritable

COLUMNS = {"name": ("text", "what it is called"), "values": ("texts", "what it holds")}
SCHEMA = schema_of(COLUMNS, "t/1")
ROWS = [("é", ["a", "b"]), ("", [])]
TABLE = table_of(SCHEMA, ROWS)


def test_what_is_written_is_read(tmp_path):
    """A table comes back as it was, says what its columns hold, and no other file stays beside it."""
    file = tmp_path / "sub" / "t.parquet"
    write_table(file, TABLE)
    assert read_rows(file, SCHEMA) == ROWS
    assert pq.read_schema(file).field("values").metadata == {b"description": b"what it holds"}
    assert [path.name for path in file.parent.iterdir()] == ["t.parquet"]
    write_table(file, table_of(SCHEMA, []))
    assert read_rows(file, SCHEMA) == []


def test_the_same_rows_are_the_same_bytes(tmp_path):
    """Nothing but rows and schema is in a file."""
    for name in ("one", "two"):
        write_table(tmp_path / name, table_of(schema_of(COLUMNS, "t/1"), ROWS))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_other_versions_and_columns_read_as_absent(tmp_path):
    """A table of an older version, or with other columns, is as good as none."""
    file = tmp_path / "t.parquet"
    assert read_rows(file, SCHEMA) is None
    write_table(file, TABLE)
    assert read_rows(file, schema_of(COLUMNS, "t/2")) is None
    assert read_rows(file, schema_of(COLUMNS | {"more": ("text", "")}, "t/1")) is None
    assert read_rows(file, schema_of(COLUMNS | {"values": ("int", "")}, "t/1")) is None


@pytest.mark.parametrize("keep", [0, 1, 3, 4, 10, 50, 200, -1, -4, -8])
def test_damaged_files_read_as_absent(tmp_path, keep):
    """Cut anywhere, or with bytes overwritten, a table is made again, never an error."""
    file = tmp_path / "t.parquet"
    write_table(file, TABLE)
    data = file.read_bytes()
    file.write_bytes(data[:keep])
    assert read_rows(file, SCHEMA) is None
    middle = abs(keep) % len(data)
    file.write_bytes(data[:middle] + b"\xff" * 40 + data[middle + 40 :])
    read_rows(file, SCHEMA)


def test_what_a_killed_writer_left_is_swept_away_in_time(tmp_path):
    """Old half-written files go with the next write; one that is under way elsewhere stays."""
    old, young = tmp_path / ".t.parquet.abc.tmp", tmp_path / ".t.parquet.def.tmp"
    for file in (old, young):
        file.write_bytes(b"PAR1")
    os.utime(old, (1_700_000_000, 1_700_000_000))
    write_table(tmp_path / "t.parquet", TABLE)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_failed_write_leaves_the_old_table(tmp_path, monkeypatch):
    """Disk full: the table is as it was, nothing lies about, and the error says which file."""
    file = tmp_path / "t.parquet"
    write_table(file, TABLE)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StateUnwritable, match=r"t\.parquet.*No space"):
        write_table(file, table_of(SCHEMA, []))
    assert read_rows(file, SCHEMA) == ROWS
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]
