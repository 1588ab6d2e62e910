"""Tables as files."""

import os

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infold.catalogue.parquet import list_column, read_table, write_table
from infold.errors import StateUnwritable

SCHEMA = {"name": pl.String(), "values": pl.List(pl.String())}
TABLE = pl.DataFrame({"name": ["é"], "values": [["a", "b"]]}, schema=SCHEMA)


def test_what_is_written_is_read(tmp_path):
    """A table comes back as it was, whole or by column, and no other file stays beside it."""
    file = tmp_path / "sub" / "t.parquet"
    write_table(file, TABLE, "t/1")
    found = read_table(file, SCHEMA, "t/1")
    assert found is not None
    assert found.equals(TABLE)
    part = read_table(file, SCHEMA, "t/1", columns=["name"])
    assert part is not None
    assert part.to_dict(as_series=False) == {"name": ["é"]}
    assert [path.name for path in file.parent.iterdir()] == ["t.parquet"]


def test_other_versions_and_columns_read_as_absent(tmp_path):
    """A table of an older version, or with other columns, is as good as none."""
    file = tmp_path / "t.parquet"
    assert read_table(file, SCHEMA, "t/1") is None
    write_table(file, TABLE, "t/1")
    assert read_table(file, SCHEMA, "t/2") is None
    assert read_table(file, SCHEMA | {"more": pl.String()}, "t/1") is None
    assert read_table(file, {"name": pl.String(), "values": pl.String()}, "t/1") is None


@pytest.mark.parametrize("keep", [0, 1, 3, 4, 10, 50, 200, -1, -4, -8])
def test_damaged_files_read_as_absent(tmp_path, keep):
    """Cut anywhere, or with bytes overwritten, a table is made again, never an error."""
    file = tmp_path / "t.parquet"
    write_table(file, TABLE, "t/1")
    data = file.read_bytes()
    file.write_bytes(data[:keep])
    assert read_table(file, SCHEMA, "t/1") is None
    middle = abs(keep) % len(data)
    file.write_bytes(data[:middle] + b"\xff" * 40 + data[middle + 40 :])
    read_table(file, SCHEMA, "t/1")


def test_what_a_killed_writer_left_is_swept_away_in_time(tmp_path):
    """Old half-written files go with the next write; one that is under way elsewhere stays."""
    old, young = tmp_path / ".t.parquet.abc.tmp", tmp_path / ".t.parquet.def.tmp"
    for file in (old, young):
        file.write_bytes(b"PAR1")
    os.utime(old, (1_700_000_000, 1_700_000_000))
    write_table(tmp_path / "t.parquet", TABLE, "t/1")
    assert (old.exists(), young.exists()) == (False, True)


def test_a_failed_write_leaves_the_old_table(tmp_path, monkeypatch):
    """Disk full: the table is as it was, nothing lies about, and the error says which file."""
    file = tmp_path / "t.parquet"
    write_table(file, TABLE, "t/1")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StateUnwritable, match=r"t\.parquet.*No space"):
        write_table(file, TABLE.clear(), "t/1")
    found = read_table(file, SCHEMA, "t/1")
    assert found is not None
    assert found.equals(TABLE)
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


@given(st.lists(st.lists(st.text(max_size=3), max_size=3), max_size=6))
def test_a_column_of_lists_holds_them_in_order(lists):
    """Empty lists stay empty, none is lost, and the order within and between them is kept."""
    column = list_column(lists)
    assert column.dtype == pl.List(pl.String())
    assert column.to_list() == lists
