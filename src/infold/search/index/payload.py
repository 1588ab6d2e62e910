"""What filters read of a point: the same fields for words and for every engine of vectors.

Plain values in, plain values out; what an engine calls its conditions belongs to the engine's own module.
"""

from __future__ import annotations

from typing import Any, Final

from infold.search.index.contract import Filter, IndexPoint, folders_of, tags_above

DENSE: Final = "dense"  # the name of the one vector
DATE: Final = "date"
KEYWORDS: Final = ("path", "folders", "group", "kind", "level", "trust", "tags", "within")
INDEXED: Final = ("path", "folders", "group", "tags", "within")  # of vectors: what is seldom asked for is looked at


def keywords_of(point: IndexPoint) -> dict[str, list[str]]:
    """The keywords of a point by field; fields that are empty are left out."""
    found: dict[str, list[str]] = {
        "path": [point.path],
        "folders": list(folders_of(point.path)),
        "group": [str(point.group)],
        "kind": [point.kind],
        "level": [point.level],
        "trust": [point.trust],
        "tags": list(tags_above(point.tags)),
        "within": list(point.within),
    }
    return {name: values for name, values in found.items() if values}


def payload_of(point: IndexPoint) -> dict[str, Any]:
    """What an engine keeps beside a vector: keywords, one value by itself, and the day."""
    payload: dict[str, Any] = {
        name: values[0] if len(values) == 1 else values for name, values in keywords_of(point).items()
    }
    if point.date:
        payload[DATE] = point.date
    return payload


def matches(where: Filter) -> list[tuple[str, list[str]]]:
    """Fields with the values that each has to hold one of; a field may come more than once (every tag is a must)."""
    any_of: list[tuple[str, tuple[str, ...] | None]] = [
        ("path", where.paths),
        ("folders", tuple(prefix.strip("/") for prefix in where.prefixes) or None),
        ("group", where.groups or None),
        ("kind", where.kinds or None),
        ("level", where.levels or None),
        ("trust", where.trusts or None),
        ("within", where.within or None),
        *(("tags", (tag.strip("#/").casefold(),)) for tag in where.tags),
    ]
    return [(name, [str(value) for value in values]) for name, values in any_of if values is not None]


def days(where: Filter) -> tuple[str | None, str | None]:
    """The first and the last moment that a date may be; None where there is no bound."""
    return (
        f"{where.since}T00:00:00Z" if where.since else None,
        f"{where.until}T00:00:00Z" if where.until else None,
    )
