"""The words of every point in one tantivy index: BM25 by our own terms, filters, and what a result needs to be shown.

Any number of processes read it, without an owner, while one writes; whoever writes holds the turn to sync. What was
written is there for all after `commit`, whole or not at all, and a reader sees it with its next question. The one
module that knows tantivy. Terms belong to `search.terms`, which points there are to `index.sync`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal

import tantivy
from tantivy import FieldType, Occur, Query

from infold.errors import IndexFault, InfoldError, StateUnwritable
from infold.search.index.contract import EVERYTHING, NO_DEMANDS, Demands, Filter, Hit, IndexPoint, tags_above
from infold.search.index.filter_terms import DATE, KEYWORDS, keywords_of, matches
from infold.search.index.integrity import META, seal, verify
from infold.search.index.point_ids import point_number

NUMBER: Final = "number"  # of a point, by which engines of vectors know it (`index.point_ids`)
WRITTEN_BOOST: Final = 1.0  # of a word found as it is written, whose weight in a question is less already
_HEAP_BYTES: Final = 60_000_000  # of what is written before a part of the index is made of it
_LITTLE_BYTES: Final = 15_000_000
_PANIC: Final = "PanicException"  # of the engine's own language; no subclass of Exception
_DISK_FULL: Final = "No space left on device"
_DENIED: Final = ("Read-only file system", "Permission denied", "ReadOnlyFilesystem", "PermissionDenied")

_STORED: Final = tuple(field.name for field in fields(Hit) if field.name != "score")
_values_of = attrgetter(*_STORED)
_MOST_POINTS: Final = 8192  # that are held as they were read
_MOST_FREQUENCIES: Final = 16_384  # of terms, likewise
_MOST_COUNTS: Final = 64
_TUPLES: Final = ("trail", "tags")

WordField = Literal["words", "written"]
_FIELDS: Final[tuple[WordField, ...]] = ("words", "written")


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(NUMBER, indexed=True, fast=True)
    for name in KEYWORDS:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("words", "written"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field(DATE, indexed=True)
    builder.add_bytes_field("row", stored=True)
    return builder.build()


class WordIndex:
    """The words in `folder`, for reading. For any number of threads. Raises IndexFault where they are damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._refreshing = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._committed: _Committed | None = None
        with _translated(folder, "opening"):
            if not (folder / META).exists():
                raise IndexFault("There is no search index yet.", hint="`infold index` makes it.")
            verify(folder)
            seen = _stamp(folder)
            self._index: tantivy.Index | None = tantivy.Index.open(str(folder))
            self._schema = self._index.schema
            self._index.config_reader("manual")  # a thread that watches the folder serves no one
            self._index.reload()
            self._committed, self._seen = _Committed(self._index.searcher()), seen

    def search(
        self,
        weights: Mapping[str, float],
        limit: int,
        where: Filter = EVERYTHING,
        demands: Demands = NO_DEMANDS,
    ) -> list[Hit]:
        """The points that hold the most telling of these terms, best first (BM25).

        Only those that `where` lets through and whose words are as `demands` has it.
        """
        if not weights or limit < 1:
            return []
        schema = self._schema
        words = Query.boolean_query(
            [
                (Occur.Should, Query.boost_query(Query.term_query(schema, field, term, "freq"), weight * boost))
                for term, weight in weights.items()
                for field, boost in zip(_FIELDS, (1.0, WRITTEN_BOOST), strict=True)
            ]
        )
        return self._found(_all_of(words, *_conditions(schema, where), *_demanded(schema, demands)), limit, "searching")

    def hits(self, ids: Sequence[str], where: Filter = EVERYTHING, demands: Demands = NO_DEMANDS) -> dict[str, Hit]:
        """The points of these ids that are there, that `where` lets through and meet `demands`; their score is 0."""
        return {hit.id: hit for hit in self.numbered([point_number(one) for one in ids], where, demands).values()}

    def numbered(
        self, numbers: Sequence[int], where: Filter = EVERYTHING, demands: Demands = NO_DEMANDS
    ) -> dict[int, Hit]:
        """The points of these numbers that are there, that `where` lets through and meet `demands`, by number."""
        groups = where.groups
        is_known = demands == NO_DEMANDS and where == Filter(groups=groups)
        known = self._last().known(numbers) if is_known else {}
        missing = [one for one in numbers if one not in known]
        if groups:
            known = {one: hit for one, hit in known.items() if hit.group in groups}
        if missing:
            named = _any_of(self._schema, NUMBER, missing)
            conditions = *_conditions(self._schema, where), *_demanded(self._schema, demands)
            found = self._asked(_all_of(named, *conditions), len(missing), "looking points up")
            known |= {point_number(hit.id): hit for _, hit in found}
        return known

    def numbers(self, where: Filter) -> list[int]:
        """The numbers of all points that `where` lets through, in no order that means anything."""
        with _translated(self.folder, "listing"):
            committed = self._last()
            return _numbers(committed.searcher, _of(self._schema, where), committed.count(self._schema, where))

    def frequencies(self, terms: Collection[str], field: WordField = "words") -> dict[str, int]:
        """In how many points each of these terms stands; as a main one, unless those as written are asked for."""
        with _translated(self.folder, "counting words"):
            committed = self._last()
            return {term: committed.frequency(field, term) for term in terms}

    def holding(self, terms: Collection[str], outside: str) -> int:
        """In how many points all of these terms stand as main ones, those of the path `outside` left out."""
        schema = self._schema
        held = [(Occur.Must, Query.term_query(schema, "words", term, "basic")) for term in terms]
        others = Query.boolean_query([*held, (Occur.MustNot, Query.term_query(schema, "path", outside, "basic"))])
        with _translated(self.folder, "counting words"):
            return int(self._searcher().search(others, 1).count) if terms else 0  # type: ignore[attr-defined]

    def beginning(self, start: str, field: WordField = "words", most: int | None = None) -> list[str]:
        """The terms that begin so, those of the most points first."""
        with _translated(self.folder, "listing words"):
            return [term for term, _ in self._searcher().terms_with_prefix(field, start, limit=most)]

    def covered(self, weights: Mapping[str, float], ids: Sequence[str]) -> dict[str, float]:
        """Of each of these points, the weights of the terms that it holds as main ones, added up; 0 is left out."""
        if not weights or not ids:
            return {}
        schema = self._schema
        held = Query.boolean_query(
            [
                (Occur.Should, Query.const_score_query(Query.term_query(schema, "words", term, "basic"), weight))
                for term, weight in weights.items()
            ]
        )
        named = Query.const_score_query(_any_of(schema, NUMBER, [point_number(one) for one in ids]), 0.0)
        return {hit.id: score for score, hit in self._asked(_all_of(held, named), len(ids), "looking points up")}

    def points(self, where: Filter = EVERYTHING, limit: int | None = None, demands: Demands = NO_DEMANDS) -> list[Hit]:
        """Every point that `where` lets through, in no order that means anything; their score is 0."""
        most = self.count(where) if limit is None else limit
        everything = _all_of(_of(self._schema, where), *_demanded(self._schema, demands))
        return self._found(everything, most, "listing", scale=0.0) if most else []

    def count(self, where: Filter = EVERYTHING) -> int:
        """How many points there are."""
        with _translated(self.folder, "counting"):
            committed = self._last()
            return committed.searcher.num_docs if where == EVERYTHING else committed.count(self._schema, where)

    def close(self) -> None:
        """Lets go. Calling it again does nothing."""
        self._index = self._committed = None

    def _found(self, query: Query, limit: int, doing: str, scale: float = 1.0) -> list[Hit]:
        """The points that a query finds, best first; `scale` 0 has them alike."""
        found = self._asked(query, limit, doing)
        hits = [hit.scored(scale * score) for score, hit in found] if scale else [hit for _, hit in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.start_line, hit.id))

    def _asked(self, query: Query, limit: int, doing: str) -> list[tuple[float, Hit]]:
        """What a query finds, by the engine's order: scores, and points whose own score is 0."""
        with _translated(self.folder, doing):
            committed = self._last()
            searcher = committed.searcher
            found = searcher.search(query, max(1, min(limit, searcher.num_docs)), count=False).hits
            return committed.points(found)

    def _searcher(self) -> tantivy.Searcher:
        return self._last().searcher

    def _last(self) -> _Committed:
        """What was committed last."""
        if self._index is not None and _stamp(self.folder) != self._seen:
            with self._refreshing:
                index, seen = self._index, _stamp(self.folder)
                if seen != self._seen and index is not None:
                    index.reload()
                    self._committed, self._seen = _Committed(index.searcher()), seen
        committed = self._committed
        if committed is None:
            raise IndexFault("The search index is closed.")
        return committed


