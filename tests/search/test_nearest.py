"""What is near in meaning, as far as a filter lets it through: the words say which points there are."""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infold.search.index.contract import Filter, VectorRecord
from infold.search.index.nearest import nearest
from infold.search.index.point_ids import point_number
from infold.search.index.word_writer import WordWriter
from infold.search.index.words import WordIndex
from infold.search.shared.edge import EdgeIndex
from tests.search.filters import FILTERS, POINTS, id_of, lets_through, point

SIZE = 8


def unit(n: int, of: int = 1) -> np.ndarray:
    """A direction of cosine 1 to -1 to the first axis, less the greater `n` is."""
    cosine = 1 - 2 * n / of
    return np.array([cosine, math.sqrt(1 - cosine**2), *[0] * (SIZE - 2)], dtype=np.float32)


class Both:
    """Words and vectors in a folder, written anew for each example."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.vectors = folder, EdgeIndex(folder / "shard", SIZE)
        self._last = 0

    def write(self, points: list) -> WordIndex:
        with closing(WordWriter(self.folder / "words", is_little=True)) as writer:
            writer.replace(list({one.path for one in points}), [])
            writer.delete([id_of(n) for n in range(self._last)])
            writer.replace((), points)
            writer.commit()
        self.vectors.delete([point_number(id_of(n)) for n in range(self._last)])
        self.vectors.put([VectorRecord(point_number(one.id), unit(n, len(points))) for n, one in enumerate(points)])
        self._last = len(points)
        return WordIndex(self.folder / "words")


@pytest.fixture
def both(tmp_path: Path):
    made = Both(tmp_path)
    yield made
    made.vectors.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_points=POINTS, filters=st.lists(FILTERS, min_size=3, max_size=3), limit=st.integers(1, 14))
def test_the_nearest_that_a_filter_lets_through_are_found(both: Both, given_points, filters: list[Filter], limit: int):
    """Groups, kinds, levels, trust, paths, prefixes, nested tags, nodes and days, alone and together.

    The very nearest of what they let through, whether that is little or nearly all, and never fewer than there are.
    """
    points = [point(n, **values) for n, values in enumerate(given_points)]
    with closing(both.write(points)) as words:
        for where in (Filter(), *filters):
            expected = [one.id for one in points if lets_through(where, one)]
            hits = nearest(words, both.vectors, unit(0), limit, where).scored
            assert [hit.id for hit in hits] == expected[:limit]
            assert words.count(where) == len(expected)
            assert set(words.numbers(where)) == {point_number(one) for one in expected}


@pytest.mark.parametrize("few", [1, 30, 150, 299])
def test_what_is_let_through_may_be_the_furthest_of_all(both: Both, few: int):
    """The nearest twenty of points that are further than all others are found, whether few or nearly all are."""
    points = [point(n, "near.md" if n < 300 - few else "far.md") for n in range(300)]
    with closing(both.write(points)) as words:
        hits = nearest(words, both.vectors, unit(0), 20, Filter(paths=("far.md",))).scored
        assert {hit.path for hit in hits} == {"far.md"}
        assert len(hits) == min(20, few)


def test_vectors_of_points_that_are_gone_are_looked_past(both: Both):
    """A vector whose point went is no answer and takes nobody's place."""
    points = [point(n, f"{n % 2}.md") for n in range(60)]
    with closing(both.write(points)) as words:
        with closing(WordWriter(both.folder / "words", is_little=True)) as writer:
            assert set(writer.numbers(["0.md"])) == {point_number(id_of(n)) for n in range(0, 60, 2)}
            writer.replace(["0.md"], [])
            writer.commit()
            assert writer.missing([point_number(id_of(n)) for n in (1, 2, 3)]) == [point_number(id_of(2))]
        hits = nearest(words, both.vectors, unit(0), 30).scored
        assert {hit.id for hit in hits} == {id_of(n) for n in range(1, 60, 2)}
        assert len(hits) == 30
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        some = nearest(words, both.vectors, unit(0), 10).scored
        assert [hit.score for hit in some] == scores[:10]  # which of those rounded alike come first is nobody's promise


def test_what_a_filter_lets_through_is_as_of_the_last_commit(both: Both):
    """Asked twice and again after a commit: a passage that lost its tag is no answer, one that got it is."""
    vectors, tagged = both.vectors, Filter(tags=("bread",))
    numbers = {n: point_number(id_of(n)) for n in range(40)}
    points = [point(n, f"{n}.md", tags=("bread",) if n < 4 else ()) for n in range(40)]
    with closing(both.write(points)) as words:
        for _ in range(2):
            assert [hit.id for hit in nearest(words, vectors, unit(0), 3, tagged).scored] == [
                id_of(n) for n in range(3)
            ]
            assert words.numbers(tagged) == {numbers[n] for n in range(4)}
        with closing(WordWriter(both.folder / "words", is_little=True)) as writer:
            writer.replace(["0.md", "9.md"], [point(0, "0.md"), point(9, "9.md", tags=("bread",))])
            writer.commit()
        assert words.numbers(tagged) == {numbers[n] for n in (1, 2, 3, 9)}
        hits = nearest(words, vectors, unit(0), 4, tagged).scored
        assert [(hit.id, hit.tags) for hit in hits] == [(id_of(n), ("bread",)) for n in (1, 2, 3, 9)]
