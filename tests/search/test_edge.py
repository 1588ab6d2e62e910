"""The embedded engine beyond the contract of every index: its files, its faults, what a killed process leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from infold.errors import IndexFault
from infold.search.index.contract import VectorRecord
from infold.search.index.generations import Generations
from infold.search.shared import edge
from infold.search.shared.edge import EdgeIndex
from infold.search.shared.embedded import EdgeEngine

SIZE = 8


def record(n: int, vector: np.ndarray | None = None) -> VectorRecord:
    """A vector along one of the axes."""
    return VectorRecord(n, np.eye(SIZE, dtype=np.float32)[n % SIZE] if vector is None else vector)


def test_what_was_flushed_is_there_again(tmp_path: Path):
    """A second opening finds the vectors of the first."""
    first = EdgeIndex(tmp_path / "shard", SIZE)
    first.put([record(1)])
    first.flush()
    first.close()
    second = EdgeIndex(tmp_path / "shard")
    assert second.count() == 1
    assert second.query(np.eye(SIZE, dtype=np.float32)[1], 5) == [(1, pytest.approx(1, abs=0.02))]
    second.close()


def test_the_engines_errors_are_ours(tmp_path: Path):
    """A vector of another size, a second opener, no index at all: each is an IndexFault with a next step."""
    index = EdgeIndex(tmp_path / "shard", SIZE)
    with pytest.raises(IndexFault) as wrong_size:
        index.put([record(1, np.ones(3, dtype=np.float32))])
    with pytest.raises(IndexFault):
        EdgeIndex(tmp_path / "shard", SIZE)
    with pytest.raises(IndexFault, match="no search index"):
        EdgeIndex(tmp_path / "nowhere")
    assert "infold index" in wrong_size.value.hint
    index.put([record(2)])
    assert index.count() == 1
    index.close()


def test_what_was_refused_is_not_tried_again(tmp_path: Path):
    """What the engine refuses once would be refused at each opening: it is forgotten, and the index opens."""
    index = EdgeIndex(tmp_path / "shard", SIZE)
    index.put([record(1)])
    wrong = record(2, np.ones(3, dtype=np.float32))
    with pytest.raises(IndexFault):
        index.put([wrong])
    index.close()
    EdgeIndex(tmp_path / "shard").close()


def test_four_bits_a_number_tell_vectors_apart(tmp_path: Path):
    """Of an exact scan's best ten among 4,000 vectors that crowd together, at least 80 in 100 are found.

    What is found in another's place is nearly as near, and scores are those of the exact scan but for a fiftieth.
    """
    chance = np.random.default_rng(5)
    crowds = chance.normal(size=(40, 256))
    vectors = (crowds[chance.integers(0, 40, 4000)] + 0.4 * chance.normal(size=(4000, 256))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = EdgeIndex(tmp_path / "shard", 256)
    index.put([VectorRecord(n, vector) for n, vector in enumerate(vectors)])
    found = 0
    for asked in vectors[:50]:
        exact = vectors @ asked
        hits = index.query(asked, 10)
        best = np.argsort(-exact)[:10].tolist()
        assert [score for _, score in hits] == pytest.approx([exact[one] for one, _ in hits], abs=0.02)
        assert min(exact[one] for one, _ in hits) >= exact[best[-1]] - 0.02
        found += len({one for one, _ in hits} & set(best))
    index.close()
    assert found / 500 >= 0.8


KILLED = """
import os, signal, sys
from pathlib import Path
import infold.search.shared.edge as edge
from tests.search.test_edge import record, SIZE

index = edge.EdgeIndex(Path(sys.argv[1]), SIZE)
index.put([record(n) for n in range(5)])
index.flush()
original, calls = edge.EdgeIndex._update, 0

def dying(self, operation):
    global calls
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    calls += 1
    original(self, operation)

edge.EdgeIndex._update = dying
index.delete(range(5))
index.put([record(n) for n in range(100, 500)])
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("at", range(3))
def test_a_process_killed_in_a_replacement_is_made_good_by_doing_it_again(tmp_path: Path, at: int):
    """Killed before the old vectors went, before the new ones came, or between two batches: again, and all is there."""
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "shard"), str(at)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    index = EdgeIndex(tmp_path / "shard")
    index.delete(range(5))
    index.put([record(n) for n in range(100, 500)])
    assert index.count() == 400
    index.close()


@pytest.mark.parametrize("said", [b"12", b""], ids=["counted", "torn"])
def test_what_follows_a_flush_that_was_killed_is_written(tmp_path: Path, said: bytes):
    """Points that were flushed without their shard are ahead of it: the engine would pass over what is written next."""
    folder = tmp_path / "shard"
    index = EdgeIndex(folder, SIZE)
    index.put([record(n) for n in range(8)])
    index.flush()
    (file,) = folder.glob("segments/*/segment.json")
    former = file.read_bytes()
    for _ in range(12):
        index.put([record(n) for n in range(8)])
    index.close()
    assert not (folder / "flushing").exists()

    file.write_bytes(former)
    index = EdgeIndex(folder)
    index.delete([3])
    assert index.count() == 8, "the engine minds no longer: nothing has to be made good"
    index.close()

    file.write_bytes(former)
    (folder / "flushing").write_bytes(said)
    for opening in range(2):
        index = EdgeIndex(folder)
        index.delete([opening])
        index.put([record(7, -np.eye(SIZE, dtype=np.float32)[7])])
        index.flush()
        assert index.count() == 7 - opening
        assert index.vectors([7])[7][7] < -0.9
        index.close()


def test_a_generation_is_dropped_once_nobody_uses_it(tmp_path: Path):
    """Dropping a generation that is searched leaves it; afterwards it goes, and what is not there is passed over."""
    engine, folder = EdgeEngine(tmp_path), Generations(tmp_path)
    generation = folder.new_generation()
    assert not engine.exists(generation)
    with pytest.raises(IndexFault, match="no search index"):
        engine.open(generation)
    index = engine.create(generation, SIZE)
    index.put([record(1)])
    engine.drop(generation)
    assert index.count() == 1
    index.close()
    assert engine.exists(generation)
    engine.drop(generation)
    engine.drop(generation)
    assert not engine.exists(generation)
    assert folder.generations() == []


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="a system that is not asked to read ahead")
def test_all_vectors_are_asked_for_before_they_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In pieces that the system takes whole: each of their files, to its end; and they are there."""
    with closing(EdgeIndex(tmp_path, 256)) as index:
        index.put([record(n, np.eye(256, dtype=np.float32)[n % 256]) for n in range(3000)])
    edge.compact(tmp_path)
    asked: dict[int, int] = {}

    def noted(descriptor: int, start: int, length: int, _: int) -> None:
        inode = os.fstat(descriptor).st_ino
        assert asked.get(inode, 0) == start
        asked[inode] = start + length

    monkeypatch.setattr(edge, "_PIECE_BYTES", 1000)
    monkeypatch.setattr(os, "posix_fadvise", noted)
    with closing(EdgeIndex(tmp_path)) as index:
        assert index.count() == 3000
    files = [file.stat() for file in tmp_path.rglob("tq_vectors.dat")]
    assert files
    assert all(asked[file.st_ino] >= file.st_size > 0 for file in files)