class _Committed:
    """The index as of one commit, with the points that were read of it.

    A search comes upon the same points several times: by words, by meaning, and to compare.
    """

    def __init__(self, searcher: tantivy.Searcher) -> None:
        self.searcher = searcher
        self._points: dict[tuple[int, int], Hit] = {}
        self._by_number: dict[int, Hit] = {}
        self._frequencies: dict[tuple[str, str], int] = {}
        self._counts: dict[Filter, int] = {}

    def frequency(self, field: WordField, term: str) -> int:
        """In how many points a term stands."""
        key = field, term
        known = self._frequencies.get(key)
        if known is None:
            if len(self._frequencies) >= _MOST_FREQUENCIES:
                self._frequencies.clear()
            known = self._frequencies[key] = int(self.searcher.doc_freq(field, term))
        return known

    def known(self, numbers: Sequence[int]) -> dict[int, Hit]:
        """Those of these points that were read."""
        by_number = self._by_number
        return {one: by_number[one] for one in numbers if one in by_number}

    def count(self, schema: tantivy.Schema, where: Filter) -> int:
        """How many points a filter lets through; the same few are asked for again and again."""
        known = self._counts.get(where)
        if known is None:
            if len(self._counts) >= _MOST_COUNTS:
                self._counts.clear()
            found = self.searcher.search(_of(schema, where), 1)
            known = self._counts[where] = int(found.count)  # type: ignore[attr-defined]
        return known

    def points(self, found: Sequence[tuple[float, tantivy.DocAddress]]) -> list[tuple[float, Hit]]:
        """The points at these addresses, which are their own in this commit alone, with the scores."""
        read = self._points
        keys = [(address.segment_ord, address.doc) for _, address in found]
        return [
            (score, read.get(key) or self._point(key, address))
            for key, (score, address) in zip(keys, found, strict=True)
        ]

    def _point(self, key: tuple[int, int], address: tantivy.DocAddress) -> Hit:
        if len(self._points) >= _MOST_POINTS:
            self._points.clear()
            self._by_number = {}  # another, for one that is read meanwhile
        row = self.searcher.doc(address).get_first("row")
        point = self._points[key] = _read_row(row or b"{}")
        self._by_number[point_number(point.id)] = point
        return point


