"""What filters read of a point, as terms by field. Plain values in, plain values out.

The index of words holds them (`index.words`); engines of vectors know nothing of them.
"""

from __future__ import annotations

from typing import Final

from infold.search.index.contract import Filter, IndexPoint, folders_of, tags_above

DATE: Final = "date"
KEYWORDS: Final = ("path", "folders", "group", "kind", "level", "trust", "tags", "within")


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
