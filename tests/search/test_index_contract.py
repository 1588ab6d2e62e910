"""What every search engine promises (`search.index.contract`), held by each of them. Another one joins ENGINES."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.errors import IndexFault
from infold.search import terms
from infold.search.index.contract import Filter, Index, IndexPoint, Source
from infold.search.server.engine import ServerEngine
from infold.search.shared.edge import EdgeIndex
from infold.search.shared.shared_index import SharedIndex
from tests.fakes.qdrant_server import FakeQdrant

SIZE = 8
LEVAIN = terms.sparse_query("levain")


def unit(*values: float) -> np.ndarray:
    vector = np.zeros(SIZE, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def id_of(n: int) -> str:
    return f"00000000-0000-0000-0000-{n:012d}"


def point(n: int, path: str, text: str = "levain", dense: np.ndarray | None = None) -> IndexPoint:
    return IndexPoint(
        id=id_of(n),
        path=path,
        start_line=n,
        end_line=n + 1,
        title=path.removesuffix(".md"),
        trail=("Top", f"Part {n}"),
        kind="standard",
        source="notebook",
        sparse=terms.sparse_document(text),
        dense=dense,
    )


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
        assert self._process.wait(30) == 0
        self._process.stdout.close()


@pytest.fixture(scope="module")
def other_process() -> Iterator[OtherProcess]:
    with closing(OtherProcess()) as process:
        yield process


@contextmanager
def edge(folder: Path, request: pytest.FixtureRequest) -> Iterator[Index]:
    """The engine in this process, by itself."""
    with closing(EdgeIndex(folder / "shard", SIZE)) as index:
        yield index


@contextmanager
def owner(folder: Path, request: pytest.FixtureRequest) -> Iterator[Index]:
    """Shared, and opened by this process."""
    with closing(SharedIndex(folder, lambda: EdgeIndex(folder / "shard", SIZE))) as index:
        assert index.is_owner
        yield index


@contextmanager
def client(folder: Path, request: pytest.FixtureRequest) -> Iterator[Index]:
    """Shared, and opened by another process."""
    request.getfixturevalue("other_process").open(folder)
    with closing(SharedIndex(folder, lambda: EdgeIndex(folder / "shard"))) as index:
        assert not index.is_owner
        yield index


@contextmanager
def server(folder: Path, request: pytest.FixtureRequest) -> Iterator[Index]:
    """On a server."""
    with closing(FakeQdrant().start()) as fake, closing(ServerEngine(fake.url, None, folder)) as engine:
        yield engine.create("0123456789abcdef", SIZE)


@contextmanager
def qdrant(folder: Path, request: pytest.FixtureRequest) -> Iterator[Index]:
    """On a true Qdrant server, where QDRANT_URL (and QDRANT_API_KEY) name one."""
    generation = "0123456789abcdef"
    with closing(ServerEngine(os.environ["QDRANT_URL"], os.environ.get("QDRANT_API_KEY"), folder)) as engine:
        try:
            yield engine.create(generation, SIZE)
        finally:
            engine.drop(generation)


ENGINES: dict[str, Callable[[Path, pytest.FixtureRequest], AbstractContextManager[Index]]] = {
    "edge": edge,
    "owner": owner,
    "client": client,
    "server": server,
    **({"qdrant": qdrant} if "QDRANT_URL" in os.environ else {}),
}


@pytest.fixture(params=ENGINES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An empty index of each engine."""
    with ENGINES[request.param](tmp_path, request) as made:
        yield made


def test_a_hit_is_the_point_that_was_given(index: Index):
    """Every field of a point comes back with it, in whatever script; what was not given stays empty."""
    bare = point(3, "a/b é.md")
    full = replace(
        point(4, "日本/ノート.md", "stone"),
        trail=("Öl", "“quoted”", "x\ty\nz"),
        kind="daily",
        source=Source.MEMORY,
        date="2026-02-28",
        tags=("Work/Urgent", "b"),
        level="node",
        trust="external",
        parent="node 7",
    )
    index.upsert([bare, full])
    for given_, word in ((bare, "levain"), (full, "stone")):
        (hit,) = index.query_sparse(terms.sparse_query(word), 5)
        for field in [
            "id",
            "path",
            "start_line",
            "end_line",
            "title",
            "trail",
            "kind",
            "source",
            "date",
            "level",
            "trust",
            "parent",
        ]:
            assert getattr(hit, field) == getattr(given_, field)
    assert hit.tags == ("b", "work", "work/urgent")


