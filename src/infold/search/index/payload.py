"""How a point is kept beside its vectors, and how a filter reads it: the same fields for every Qdrant engine.

Plain values in, plain values out; what an engine calls its conditions belongs to the engine's own module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from infold.search.index.contract import Filter, Hit, IndexPoint, folders_of, tags_above

DENSE: Final = "dense"
SPARSE: Final = "bm25"
DATE: Final = "date"
FOLDERS: Final = "folders"  # only filters use it: a prefix is one of them
KEYWORDS: Final = ("path", FOLDERS, "source", "kind", "level", "trust", "tags")


def payload_of(point: IndexPoint) -> dict[str, Any]:
    """What is kept of a point beside its vectors; fields that are empty are left out."""
    payload: dict[str, Any] = {
        "path": point.path,
        "line": point.start_line,
        "end": point.end_line,
        "title": point.title,
        "trail": list(point.trail),
        "kind": point.kind,
        "source": point.source,
        "level": point.level,
        "trust": point.trust,
        FOLDERS: list(folders_of(point.path)),
    }
    if point.date:
        payload[DATE] = point.date
    if point.tags:
        payload["tags"] = list(tags_above(point.tags))
    if point.parent:
        payload["parent"] = point.parent
    return payload


def hit_of(point: str, payload: Mapping[str, Any], score: float) -> Hit:
    """The hit that a found point is. Raises KeyError where the payload is none of ours."""
    return Hit(
        path=payload["path"],
        start_line=payload["line"],
        end_line=payload["end"],
        trail=tuple(payload["trail"]),
        score=score,
        title=payload["title"],
        id=point,
        source=payload["source"],
        kind=payload["kind"],
        date=payload.get(DATE),
        tags=tuple(payload.get("tags", ())),
        level=payload["level"],
        trust=payload["trust"],
        parent=payload.get("parent", ""),
    )


def matches(where: Filter) -> list[tuple[str, list[str]]]:
    """Fields with the values that each has to hold one of; a field may come more than once (every tag is a must)."""
    any_of: list[tuple[str, tuple[str, ...] | None]] = [
        ("path", where.paths),
        (FOLDERS, tuple(prefix.strip("/") for prefix in where.prefixes) or None),
        ("source", where.sources or None),
        ("kind", where.kinds or None),
        ("level", where.levels or None),
        ("trust", where.trusts or None),
        *(("tags", (tag.strip("#/").casefold(),)) for tag in where.tags),
    ]
    return [(name, list(values)) for name, values in any_of if values is not None]


def days(where: Filter) -> tuple[str | None, str | None]:
    """The first and the last moment that a date may be; None where there is no bound."""
    return (
        f"{where.since}T00:00:00Z" if where.since else None,
        f"{where.until}T00:00:00Z" if where.until else None,
    )
