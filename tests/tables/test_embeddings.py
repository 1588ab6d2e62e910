"""Keeping vectors by content."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from infold.errors import StateUnwritable
from infold.tables.embeddings import PARTS_BEFORE_COMPACTION, EmbeddingStore


def vector(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=8).astype(np.float32)


def test_what_is_kept_is_found(tmp_path: Path):
    """A vector comes back under its model and text hash, at half precision, and under no other model."""
    store = EmbeddingStore(tmp_path)
    given = store.append("m", {"a": vector(1), "b": vector(2)})
    found = EmbeddingStore(tmp_path).find("m", ["a", "b", "c"])
    assert sorted(found) == ["a", "b"]
    assert np.array_equal(found["a"], given["a"])
    assert np.allclose(found["a"], vector(1), atol=2e-3)
    assert store.find("other", ["a"]) == {}


def test_a_damaged_part_is_named_and_passed_over(tmp_path: Path):
    """One broken part costs its own vectors and nothing else."""
    store = EmbeddingStore(tmp_path)
    store.append("m", {"a": vector(1)})
    store.append("m", {"b": vector(2)})
    first, _ = sorted(tmp_path.glob("part-*"))
    first.write_bytes(b"not parquet")
    (tmp_path / "part-00000009-empty.parquet").write_bytes(b"")
    assert list(store.find("m", ["a", "b"])) == ["b"]
    assert set(store.damaged) == {first.name, "part-00000009-empty.parquet"}


def test_half_written_parts_are_not_seen(tmp_path: Path):
    """What a killed process left unfinished has no part's name."""
    store = EmbeddingStore(tmp_path)
    store.append("m", {"a": vector(1)})
    (tmp_path / ".part-00000007-x.parquet.tmp").write_bytes(b"half")
    assert store.count() == 1
    assert not store.damaged


def test_compaction_keeps_every_vector(tmp_path: Path):
    """Many parts become one; each vector is still there, once."""
    store = EmbeddingStore(tmp_path)
    for n in range(PARTS_BEFORE_COMPACTION):
        store.append("m", {f"k{n}": vector(n), "same": vector(n)})
    before = store.find("m", [f"k{n}" for n in range(PARTS_BEFORE_COMPACTION)])
    store.compact()
    assert len(list(tmp_path.glob("part-*"))) == 1
    assert store.count() == PARTS_BEFORE_COMPACTION + 1
    after = store.find("m", before)
    assert all(np.array_equal(before[key], after[key]) for key in before)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    """A full or forbidden disk is an error with the folder in it."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StateUnwritable, match="file"):
        EmbeddingStore(tmp_path / "file").append("m", {"a": vector(1)})
