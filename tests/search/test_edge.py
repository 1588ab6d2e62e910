"""The contract of an index, held by the embedded engine. Another engine joins the parametrisation of `index`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from infold.errors import IndexFault
from infold.search import terms
from infold.search.edge import EdgeIndex
from infold.search.index import Filter, Index, IndexPoint

SIZE = 8


def unit(*values: float) -> np.ndarray:
    vector = np.zeros(SIZE, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def point(n: int, path: str, text: str, dense: np.ndarray | None = None) -> IndexPoint:
    return IndexPoint(
        id=f"00000000-0000-0000-0000-{n:012d}",
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


@pytest.fixture(params=["edge"])
def index(request, tmp_path: Path) -> Iterator[Index]:
    """An empty index of each engine."""
    assert request.param == "edge"
    made = EdgeIndex(tmp_path / "shard", SIZE)
    yield made
    made.close()


def test_a_hit_says_where_it_is(index: Index):
    """Path, lines, headings and title come back as they were given."""
    index.upsert([point(3, "a/b é.md", "levain")])
    (hit,) = index.query_sparse(terms.sparse_query("levain"), 5)
    assert (hit.path, hit.start_line, hit.end_line, hit.trail, hit.title) == (
        "a/b é.md",
        3,
        4,
        ("Top", "Part 3"),
        "a/b é",
    )


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
    """A point is searchable by keyword at once, and by meaning once its vector is there."""
    index.upsert([point(1, "a.md", "levain")])
    assert index.query_dense(unit(1), 5) == []
    index.add_vectors({"00000000-0000-0000-0000-000000000001": unit(1)})
    assert [hit.path for hit in index.query_dense(unit(1), 5)] == ["a.md"]
    assert [hit.path for hit in index.query_sparse(terms.sparse_query("levain"), 5)] == ["a.md"]


def test_an_empty_query_finds_nothing(index: Index):
    """No words and no meaning are no error."""
    index.upsert([point(1, "a.md", "levain", unit(1))])
    assert index.query_sparse(([], []), 5) == []
    assert index.query_dense(np.zeros(SIZE, dtype=np.float32), 5) == []
    assert index.query_sparse(terms.sparse_query("levain"), 0) == []


def test_deleting_a_path_takes_all_its_points(index: Index):
    """Every passage of the note goes, no other, and the frequencies of words follow."""
    index.upsert([point(n, f"{n % 2}.md", "levain") for n in range(10)])
    index.replace(["1.md", "never.md"], [])
    assert index.count() == 5
    hits = index.query_sparse(terms.sparse_query("levain"), 20)
    assert {hit.path for hit in hits} == {"0.md"}
    index.upsert([point(n, f"{n}.md", "stone") for n in range(20, 120)])
    assert index.query_sparse(terms.sparse_query("levain"), 1)[0].score > hits[0].score


def test_a_point_is_replaced_by_its_id(index: Index):
    """The same id again is the same point with other content."""
    index.upsert([point(1, "a.md", "levain")])
    index.upsert([point(1, "a.md", "stone")])
    assert index.count() == 1
    assert index.query_sparse(terms.sparse_query("levain"), 5) == []


def test_queries_can_be_kept_to_some_notes(index: Index):
    """Restricted to paths, nothing else is found, by either leg."""
    index.upsert([point(n, f"{n}.md", "levain", unit(1, n)) for n in range(5)])
    assert {
        hit.path for hit in index.query_sparse(terms.sparse_query("levain"), 9, Filter(paths=("1.md", "3.md")))
    } == {
        "1.md",
        "3.md",
    }
    assert {hit.path for hit in index.query_dense(unit(1), 9, Filter(paths=("2.md",)))} == {"2.md"}
    assert index.query_sparse(terms.sparse_query("levain"), 9, Filter(paths=())) == []


def test_more_points_than_one_call_takes(index: Index):
    """Batches are the engine's affair."""
    index.upsert([point(n, f"{n}.md", f"levain number{n}", unit(1, n)) for n in range(523)])
    index.flush()
    assert index.count() == 523
    assert index.query_sparse(terms.sparse_query("number522"), 1)[0].path == "522.md"


def test_closing_twice_is_no_fault_and_use_after_it_is(index: Index):
    """A closed index says so."""
    index.close()
    index.close()
    with pytest.raises(IndexFault, match="closed"):
        index.count()


def test_what_was_flushed_is_there_again(tmp_path: Path):
    """A second opening finds the points of the first."""
    first = EdgeIndex(tmp_path / "shard", SIZE)
    first.upsert([point(1, "a.md", "levain", unit(1))])
    first.flush()
    first.close()
    second = EdgeIndex(tmp_path / "shard", SIZE)
    assert second.count() == 1
    second.close()


def test_the_engines_errors_are_ours(tmp_path: Path):
    """A vector of another size, a second opener, a ruined file: each is an IndexFault with a next step."""
    index = EdgeIndex(tmp_path / "shard", SIZE)
    with pytest.raises(IndexFault) as wrong_size:
        index.upsert([point(1, "a.md", "x", np.ones(3, dtype=np.float32))])
    with pytest.raises(IndexFault):
        EdgeIndex(tmp_path / "shard", SIZE)
    assert "infold index" in wrong_size.value.hint
    index.upsert([point(2, "a.md", "x", unit(1))])
    assert index.count() == 1
    index.close()
