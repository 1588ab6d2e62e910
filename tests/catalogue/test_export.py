"""The catalogue as parquet."""

import os
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from infold.catalogue.export import export_tables
from infold.catalogue.store import Catalogue
from infold.catalogue.sync import sync_catalogue
from infold.settings import Params


def export(folder: Path, when: int) -> Path:
    """The tables of two notes and a daily one, in a vault at `folder` whose files were written at `when`."""
    vault = folder / "vault"
    vault.mkdir(parents=True)
    notes = {"b.md": "# B\n\nSee [[a|the first]].\n", "a.md": "---\ntags: [x]\n---\ntext\n", "2024-01-02.md": "- one\n"}
    for name in sorted(notes, reverse=when % 2 == 0):
        (vault / name).write_text(notes[name])
        os.utime(vault / name, (when, when))
    catalogue = Catalogue(folder / "c.sqlite", vault, Params())
    sync_catalogue(catalogue)
    export_tables(catalogue, folder / "tables")
    catalogue.close()
    return folder / "tables"


def test_notes_links_and_passages_are_exported(tmp_path):
    """Rows in order; a day only where the note itself says one; links with where they lead and what is around them."""
    tables = export(tmp_path, 1_700_000_000)
    notes = pl.read_parquet(tables / "notes.parquet")
    assert notes["path"].to_list() == ["2024-01-02.md", "a.md", "b.md"]
    assert notes["day"].to_list() == ["2024-01-02", None, None]
    assert notes["outgoing"].to_list() == [[], [], ["a.md"]]
    (link,) = pl.read_parquet(tables / "links.parquet").to_dicts()
    assert (link["source"], link["target"], link["raw"]) == ("b.md", "a.md", "[[a|the first]]")
    assert (link["line"], link["context"]) == (3, "See [[a|the first]].")
    passages = pl.read_parquet(tables / "passages.parquet")
    assert passages.select("path", "start_line", "end_line").rows() == [
        ("2024-01-02.md", 1, 1),
        ("a.md", 4, 4),
        ("b.md", 1, 3),
    ]
    assert all(field.metadata for field in pq.read_schema(tables / "passages.parquet"))


def test_the_same_notes_give_the_same_bytes(tmp_path):
    """Elsewhere, written at another time and in another order: not a byte differs."""
    one, other = (export(tmp_path / str(when), when) for when in (1_700_000_000, 1_700_000_001))
    for name in ("notes", "links", "passages"):
        assert (one / f"{name}.parquet").read_bytes() == (other / f"{name}.parquet").read_bytes()
