"""The words of every point in one tantivy index: BM25 by our own terms, filters, and what a result needs to be shown.

Any number of processes read it, without an owner, while one writes (`index.word_writer`); a reader sees what was
committed with its next question. Terms belong to `search.terms`, which points there are to `index.sync`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, cast

import tantivy
from tantivy import Occur, Query

from infold.errors import IndexFault
from infold.search.index.contract import (
    EVERYTHING,
    NO_DEMANDS,
    NOTHING_FOUND,
    STANDING,
    Demands,
    Filter,
    Hit,
    PointGroup,
    ScoredHits,
    best_first,
)
from infold.search.index.integrity import META, verify
from infold.search.index.point_ids import point_number
from infold.search.index.word_schema import (
    NUMBER,
    WORD_FIELDS,
    WordField,
    all_of,
    conditions,
    demanded,
    filtered,
    numbers_of,
    path_query,
    read_row,
    standing,
    translated,
)

WRITTEN_BOOST: Final = 1.0  # of a word found as it is written, whose weight in a question is less already
_GROUPS: Final = tuple(map(str, PointGroup))
_MOST_POINTS: Final = 8192  # that are held as they were read
_MOST_FREQUENCIES: Final = 16_384  # of terms, likewise
_MOST_COUNTS: Final = 64
_MANY_HOLD: Final = 10_000  # points, of a term that is not worth going through for some of them
_MOST_LISTED: Final = 8  # filters whose numbers are held, of which some 70 bytes each


class WordIndex:
    """The words in `folder`, for reading. For any number of threads. Raises IndexFault where they are damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._list = str(folder / META)
        self._refreshing = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._committed: _Committed | None = None
        with translated(folder, "opening"):
            if not (folder / META).exists():
                raise IndexFault("There is no search index yet.", hint="`infold index` makes it.")
            verify(folder)
            seen = _stamp(self._list)
            self._index: tantivy.Index | None = tantivy.Index.open(str(folder))
            self._schema = self._index.schema
            self._index.config_reader("manual")  # a thread that watches the folder serves no one
            self._index.reload()
            self._committed, self._seen = _Committed(self._index.searcher(), self._schema), seen

    def search(
        self,
        weights: Mapping[str, float],
        limit: int,
        where: Filter = EVERYTHING,
        demands: Demands = NO_DEMANDS,
    ) -> ScoredHits:
        """The points that hold the most telling of these terms, best first (BM25).

        Only those that `where` lets through and whose words are as `demands` has it.
        """
        if not weights or limit < 1:
            return NOTHING_FOUND
        schema, where = self._schema, self._last().needed(where)
        words = Query.boolean_query(
            [
                (Occur.Should, Query.boost_query(Query.term_query(schema, field, term, "freq"), weight * boost))
                for term, weight in weights.items()
                for field, boost in zip(WORD_FIELDS, (1.0, WRITTEN_BOOST), strict=True)
            ]
        )
        query = all_of(words, *conditions(schema, where), *demanded(schema, demands))
        numbers, hits, scores = self._asked(query, limit, "searching")
        order = best_first(hits, scores)
        return ScoredHits([numbers[at] for at in order], [hits[at] for at in order], [scores[at] for at in order])

    def hits(self, ids: Sequence[str], where: Filter = EVERYTHING, demands: Demands = NO_DEMANDS) -> dict[str, Hit]:
        """The points of these ids that are there, that `where` lets through and meet `demands`; their score is 0."""
        return {hit.id: hit for hit in self.numbered([point_number(one) for one in ids], where, demands).values()}

    def numbered(
        self, numbers: Sequence[int], where: Filter = EVERYTHING, demands: Demands = NO_DEMANDS
    ) -> dict[int, Hit]:
        """The points of these numbers that are there, that `where` lets through and meet `demands`, by number."""
        where = self._last().needed(where)
        groups = where.groups
        is_known = demands == NO_DEMANDS and where == Filter(groups=groups)
        known = self._last().known(numbers) if is_known else {}
        missing = [one for one in numbers if one not in known]
        if groups:
            known = {one: hit for one, hit in known.items() if hit.group in groups}
        return known | self.covered({}, missing, where, demands)[0] if missing else known

    def covered(
        self,
        weights: Mapping[str, float],
        numbers: Collection[int],
        where: Filter = EVERYTHING,
        demands: Demands = NO_DEMANDS,
    ) -> tuple[dict[int, Hit], dict[int, float]]:
        """As `numbered`, and of each of these points the weights of the terms that it holds as main ones, added up."""
        if not numbers:
            return {}, {}
        schema = self._schema
        with translated(self.folder, "looking points up"):
            committed = self._last()
            met = (*conditions(schema, committed.needed(where)), *demanded(schema, demands))
            found = standing(committed.searcher, schema, numbers, *met, telling=committed.parted(weights))
            points = committed.read(list(found), [address for _, address in found.values()])
        return dict(zip(found, points, strict=True)), {number: score for number, (score, _) in found.items()}

    def numbers(self, where: Filter) -> frozenset[int]:
        """The numbers of all points that `where` lets through."""
        with translated(self.folder, "listing"):
            committed = self._last()
            return committed.numbers(committed.needed(where))

    def frequencies(self, terms: Collection[str], field: WordField = "words") -> dict[str, int]:
        """In how many points each of these terms stands; as a main one, unless those as written are asked for."""
        with translated(self.folder, "counting words"):
            committed = self._last()
            return {term: committed.frequency(field, term) for term in terms}

    def holding(self, terms: Collection[str], outside: str) -> int:
        """In how many points all of these terms stand as main ones, those of the path `outside` left out."""
        schema = self._schema
        held = [(Occur.Must, Query.term_query(schema, "words", term, "basic")) for term in terms]
        others = Query.boolean_query([*held, (Occur.MustNot, path_query(schema, outside))])
        with translated(self.folder, "counting words"):
            return int(self._searcher().search(others, 1).count) if terms else 0  # type: ignore[attr-defined]

    def beginning(self, start: str, field: WordField = "words", most: int | None = None) -> list[str]:
        """The terms that begin so, those of the most points first."""
        with translated(self.folder, "listing words"):
            return [term for term, _ in self._searcher().terms_with_prefix(field, start, limit=most)]

    def points(self, where: Filter = EVERYTHING, limit: int | None = None, demands: Demands = NO_DEMANDS) -> list[Hit]:
        """Every point that `where` lets through, in no order that means anything; their score is 0."""
        most = self.count(where) if limit is None else limit
        needed = self._last().needed(where)
        everything = all_of(filtered(self._schema, needed), *demanded(self._schema, demands))
        return sorted(self._asked(everything, most, "listing")[1], key=STANDING) if most else []

    def count(self, where: Filter = EVERYTHING) -> int:
        """How many points there are."""
        with translated(self.folder, "counting"):
            committed = self._last()
            needed = committed.needed(where)
            return committed.searcher.num_docs if needed == EVERYTHING else committed.count(needed)

    def close(self) -> None:
        """Lets go. Calling it again does nothing."""
        self._index = self._committed = None

    def _asked(self, query: Query, limit: int, doing: str) -> tuple[list[int], list[Hit], list[float]]:
        """What a query finds, by the engine's order: numbers, points, whose own score is 0, and scores."""
        with translated(self.folder, doing):
            committed = self._last()
            searcher = committed.searcher
            found = searcher.search(query, max(1, min(limit, searcher.num_docs)), count=False).hits
            return committed.points(found)

    def _searcher(self) -> tantivy.Searcher:
        return self._last().searcher

    def _last(self) -> _Committed:
        """What was committed last."""
        if self._index is not None and _stamp(self._list) != self._seen:
            with self._refreshing:
                index, seen = self._index, _stamp(self._list)
                if seen != self._seen and index is not None:
                    index.reload()
                    self._committed, self._seen = _Committed(index.searcher(), self._schema), seen
        committed = self._committed
        if committed is None:
            raise IndexFault("The search index is closed.")
        return committed


