"""The embedded engine beyond the contract of every index: its files, its faults, what a killed process leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from infold.errors import IndexFault
from infold.search import terms
from infold.search.index.contract import Filter, IndexPoint
from infold.search.index.generations import IndexFolder
from infold.search.shared.edge import EdgeIndex
from infold.search.shared.embedded import EdgeEngine

SIZE = 8
LEVAIN = terms.sparse_query("levain")


def point(n: int, path: str, text: str = "levain") -> IndexPoint:
    return IndexPoint(
        id=f"00000000-0000-0000-0000-{n:012d}",
        path=path,
        start_line=n,
        end_line=n,
        title="",
        trail=(),
        kind="standard",
        source="notebook",
        sparse=terms.sparse_document(text),
        dense=np.eye(SIZE, dtype=np.float32)[n % SIZE],
    )


def test_what_was_flushed_is_there_again(tmp_path: Path):
    """A second opening finds the points of the first, and knows whether there are vectors."""
    first = EdgeIndex(tmp_path / "shard", SIZE)
    first.upsert([point(1, "a.md")])
    first.flush()
    first.close()
    second = EdgeIndex(tmp_path / "shard")
    assert second.count() == 1
    assert second.query_dense(np.eye(SIZE, dtype=np.float32)[1], 5)[0].path == "a.md"
    second.close()


def test_an_index_of_keywords_alone(tmp_path: Path):
    """Made without vectors, it answers a question by meaning with nothing, also when opened again."""
    for size in (0, None):
        index = EdgeIndex(tmp_path / "shard", size)
        assert index.query_dense(np.ones(SIZE, dtype=np.float32), 5) == []
        index.close()


def test_the_engines_errors_are_ours(tmp_path: Path):
    """A vector of another size, a second opener, no index at all: each is an IndexFault with a next step."""
    index = EdgeIndex(tmp_path / "shard", SIZE)
    with pytest.raises(IndexFault) as wrong_size:
        index.upsert([IndexPoint(**{**_values(point(1, "a.md")), "dense": np.ones(3, dtype=np.float32)})])
    with pytest.raises(IndexFault):
        EdgeIndex(tmp_path / "shard", SIZE)
    with pytest.raises(IndexFault, match="no search index"):
        EdgeIndex(tmp_path / "nowhere")
    assert "infold index" in wrong_size.value.hint
    index.upsert([point(2, "a.md")])
    assert index.count() == 1
    index.close()


def test_a_replacement_that_was_refused_is_not_tried_again(tmp_path: Path):
    """What the engine refuses once would be refused at each opening: it is forgotten, and the index opens."""
    index = EdgeIndex(tmp_path / "shard", SIZE)
    index.upsert([point(1, "a.md")])
    wrong = IndexPoint(**{**_values(point(2, "a.md")), "dense": np.ones(3, dtype=np.float32)})
    with pytest.raises(IndexFault):
        index.replace(["a.md"], [wrong])
    index.close()
    EdgeIndex(tmp_path / "shard").close()


def test_the_short_forms_of_vectors_lose_next_to_nothing(tmp_path: Path):
    """Of an exact scan's best ten among 4,000 vectors that crowd together, at least 95 in 100 are found; scores are exact."""
    chance = np.random.default_rng(5)
    crowds = chance.normal(size=(40, 64))
    vectors = (crowds[chance.integers(0, 40, 4000)] + 0.4 * chance.normal(size=(4000, 64))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = EdgeIndex(tmp_path / "shard", 64)
    values = _values(point(0, "a.md"))
    index.upsert(
        [IndexPoint(**{**values, "id": str(UUID(int=n)), "dense": vector}) for n, vector in enumerate(vectors)]
    )
    found = 0
    for asked in vectors[:50]:
        exact = vectors @ asked
        hits = index.query_dense(asked, 10)
        assert [hit.score for hit in hits] == pytest.approx([exact[UUID(hit.id).int] for hit in hits], abs=2e-3)
        found += len({UUID(hit.id).int for hit in hits} & set(np.argsort(-exact)[:10].tolist()))
    index.close()
    assert found / 500 >= 0.95


KILLED = """
import os, signal, sys
from pathlib import Path
import infold.search.shared.edge as edge
from tests.search.test_edge import point, SIZE

index = edge.EdgeIndex(Path(sys.argv[1]), SIZE)
index.replace(["a.md"], [point(n, "a.md") for n in range(5)])
index.flush()
original, calls = edge.EdgeIndex._update, 0

def dying(self, operation):
    global calls
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    calls += 1
    original(self, operation)

edge.EdgeIndex._update = dying
index.replace(["a.md"], [point(n, "a.md", "poolish") for n in range(100, 500)])
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("at", range(3))
def test_a_process_killed_in_a_replacement_leaves_no_half_of_it(tmp_path: Path, at: int):
    """Killed before the old points went, before the new ones came, or between two batches: the new note is whole."""
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "shard"), str(at)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    index = EdgeIndex(tmp_path / "shard")
    assert index.query_sparse(LEVAIN, 5) == []
    assert index.count(Filter(paths=("a.md",))) == 400
    index.close()
    assert not (tmp_path / "shard" / "replacing").exists()


def test_interrupted_in_a_replacement_by_hand_nothing_is_half_done(tmp_path: Path, monkeypatch):
    """Ctrl-C between the two halves: the replacement is finished first, then the program is interrupted."""
    index = EdgeIndex(tmp_path / "shard", SIZE)
    index.upsert([point(1, "a.md")])
    update, calls = index._update, []

    def interrupted(operation: object) -> None:
        calls.append(operation)
        if len(calls) == 2:
            raise KeyboardInterrupt
        update(operation)

    monkeypatch.setattr(index, "_update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        index.replace(["a.md"], [point(2, "a.md", "poolish")])
    assert [hit.start_line for hit in index.query_sparse(terms.sparse_query("poolish"), 5)] == [2]
    assert index.count() == 1
    index.close()
    EdgeIndex(tmp_path / "shard").close()


def test_a_generation_is_dropped_once_nobody_uses_it(tmp_path: Path):
    """Dropping a generation that is searched leaves it; afterwards it goes, and what is not there is passed over."""
    engine, folder = EdgeEngine(tmp_path), IndexFolder(tmp_path)
    generation = folder.new_generation()
    assert not engine.exists(generation)
    with pytest.raises(IndexFault, match="no search index"):
        engine.open(generation)
    index = engine.create(generation, SIZE)
    index.upsert([point(1, "a.md")])
    engine.drop(generation)
    assert index.count() == 1
    index.close()
    assert engine.exists(generation)
    engine.drop(generation)
    engine.drop(generation)
    assert not engine.exists(generation)
    assert folder.generations() == []


def _values(one: IndexPoint) -> dict[str, object]:
    return {name: getattr(one, name) for name in IndexPoint.__dataclass_fields__}
