"""Keeping vectors by content."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from infold.catalogue.embeddings import FILE_NAME, EmbeddingStore, RecentVectors
from infold.errors import StateUnwritable


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


def test_models_are_kept_apart(tmp_path: Path):
    """One text has a vector for each model; the last one given under a model counts."""
    store = EmbeddingStore(tmp_path)
    store.append("m", {"a": vector(1)})
    store.append("n", {"a": vector(2)})
    given = store.append("m", {"a": vector(3)})
    assert np.array_equal(store.find("m", ["a"])["a"], given["a"])
    assert store.count() == 2


def test_thousands_are_found_in_one_call(tmp_path: Path):
    """There is no limit to how many are asked for at once."""
    store = EmbeddingStore(tmp_path)
    store.append("m", {f"k{n}": vector(n) for n in range(2500)})
    assert len(store.find("m", [f"k{n}" for n in range(5000)])) == 2500


def test_nothing_is_made_to_look(tmp_path: Path):
    """Looking for vectors where none were kept leaves no file behind."""
    assert EmbeddingStore(tmp_path / "none").find("m", ["a"]) == {}
    assert EmbeddingStore(tmp_path / "none").count() == 0
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("damage", ["no database", "cut"])
def test_a_damaged_file_is_set_aside_and_named(tmp_path: Path, damage: str):
    """What was damaged is not thrown away, and vectors can be kept and found again."""
    store = EmbeddingStore(tmp_path)
    store.append("m", {f"k{n}": vector(n) for n in range(200)})
    file = tmp_path / FILE_NAME
    file.write_bytes(b"no database " * 400 if damage == "no database" else file.read_bytes()[:5000])
    given = store.append("m", {"b": vector(2)})
    assert list(store.damaged) == [FILE_NAME]
    assert (tmp_path / f"{FILE_NAME}.damaged").exists()
    assert np.array_equal(EmbeddingStore(tmp_path).find("m", ["k1", "b"])["b"], given["b"])


KILLED = """
import os, sys
from pathlib import Path
import numpy as np
from infold.catalogue.embeddings import EmbeddingStore
store = EmbeddingStore(Path(sys.argv[1]))
for n in range(1000):
    store.append("m", {f"k{n}": np.ones(8, dtype=np.float32)})
    print(n, flush=True)
"""


def test_what_was_said_to_be_kept_survives_a_kill(tmp_path: Path):
    """Killed at any moment: every vector whose call had ended is there."""
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [int(process.stdout.readline()) for _ in range(25)]
        process.kill()
    assert len(EmbeddingStore(tmp_path).find("m", [f"k{n}" for n in said])) == 25


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    """A full or forbidden disk is an error with the folder in it."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StateUnwritable, match="file"):
        EmbeddingStore(tmp_path / "file").append("m", {"a": vector(1)})


def test_a_model_that_is_dropped_gives_its_room_back(tmp_path: Path):
    """Its vectors are gone and the file is smaller; those of another model stay; what is not there is no fault."""
    store = EmbeddingStore(tmp_path)
    assert store.drop("m") == 0
    assert not (tmp_path / FILE_NAME).exists()
    store.append("m", {f"k{n}": vector(n) for n in range(3000)})
    alone = (tmp_path / FILE_NAME).stat().st_size
    store.append("paid", {"a": vector(1)})
    assert (store.drop("m"), store.drop("m"), store.count()) == (3000, 0, 1)
    assert sorted(store.find("paid", ["a", "k1"])) == ["a"]
    assert (tmp_path / FILE_NAME).stat().st_size < alone / 5
    assert (store.drop("paid"), store.count()) == (1, 0)
    store.append("m", {"a": vector(2)})
    assert store.count() == 1


def test_recent_vectors_are_those_asked_for_last():
    """So many and no more; what is found counts as new, and no vector holds the matrix that it is a row of."""
    rows = np.stack([vector(n) for n in range(6)])
    recent = RecentVectors(most=3)
    given = recent.append("m", {f"k{n}": rows[n] for n in range(3)})
    assert sorted(given) == ["k0", "k1", "k2"]
    assert sorted(recent.find("m", ["k0", "other"])) == ["k0"]
    assert recent.find("n", ["k0"]) == {}
    recent.append("m", {"k3": rows[3], "k4": rows[4]})
    found = recent.find("m", [f"k{n}" for n in range(6)])
    assert sorted(found) == ["k0", "k3", "k4"]
    for key, row in found.items():
        assert isinstance(row, np.ndarray)
        assert row.base is None
        assert np.array_equal(row, rows[int(key[1])])