class _Committed:
    """The index as of one commit, with what was read of it: the same few things are asked for again and again.

    A search comes upon the same points several times: by words, by meaning, and to compare.
    """

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self.searcher = searcher
        self.frequency = lru_cache(_MOST_FREQUENCIES)(searcher.doc_freq)
        self.count = lru_cache(_MOST_COUNTS)(partial(_count, searcher, schema))
        self.numbers = lru_cache(_MOST_LISTED)(partial(_numbers, searcher, schema))
        self._points: dict[int, Hit] = {}  # by number

    def needed(self, where: Filter) -> Filter:
        """The filter, without groups where no point is of another: it would look at every point that a query finds."""
        others = (group for group in _GROUPS if group not in where.groups)
        if not where.groups or any(self.frequency("group", group.encode()) for group in others):
            return where
        return where._replace(groups=())

    def known(self, numbers: Sequence[int]) -> dict[int, Hit]:
        """Those of these points that were read."""
        points = self._points
        return {one: points[one] for one in numbers if one in points}

    def points(self, found: Sequence[tuple[float, tantivy.DocAddress]]) -> tuple[list[int], list[Hit], list[float]]:
        """The points at these addresses, which are their own in this commit alone: numbers, points and scores."""
        addresses = [address for _, address in found]
        numbers = cast("list[int]", self.searcher.fast_field_values(NUMBER, addresses))
        return numbers, self.read(numbers, addresses), [score for score, _ in found]

    def parted(self, weights: Mapping[str, float]) -> list[Mapping[str, float]]:
        """The terms that few points hold together, each of the others by itself."""
        few = {term: weight for term, weight in weights.items() if self.frequency("words", term) <= _MANY_HOLD}
        many: list[Mapping[str, float]] = [{term: weight} for term, weight in weights.items() if term not in few]
        return [few, *many] if few else many

    def read(self, numbers: Sequence[int], addresses: Sequence[tantivy.DocAddress]) -> list[Hit]:
        """The points of these numbers, which stand at these addresses."""
        known = self._points.get
        return [known(one) or self._point(one, address) for one, address in zip(numbers, addresses, strict=True)]

    def _point(self, number: int, address: tantivy.DocAddress) -> Hit:
        if len(self._points) >= _MOST_POINTS:
            self._points = {}  # another, for one that is read meanwhile
        row = self.searcher.doc(address).get_first("row")
        point = self._points[number] = read_row(number, row or b"")
        return point


def _count(searcher: tantivy.Searcher, schema: tantivy.Schema, where: Filter) -> int:
    return int(searcher.search(filtered(schema, where), 1).count)  # type: ignore[attr-defined]


def _numbers(searcher: tantivy.Searcher, schema: tantivy.Schema, where: Filter) -> frozenset[int]:
    return frozenset(numbers_of(searcher, filtered(schema, where), searcher.num_docs))


def _stamp(file: str) -> tuple[int, int, int]:
    """Of the list of files, which each commit replaces; asked for a dozen times a search."""
    status = os.stat(file)  # noqa: PTH116 - a path would have to be made of it each time
    return status.st_ino, status.st_mtime_ns, status.st_size
