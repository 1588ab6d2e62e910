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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.errors import IndexFault
from infold.search.index.contract import Filter, VectorIndex, VectorRecord
from infold.search.index.payload import payload_of
from infold.search.server.engine import ServerEngine
from infold.search.shared.edge import EdgeIndex
from infold.search.shared.shared_index import SharedIndex
from tests.fakes.qdrant_server import FakeQdrant
from tests.search.filters import FILTERS, PATHS, POINTS, id_of, lets_through, point

SIZE = 8


def unit(*values: float) -> np.ndarray:
    vector = np.zeros(SIZE, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def record(n: int, path: str, vector: np.ndarray | None = None, **rest: object) -> VectorRecord:
    return VectorRecord(id_of(n), unit(1) if vector is None else vector, payload_of(point(n, path, **rest)))  # type: ignore[arg-type]


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


def test_scores_are_cosine(index: VectorIndex):
    """The closest direction is first."""
    index.replace((), [record(1, "a.md", unit(1, 0)), record(2, "b.md", unit(1, 1))])
    hits = index.query(unit(1, 0), 5)
    assert [one for one, _ in hits] == [id_of(1), id_of(2)]
    assert [score for _, score in hits] == pytest.approx([1, math.sqrt(0.5)], abs=2e-3)
    assert [one for one, _ in index.query(unit(1, 0), 1)] == [id_of(1)]


def test_vectors_come_back(index: VectorIndex):
    """In bulk, by id, of unit length, as near as eight bits a number allow; what is not there is left out."""
    given_ = {id_of(n): unit(1, n, n * n) for n in range(250)}
    index.replace((), [record(n, f"{n}.md", given_[id_of(n)]) for n in range(250)])
    found = index.vectors([*given_, id_of(999)])
    assert set(found) == set(given_)
    for one, vector in found.items():
        assert vector.dtype == np.float32
        assert np.allclose(vector, given_[one], atol=6e-3)
    assert index.vectors([]) == {}


def test_an_empty_query_finds_nothing(index: VectorIndex):
    """No meaning is no error."""
    index.replace((), [record(1, "a.md")])
    assert index.query(np.zeros(SIZE, dtype=np.float32), 5) == []
    assert index.query(unit(1), 0) == []


def test_replacing_a_path_takes_all_its_vectors(index: VectorIndex):
    """Every passage of the note goes, and no other."""
    index.replace((), [record(n, f"{n % 2}.md") for n in range(10)])
    index.replace(["1.md", "never.md"], [])
    assert {one for one, _ in index.query(unit(1), 20)} == {id_of(n) for n in range(0, 10, 2)}
    assert index.count() == 5


def test_done_twice_is_done_once(index: VectorIndex):
    """Whoever has to ask again, as the owner of the index ended, does no harm."""
    index.replace((), [record(1, "a.md"), record(2, "a.md"), record(3, "b.md")])
    for _ in range(2):
        index.replace(["a.md"], [record(4, "a.md", unit(0, 1))])
        index.delete([id_of(3), id_of(77)])
    assert [one for one, _ in index.query(unit(0, 1), 9)] == [id_of(4)]


def test_a_vector_is_replaced_by_its_id(index: VectorIndex):
    """The same id again is the same point with another vector."""
    index.replace((), [record(1, "a.md", unit(1))])
    index.replace((), [record(1, "a.md", unit(0, 1))])
    assert index.count() == 1
    assert index.query(unit(0, 1), 5)[0][1] == pytest.approx(1, abs=2e-3)


def test_more_than_one_call_takes(index: VectorIndex):
    """Batches are the engine's affair: of many notes, and of one very long note."""
    index.replace((), [record(n, f"{n}.md", unit(1, n)) for n in range(523)])
    index.replace(["7.md"], [record(n, "7.md", unit(0, 0, n)) for n in range(1000, 1700)])
    index.flush()
    assert index.count() == 523 - 1 + 700
    assert index.count(Filter(paths=("7.md",))) == 700
    index.delete([id_of(n) for n in range(1000, 1700)])
    assert index.count(Filter(paths=("7.md",))) == 0


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_points=POINTS, filters=st.lists(FILTERS, min_size=3, max_size=3))
def test_a_filter_lets_through_what_its_words_say(index: VectorIndex, given_points: list[dict], filters: list[Filter]):
    """Groups, kinds, levels, trust, paths, prefixes, nested tags, nodes and days, alone and together."""
    points = [point(n, **values) for n, values in enumerate(given_points)]
    index.replace(list(PATHS), [VectorRecord(one.id, unit(1, n), payload_of(one)) for n, one in enumerate(points)])
    for where in (Filter(), *filters):
        expected = {one.id for one in points if lets_through(where, one)}
        assert {one for one, _ in index.query(unit(1), 50, where)} == expected
        assert index.count(where) == len(expected)


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
        index.replace((), [record(1, "a.md", np.ones(3, dtype=np.float32))])
    index.replace((), [record(2, "a.md")])
    assert index.count(Filter(paths=("a.md",))) == 1
