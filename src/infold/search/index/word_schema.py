"""The schema of the index of words: its fields, what is kept of a point, and filters in the engine's own words.

With the engine's errors, what the reader (`index.words`) and the writer (`index.word_writer`) have in common; the three
are all that know tantivy.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, cast

import tantivy
from tantivy import FieldType, Occur, Query

from infold.errors import IndexDamaged, IndexFault, InfoldError, StateUnwritable
from infold.search.index.contract import Demands, Filter, Hit, IndexPoint, folders_of, tags_above
from infold.search.index.point_ids import bucket_of, passage_id, point_number

WordField = Literal["words", "written"]
WORD_FIELDS: Final[tuple[WordField, ...]] = ("words", "written")
DATE: Final = "date"
KEYWORDS: Final = ("path", "folders", "group", "kind", "level", "trust", "tags", "within")
NUMBER: Final = "number"  # of a point, by which engines of vectors know it (`index.point_ids`)
BUCKET: Final = "bucket"  # of a number, by which it is looked up: terms of notes take a seventh of the room
_LOOKED_AT: Final = 32  # points of the same buckets, a point that is looked up: a second look costs more than room
_USUAL: Final[tuple[object, ...]] = ([], None, "passage", "vault", "", "")  # ends of rows that are not kept
_ENDS: Final = len(_USUAL) + 7  # values of a row
_written: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_read: Final = json.JSONDecoder().raw_decode
_PANIC: Final = "PanicException"  # of the engine's own language; no subclass of Exception
_DISK_FULL: Final = "No space left on device"
_CORRUPT: Final = "Data corrupt"
_DENIED: Final = ("Read-only file system", "Permission denied", "ReadOnlyFilesystem", "PermissionDenied")


def new_schema() -> tantivy.Schema:
    """The fields of an index that is made. Keywords are bytes, which have no lengths kept as texts have."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field(NUMBER, fast=True)
    builder.add_unsigned_field(BUCKET, indexed=True)
    for name in KEYWORDS:
        builder.add_bytes_field(name, indexed=True)
    for name in WORD_FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field(DATE, indexed=True)
    builder.add_bytes_field("row", stored=True)
    return builder.build()


def document(point: IndexPoint) -> tantivy.Document:
    """What the index keeps of a point."""
    made, number = tantivy.Document(), point_number(point.id)
    made.add_unsigned(NUMBER, number)
    made.add_unsigned(BUCKET, bucket_of(number))
    shared = point.path, point.group, point.kind, point.level, point.trust, point.tags, point.within
    for name, value in _keywords_of(*shared):
        made.add_bytes(name, value)
    for name in WORD_FIELDS:
        made.add_text(name, getattr(point, name))
    if point.date:
        made.add_unsigned(DATE, _day(point.date))
    made.add_bytes("row", _row(point, number))
    return made


def _row(point: IndexPoint, number: int) -> bytes:
    """What a hit shows of a point; the end is left out where it is as usual.

    What passages of a note have in common stands together: the engine packs what is repeated.
    """
    named = "" if point.id == passage_id(number) else point.id
    ends = [list(tags_above(point.tags)), point.date, point.level, point.trust, point.parent, named]
    while ends and ends[-1] == _USUAL[len(ends) - 1]:
        ends.pop()
    lines = point.end_line - point.start_line
    place = (point.start_line, lines, point.trail, point.path, point.title, point.kind, point.group)
    return _bytes(_written([*place, *ends]))


def read_row(number: int, row: bytes) -> Hit:
    """The point that `document` kept so; its score is 0."""
    values, _ = _read(row.decode("utf-8", "surrogatepass"))
    values += _USUAL[len(values) - _ENDS :] if len(values) < _ENDS else ()
    start, lines, trail, path, title, kind, group, tags, date, level, trust, parent, named = values
    id_ = named or passage_id(number)
    place = path, start, start + lines, tuple(trail), 0.0, title
    return Hit(*place, id_, group, kind, date, tuple(tags), level, trust, parent)


def all_of(query: Query, *more: Query) -> Query:
    """What meets each of these queries."""
    return Query.boolean_query([(Occur.Must, part) for part in (query, *more)]) if more else query


def filtered(schema: tantivy.Schema, where: Filter) -> Query:
    """Every point that `where` lets through."""
    return all_of(Query.all_query(), *conditions(schema, where))


def numbers_of(searcher: tantivy.Searcher, query: Query, most: int) -> list[int]:
    """The numbers of the points that a query finds, read as one column."""
    found = searcher.search(query, max(1, most), count=False).hits
    return cast("list[int]", searcher.fast_field_values(NUMBER, [address for _, address in found]))