def test_scores_are_bm25(index: Index):
    """Scores equal BM25 as the books have it, computed here in ten lines, for every document and query."""
    documents = [
        "the levain rises in the cold kitchen overnight",
        "levain levain levain and more levain",
        "the oven is hot, the stone is hotter",
        "a kitchen is cold in winter and the levain sleeps " * 6,
        "stone",
    ]
    index.upsert([point(n, f"{n}.md", text) for n, text in enumerate(documents)])
    counted = [Counter(terms.terms(text, "english")) for text in documents]
    lengths = [sum(len(terms.encoder("english").forms(t)[0]) for t in terms.tokens(text)) for text in documents]
    for query in ("levain", "cold kitchen levain", "hot stone oven", "the levain", "sleeping"):
        expected = {}
        for n, found in enumerate(counted):
            score = 0.0
            for term, weight in terms.query_weights(query).items():
                holding = sum(term in other for other in counted)
                idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
                norm = terms.K1 * (1 - terms.B + terms.B * lengths[n] / terms.AVERAGE_LENGTH)
                score += weight * idf * found[term] * (terms.K1 + 1) / (found[term] + norm)
            if score:
                expected[f"{n}.md"] = score
        got = {hit.path: hit.score for hit in index.query_sparse(terms.sparse_query(query), 10)}
        assert got == pytest.approx(expected, rel=1e-3)


def test_dense_scores_are_cosine(index: Index):
    """The closest direction is first; a point without a vector is not found by meaning."""
    index.upsert([point(1, "a.md", "x", unit(1, 0)), point(2, "b.md", "x", unit(1, 1)), point(3, "c.md", "x")])
    hits = index.query_dense(unit(1, 0), 5)
    assert [hit.path for hit in hits] == ["a.md", "b.md"]
    assert [hit.score for hit in hits] == pytest.approx([1, math.sqrt(0.5)], abs=2e-3)


def test_vectors_can_follow(index: Index):
    """A point is searchable by keyword at once, and by meaning once its vector is there; others' ids do no harm."""
    index.upsert([point(1, "a.md")])
    assert index.query_dense(unit(1), 5) == []
    index.add_vectors({id_of(1): unit(1), id_of(99): unit(1)})
    assert [hit.path for hit in index.query_dense(unit(1), 5)] == ["a.md"]
    assert [hit.path for hit in index.query_sparse(LEVAIN, 5)] == ["a.md"]
    assert index.count() == 1


def test_an_empty_query_finds_nothing(index: Index):
    """No words and no meaning are no error."""
    index.upsert([point(1, "a.md", dense=unit(1))])
    assert index.query_sparse(([], []), 5) == []
    assert index.query_dense(np.zeros(SIZE, dtype=np.float32), 5) == []
    assert index.query_sparse(LEVAIN, 0) == []
    assert index.query_dense(unit(1), 0) == []


def test_replacing_a_path_takes_all_its_points(index: Index):
    """Every passage of the note goes, no other, and the frequencies of words follow."""
    index.upsert([point(n, f"{n % 2}.md") for n in range(10)])
    index.replace(["1.md", "never.md"], [])
    assert index.count() == 5
    hits = index.query_sparse(LEVAIN, 20)
    assert {hit.path for hit in hits} == {"0.md"}
    index.upsert([point(n, f"{n}.md", "stone") for n in range(20, 120)])
    assert index.query_sparse(LEVAIN, 1)[0].score > hits[0].score


