"""What every engine of vectors promises (`search.index.contract`), held by each of them. Another one joins ENGINES."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from infold.errors import IndexFault
from infold.search.index.contract import VectorIndex, VectorRecord
from infold.search.server.engine import ServerEngine
from infold.search.shared.edge import EdgeIndex
from infold.search.shared.shared_index import SharedIndex
from tests.fakes.qdrant_server import FakeQdrant

SIZE = 8


def unit(*values: float) -> np.ndarray:
    vector = np.zeros(SIZE, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def record(n: int, vector: np.ndarray | None = None) -> VectorRecord:
    return VectorRecord(n, unit(1) if vector is None else vector)


class OtherProcess:
    """A process that owns the indexes which this one is a client of."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("index_maker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def open(self, folder: Path) -> None:
        self._process.stdin.write(f"{folder}\t{SIZE}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "owner\n"

    def close(self) -> None:
        self._process.stdin.close()
        assert self._process.wait(120) == 0
        self._process.stdout.close()


@pytest.fixture(scope="module")
def other_process() -> Iterator[OtherProcess]:
    with closing(OtherProcess()) as process:
        yield process


@contextmanager
def edge(folder: Path, request: pytest.FixtureRequest) -> Iterator[VectorIndex]:
    """The engine in this process, by itself."""
    with closing(EdgeIndex(folder / "shard", SIZE)) as index:
        yield index


@contextmanager
def owner(folder: Path, request: pytest.FixtureRequest) -> Iterator[VectorIndex]:
    """Shared, and opened by this process."""
    with closing(SharedIndex(folder, lambda: EdgeIndex(folder / "shard", SIZE))) as index:
        assert index.is_owner
        yield index


@contextmanager
def client(folder: Path, request: pytest.FixtureRequest) -> Iterator[VectorIndex]:
    """Shared, and opened by another process."""
    request.getfixturevalue("other_process").open(folder)
    with closing(SharedIndex(folder, lambda: EdgeIndex(folder / "shard"))) as index:
        assert not index.is_owner
        yield index


@contextmanager
def server(folder: Path, request: pytest.FixtureRequest) -> Iterator[VectorIndex]:
    """On a server."""
    with closing(FakeQdrant().start()) as fake, closing(ServerEngine(fake.url, None, folder)) as engine:
        yield engine.create("0123456789abcdef", SIZE)


@contextmanager
def qdrant(folder: Path, request: pytest.FixtureRequest) -> Iterator[VectorIndex]:
    """On a true Qdrant server, where QDRANT_URL (and QDRANT_API_KEY) name one."""
    generation = "0123456789abcdef"
    with closing(ServerEngine(os.environ["QDRANT_URL"], os.environ.get("QDRANT_API_KEY"), folder)) as engine:
        try:
            yield engine.create(generation, SIZE)
        finally:
            engine.drop(generation)


ENGINES: dict[str, Callable[[Path, pytest.FixtureRequest], AbstractContextManager[VectorIndex]]] = {
    "edge": edge,
    "owner": owner,
    "client": client,
    "server": server,
    **({"qdrant": qdrant} if "QDRANT_URL" in os.environ else {}),
}


@pytest.fixture(params=ENGINES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorIndex]:
    """An empty index of each engine."""
    with ENGINES[request.param](tmp_path, request) as made:
        yield made


MOST = 2**63 - 1  # the greatest number of a point


def test_scores_are_cosine(index: VectorIndex):
    """The closest direction is first."""
    index.put([record(1, unit(1, 0)), record(MOST, unit(1, 1))])
    hits = index.query(unit(1, 0), 5)
    assert [one for one, _ in hits] == [1, MOST]
    assert [score for _, score in hits] == pytest.approx([1, math.sqrt(0.5)], abs=0.03)
    assert [one for one, _ in index.query(unit(1, 0), 1)] == [1]


def test_vectors_come_back(index: VectorIndex):
    """In bulk, by number, of unit length, as near as four bits a number allow; what is not there is left out."""
    given_ = {n * n: unit(1, n, n * n) for n in range(250)} | {MOST: unit(0, 1)}
    index.put([record(n, vector) for n, vector in given_.items()])
    found = index.vectors([*given_, MOST - 1])
    assert set(found) == set(given_)
    for one, vector in found.items():
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)
        assert vector @ given_[one] > 0.98
    assert index.vectors([]) == {}


def test_an_empty_query_finds_nothing(index: VectorIndex):
    """No meaning is no error, nor is nothing to look among."""
    index.put([record(1)])
    assert index.query(np.zeros(SIZE, dtype=np.float32), 5) == []
    assert index.query(unit(1), 0) == []
    assert index.query(unit(1), 5, []) == []


def test_only_those_asked_for_are_looked_at(index: VectorIndex):
    """The nearest among some numbers, whatever is nearer beside them; one that is not there is passed over."""
    index.put([record(n, unit(1, n)) for n in range(300)])
    assert [one for one, _ in index.query(unit(1), 2, {7, 200, MOST, 9})] == [7, 9]
    assert {one for one, _ in index.query(unit(1), 300, [*range(100, 300)])} == {*range(100, 300)}


def test_what_is_taken_away_is_gone(index: VectorIndex):
    """These and no others; what is not there is passed over."""
    index.put([record(n) for n in range(10)])
    index.delete([*range(1, 10, 2), MOST])
    assert {one for one, _ in index.query(unit(1), 20)} == {*range(0, 10, 2)}
    assert index.count() == 5


def test_done_twice_is_done_once(index: VectorIndex):
    """Whoever has to ask again, as the owner of the index ended, does no harm."""
    index.put([record(1), record(2), record(3)])
    for _ in range(2):
        index.put([record(4, unit(0, 1))])
        index.delete([1, 2, 3, 77])
    assert [one for one, _ in index.query(unit(0, 1), 9)] == [4]


def test_a_vector_is_replaced_by_its_number(index: VectorIndex):
    """The same number again is the same point with another vector, also within one call."""
    index.put([record(1, unit(1))])
    index.put([record(1, unit(0, 0, 1)), record(1, unit(0, 1))])
    assert index.count() == 1
    assert index.query(unit(0, 1), 5)[0][1] == pytest.approx(1, abs=0.02)


def test_more_than_one_call_takes(index: VectorIndex):
    """Batches are the engine's affair."""
    index.put([record(n, unit(1, n)) for n in range(1223)])
    index.flush()
    assert index.count() == 1223
    index.delete([*range(523, 1223)])
    assert index.count() == 523


def test_closing_twice_is_no_fault_and_use_after_it_is(index: VectorIndex):
    """A closed index says so."""
    index.close()
    index.close()
    with pytest.raises(IndexFault, match="closed"):
        index.count()
    with pytest.raises(IndexFault, match="closed"):
        index.query(unit(1), 1)


def test_what_the_engine_refuses_is_an_index_fault(index: VectorIndex):
    """A vector of another size is refused with a sentence, and the index goes on."""
    with pytest.raises(IndexFault):
        index.put([record(1, np.ones(3, dtype=np.float32))])
    index.put([record(2)])
    assert index.count() == 1