class WordWriter:
    """Writes the words in `folder`, made where there are none. One at a time; nobody sees it before `commit`."""

    def __init__(self, folder: Path, *, is_little: bool = False) -> None:
        self.folder = folder
        with _translated(folder, "opening"):
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / META).exists():
                verify(folder)
                self._index = tantivy.Index.open(str(folder))
            else:
                self._index = tantivy.Index(_schema(), path=str(folder))
            heap = _LITTLE_BYTES if is_little else _HEAP_BYTES
            self._writer: tantivy.IndexWriter | None = self._index.writer(heap, 1)

    def replace(self, paths: Sequence[str], points: Sequence[IndexPoint]) -> None:
        """Takes away every point of these paths and adds these points."""
        writer = self._open
        with _translated(self.folder, "writing"):
            for path in paths:
                writer.delete_documents_by_term("path", path)
            for point in points:
                writer.add_document(_document(point))

    def put(self, points: Sequence[IndexPoint]) -> None:
        """Adds the points, in place of those with the same id."""
        self.delete([point.id for point in points])
        self.replace((), points)

    def delete(self, ids: Sequence[str]) -> None:
        """Takes these points away; an id that is not there is passed over."""
        writer = self._open
        with _translated(self.folder, "deleting"):
            for one in ids:  # by query: by a term that is a number the engine deletes nothing, and says nothing
                named = Query.term_query(self._index.schema, NUMBER, point_number(one), "basic")
                writer.delete_documents_by_query(named)

    def commit(self) -> None:
        """Makes all that was written since the last commit durable, and visible, at once."""
        with _translated(self.folder, "writing"):
            self._open.commit()

    def count(self) -> int:
        """How many points were committed."""
        with _translated(self.folder, "counting"):
            return int(self._index.searcher().num_docs)

    def numbers(self, paths: Sequence[str]) -> list[int]:
        """The numbers of the points of these paths, as committed."""
        with _translated(self.folder, "listing"):
            searcher = self._committed()
            where = _of(self._index.schema, Filter(paths=tuple(paths)))
            return _numbers(searcher, where, searcher.num_docs) if paths else []

    def missing(self, numbers: Collection[int]) -> list[int]:
        """Those of these numbers that no point has, as committed."""
        with _translated(self.folder, "looking points up"):
            there = _numbers(self._committed(), _any_of(self._index.schema, NUMBER, numbers), len(numbers))
        return sorted(set(numbers).difference(there))

    def _committed(self) -> tantivy.Searcher:
        self._index.reload()
        return self._index.searcher()

    def close(self) -> None:
        """Ends what is being tidied up and lets go; what was not committed is forgotten. Again does nothing."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with _translated(self.folder, "closing"):
                writer.wait_merging_threads()
                seal(self.folder)

    @property
    def _open(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise IndexFault("The search index is closed.")
        return self._writer


def _document(point: IndexPoint) -> tantivy.Document:
    document = tantivy.Document()
    document.add_unsigned(NUMBER, point_number(point.id))
    for name, values in keywords_of(point).items():
        for value in values:
            document.add_text(name, value)
    document.add_text("words", point.words)
    document.add_text("written", point.written)
    if point.date:
        document.add_unsigned(DATE, _day(point.date))
    document.add_bytes("row", _row(point))
    return document


def _row(point: IndexPoint) -> bytes:
    """What a hit shows of a point, by name; fields that are empty are left out."""
    row = {name: value for name, value in zip(_STORED, _values_of(point), strict=True) if value not in {"", None, ()}}
    if point.tags:
        row["tags"] = tags_above(point.tags)
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _read_row(row: bytes) -> Hit:
    """What `_row` wrote."""
    values: dict[str, Any] = json.loads(row)
    for name in _TUPLES:
        values[name] = tuple(values.get(name, ()))
    return Hit(score=0.0, **values)


def _all_of(query: Query, *conditions: Query) -> Query:
    return Query.boolean_query([(Occur.Must, part) for part in (query, *conditions)]) if conditions else query


def _of(schema: tantivy.Schema, where: Filter) -> Query:
    """Every point that `where` lets through."""
    return _all_of(Query.all_query(), *_conditions(schema, where))


def _numbers(searcher: tantivy.Searcher, query: Query, most: int) -> list[int]:
    """The numbers of the points that a query finds. Asked for as their order, they come without a point being read."""
    return [int(number) for number, _ in searcher.search(query, max(1, most), count=False, order_by_field=NUMBER).hits]


def _any_of(schema: tantivy.Schema, field: str, values: Collection[str] | Collection[int]) -> Query:
    """What holds one of these terms: a query of a set would go through all terms there are, for six times as long."""
    return Query.boolean_query([(Occur.Should, Query.term_query(schema, field, value, "basic")) for value in values])


def _conditions(schema: tantivy.Schema, where: Filter) -> list[Query]:
    """`where` in the engine's words; they count nothing."""
    conditions = [_any_of(schema, field, values) for field, values in matches(where)]
    if where.since or where.until:
        first, last = _day(where.since or "0000-00-00"), _day(where.until or "9999-99-99")
        conditions.append(Query.range_query(schema, DATE, FieldType.Unsigned, first, last))
    return [Query.const_score_query(condition, 0.0) for condition in conditions]