def test_done_twice_is_done_once(index: Index):
    """Whoever has to ask again, as the owner of the index ended, does no harm."""
    index.upsert([point(1, "a.md"), point(2, "a.md"), point(3, "b.md")])
    for _ in range(2):
        index.replace(["a.md"], [point(4, "a.md", dense=unit(1))])
        index.delete([id_of(3), id_of(77)])
        index.add_vectors({id_of(4): unit(0, 1)})
    assert [hit.id for hit in index.query_sparse(LEVAIN, 9)] == [id_of(4)]
    assert index.query_dense(unit(0, 1), 1)[0].score == pytest.approx(1, abs=2e-3)


def test_a_point_is_replaced_by_its_id(index: Index):
    """The same id again is the same point with other content."""
    index.upsert([point(1, "a.md")])
    index.upsert([point(1, "a.md", "stone")])
    assert index.count() == 1
    assert index.query_sparse(LEVAIN, 5) == []


def test_more_points_than_one_call_takes(index: Index):
    """Batches are the engine's affair: of many notes, and of one very long note."""
    index.upsert([point(n, f"{n}.md", f"levain number{n}", unit(1, n)) for n in range(523)])
    index.replace(["7.md"], [point(n, "7.md", f"stone number{n}") for n in range(1000, 1700)])
    index.flush()
    assert index.count() == 523 - 1 + 700
    assert index.query_sparse(terms.sparse_query("number522"), 1)[0].path == "522.md"
    assert index.count(Filter(paths=("7.md",))) == 700
    index.add_vectors({id_of(n): unit(1) for n in range(1000, 1700)})
    index.delete([id_of(n) for n in range(1000, 1700)])
    assert index.count(Filter(paths=("7.md",))) == 0


_PATHS = ("a.md", "work/a.md", "work/x/b.md", "workshop/c.md", "work", "Work/a.md", "é/ü.md")
_TAGS = ("work", "work/urgent", "workshop", "Work/Later", "é")
_DATES = ("2024-02-29", "2025-12-31", "2026-01-01")
_POINTS = st.lists(
    st.builds(
        dict,
        path=st.sampled_from(_PATHS),
        kind=st.sampled_from(("standard", "daily")),
        source=st.sampled_from([str(source) for source in Source]),
        level=st.sampled_from(("passage", "node")),
        trust=st.sampled_from(("vault", "external")),
        date=st.none() | st.sampled_from(_DATES),
        tags=st.lists(st.sampled_from(_TAGS), max_size=3).map(tuple),
        has_vector=st.booleans(),
    ),
    max_size=12,
)


def _some(values: object) -> st.SearchStrategy:
    return st.lists(st.sampled_from(list(values)), max_size=2).map(tuple)


_FILTERS = st.builds(
    Filter,
    sources=_some(map(str, Source)),
    kinds=_some(("standard", "daily", "none")),
    levels=_some(("passage", "node")),
    trusts=_some(("vault", "external")),
    paths=st.none() | _some((*_PATHS, "never.md")),
    prefixes=_some(("work", "work/", "/work", "work/x", "work/a.md", "wor", "é", "never")),
    tags=_some(("work", "#work", "WORK/", "work/urgent", "work/later", "urgent", "é")),
    since=st.none() | st.sampled_from(("2024-03-01", *_DATES)),
    until=st.none() | st.sampled_from(("2024-03-01", *_DATES)),
)


def lets_through(where: Filter, one: IndexPoint) -> bool:
    """The filter's own words (`search.index.contract.Filter`) in plain Python."""
    tags = [tag.casefold() for tag in one.tags]
    asked = [tag.strip("#/").casefold() for tag in where.tags]
    folders = [prefix.strip("/") for prefix in where.prefixes]
    is_dated = not (where.since or where.until) or (
        one.date is not None and (where.since or "") <= one.date <= (where.until or "9999")
    )
    return (
        (not where.sources or one.source in where.sources)
        and (not where.kinds or one.kind in where.kinds)
        and (not where.levels or one.level in where.levels)
        and (not where.trusts or one.trust in where.trusts)
        and (where.paths is None or one.path in where.paths)
        and (not folders or any(one.path == folder or one.path.startswith(f"{folder}/") for folder in folders))
        and all(any(tag == want or tag.startswith(f"{want}/") for tag in tags) for want in asked)
        and is_dated
    )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_points=_POINTS, filters=st.lists(_FILTERS, min_size=3, max_size=3))