def standing(
    searcher: tantivy.Searcher,
    schema: tantivy.Schema,
    numbers: Collection[int],
    *conditions: Query,
    telling: Sequence[Mapping[str, float]] = (),
) -> dict[int, tuple[float, tantivy.DocAddress]]:
    """Where the points of these numbers stand that are there and meet all conditions.

    And the weights of the `telling` terms that each holds as main ones, added up. Those of one mapping are gone through
    together, as far as the furthest point; what many points hold is told for these alone by one that stands by itself.
    """
    wanted, depth = frozenset(numbers), _LOOKED_AT * len(numbers)
    named = Query.const_score_query(any_of(schema, BUCKET, {bucket_of(one) for one in wanted}), 0.0)
    query = all_of(named, *conditions)
    for weights in telling:
        held = [(Occur.Should, _weighed(schema, term, weight)) for term, weight in weights.items()]
        query = Query.boolean_query([(Occur.Must, query), *held])
    while True:
        found = searcher.search(query, max(1, depth), count=False).hits
        if len(found) < depth or not wanted:
            there = cast("list[int]", searcher.fast_field_values(NUMBER, [address for _, address in found]))
            return {one: place for one, place in zip(there, found, strict=True) if one in wanted}
        depth *= 8


def _weighed(schema: tantivy.Schema, term: str, weight: float) -> Query:
    return Query.const_score_query(Query.term_query(schema, WORD_FIELDS[0], term, "basic"), weight)


def point_query(schema: tantivy.Schema, number: int) -> Query:
    """The point of this number."""
    itself = Query.range_query(schema, NUMBER, FieldType.Unsigned, number, number)
    return all_of(Query.term_query(schema, BUCKET, bucket_of(number), "basic"), itself)


def path_query(schema: tantivy.Schema, path: str) -> Query:
    """Every point of this path."""
    return Query.term_query(schema, "path", _bytes(path), "basic")


def any_of(schema: tantivy.Schema, field: str, values: Collection[str | bytes | int]) -> Query:
    """What holds one of these terms: a query of a set would go through all terms there are, for six times as long."""
    return Query.boolean_query([(Occur.Should, Query.term_query(schema, field, value, "basic")) for value in values])


def conditions(schema: tantivy.Schema, where: Filter) -> list[Query]:
    """`where` in the engine's words; they count nothing."""
    parts = [any_of(schema, field, [_bytes(value) for value in values]) for field, values in _matches(where)]
    if where.prefixes:
        below = [_bytes(prefix.strip("/")) for prefix in where.prefixes]
        parts.append(
            Query.boolean_query([(Occur.Should, any_of(schema, field, below)) for field in ("folders", "path")])
        )
    if where.since or where.until:
        first, last = _day(where.since or "0000-00-00"), _day(where.until or "9999-99-99")
        parts.append(Query.range_query(schema, DATE, FieldType.Unsigned, first, last))
    return [Query.const_score_query(part, 0.0) for part in parts]


def demanded(schema: tantivy.Schema, demands: Demands) -> list[Query]:
    """`demands` in the engine's words; they count nothing."""
    begun = [
        Query.boolean_query([(Occur.Should, Query.regex_query(schema, field, _begins(start))) for field in WORD_FIELDS])
        for start in demands.beginnings
    ]
    if demands.without:
        held = [(Occur.MustNot, any_of(schema, field, demands.without)) for field in WORD_FIELDS]
        begun.append(Query.boolean_query([(Occur.Must, Query.all_query()), *held]))
    return [Query.const_score_query(condition, 0.0) for condition in begun]


def _begins(start: str) -> str:
    """The pattern of terms that begin so."""
    return "".join(sign if sign.isalnum() else f"\\{sign}" for sign in start) + ".*"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _day(iso: str) -> int:
    return int(iso.replace("-", ""))


@contextmanager
def translated(folder: Path, doing: str) -> Iterator[None]:
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
        is_damaged = _CORRUPT in said or not isinstance(error, Exception)
        raise (IndexDamaged if is_damaged else IndexFault)(
            f"The search index failed while {doing}: {said}", hint="`infold index` makes it anew where it is damaged."
        ) from error


@lru_cache(maxsize=16)
def _keywords_of(
    path: str, group: str, kind: str, level: str, trust: str, tags: tuple[str, ...], within: tuple[str, ...]
) -> list[tuple[str, bytes]]:
    """The keywords of a point, each with its field; most points of a note have the same."""
    found: dict[str, Iterable[str]] = {
        "path": [path],
        "folders": folders_of(path)[:-1],  # the last is the path
        "group": [str(group)],
        "kind": [kind],
        "level": [level],
        "trust": [trust],
        "tags": tags_above(tags),
        "within": within,
    }
    return [(name, _bytes(value)) for name, values in found.items() for value in values]


def _matches(where: Filter) -> list[tuple[str, list[str]]]:
    """Fields with the values that each has to hold one of; a field may come more than once (every tag is a must)."""
    allowed: list[tuple[str, tuple[str, ...] | None]] = [
        ("path", where.paths),
        ("group", where.groups or None),
        ("kind", where.kinds or None),
        ("level", where.levels or None),
        ("trust", where.trusts or None),
        ("within", where.within or None),
        *(("tags", (tag.strip("#/").casefold(),)) for tag in where.tags),
    ]
    return [(name, [str(value) for value in values]) for name, values in allowed if values is not None]