def _demanded(schema: tantivy.Schema, demands: Demands) -> list[Query]:
    """`demands` in the engine's words; they count nothing."""
    begun = [
        Query.boolean_query([(Occur.Should, Query.regex_query(schema, field, _begins(start))) for field in _FIELDS])
        for start in demands.beginnings
    ]
    if demands.without:
        held = [(Occur.MustNot, _any_of(schema, field, demands.without)) for field in _FIELDS]
        begun.append(Query.boolean_query([(Occur.Must, Query.all_query()), *held]))
    return [Query.const_score_query(condition, 0.0) for condition in begun]


def _begins(start: str) -> str:
    """The pattern of terms that begin so."""
    return "".join(sign if sign.isalnum() else f"\\{sign}" for sign in start) + ".*"


def _day(iso: str) -> int:
    return int(iso.replace("-", ""))


def _stamp(folder: Path) -> tuple[int, int, int]:
    """Of the list of files, which each commit replaces."""
    status = (folder / META).stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


@contextmanager
def _translated(folder: Path, doing: str) -> Iterator[None]:
    """The engine raises ValueError for everything, and panics beside it: the one place that turns both into ours."""
    try:
        yield
    except InfoldError:
        raise
    except BaseException as error:
        if not (isinstance(error, Exception) or type(error).__name__ == _PANIC):
            raise
        said = str(error)
        if _DISK_FULL in said or "StorageFull" in said:
            raise StateUnwritable(f"The search index cannot be written: {said}", hint="Free disk space.") from error
        if any(sign in said for sign in _DENIED):
            raise StateUnwritable(
                f"The search index in {folder} cannot be used: {said}", hint="Set the permissions right."
            ) from error
        raise IndexFault(
            f"The search index failed while {doing}: {said}", hint="`infold index` makes it anew where it is damaged."
        ) from error