def test_a_filter_lets_through_what_its_words_say(index: Index, given_points: list[dict], filters: list[Filter]):
    """Sources, kinds, levels, trust, paths, prefixes, nested tags and days, alone and together, in both legs."""
    index.replace(list(_PATHS), [])
    points = []
    for n, values in enumerate(given_points):
        dense = unit(1, n) if values["has_vector"] else None
        rest = {name: value for name, value in values.items() if name not in {"path", "has_vector"}}
        points.append(replace(point(n, values["path"], dense=dense), **rest))
    index.replace(list(_PATHS), points)
    for where in (Filter(), *filters):
        expected = {one.id for one in points if lets_through(where, one)}
        assert {hit.id for hit in index.query_sparse(LEVAIN, 50, where)} == expected
        assert index.count(where) == len(expected)
        seen = {one.id for one in points if one.dense is not None} & expected
        assert {hit.id for hit in index.query_dense(unit(1), 50, where)} == seen


def test_a_filter_of_one_part_finds_points_and_leaves_points_out(index: Index):
    """Each part of a filter, alone, on points that differ in that part only: it is not merely passed over."""
    plain = point(1, "b.md")
    others = {
        "sources": (replace(plain, source="external"), ("external",)),
        "kinds": (replace(plain, kind="daily"), ("daily",)),
        "levels": (replace(plain, level="node"), ("node",)),
        "trusts": (replace(plain, trust="external"), ("external",)),
        "paths": (replace(plain, path="a/b.md"), ("a/b.md",)),
        "prefixes": (replace(plain, path="a/b.md"), ("a",)),
        "tags": (replace(plain, tags=("a/b",)), ("a",)),
        "since": (replace(plain, date="2026-01-02"), "2026-01-02"),
        "until": (replace(plain, date="2026-01-02"), "2026-01-02"),
    }
    for name, (other, value) in others.items():
        index.replace(["a/b.md", "b.md"], [plain, replace(other, id=id_of(2))])
        assert [hit.id for hit in index.query_sparse(LEVAIN, 5, Filter(**{name: value}))] == [id_of(2)], name


def test_closing_twice_is_no_fault_and_use_after_it_is(index: Index):
    """A closed index says so."""
    index.close()
    index.close()
    with pytest.raises(IndexFault, match="closed"):
        index.count()
    with pytest.raises(IndexFault, match="closed"):
        index.query_sparse(LEVAIN, 1)


def test_what_the_engine_refuses_is_an_index_fault(index: Index):
    """A vector of another size is refused with a sentence, and the index goes on."""
    with pytest.raises(IndexFault):
        index.upsert([point(1, "a.md", "x", np.ones(3, dtype=np.float32))])
    index.upsert([point(2, "a.md", "x", unit(1))])
    assert index.count(Filter(paths=("a.md",))) == 1


@pytest.mark.parametrize("index", ["edge", "owner", "client"], indirect=True)
def test_a_write_is_one_step_for_whoever_searches(index: Index):
    """While a note of five passages is replaced over and over, each query sees all of one version and none of another."""
    versions = [[point(v * 100 + n, "a.md", f"levain version{v}") for n in range(5)] for v in range(2)]
    index.upsert([point(n, f"{n}.md", "levain among others") for n in range(1000, 1300)])
    index.replace(["a.md"], versions[0])
    seen: list[list[int]] = []
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            hits = index.query_sparse(LEVAIN, 20, Filter(paths=("a.md",)))
            seen.append(sorted(hit.start_line for hit in hits))

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(60):
        index.replace(["a.md"], versions[(turn + 1) % 2])
    is_over.set()
    for thread in threads:
        thread.join()
    assert len(seen) > 20
    assert {tuple(lines) for lines in seen} <= {(0, 1, 2, 3, 4), (100, 101, 102, 103, 104)}
