"""Where the links of a vault lead, worked out in the catalogue: for what changed, or for all where names changed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from sqlite3 import Connection
from typing import Final

from infold.vault.links import LinkResolver, alias_table

_LINKS: Final = "SELECT note, ordinal, name, alias, is_wiki, target FROM links"
_LINKS_OF: Final = f"{_LINKS} WHERE note IN (SELECT value FROM json_each(?))"  # noqa: S608 - our own words
_NAMES: Final = "SELECT id, path, aliases FROM files JOIN notes USING (id)"
_MANY: Final = 400  # notes a query


def names(db: Connection) -> dict[int, tuple[str, str]]:
    """Path and aliases (JSON) of each note: what decides where links lead."""
    return {note: (path, aliases) for note, path, aliases in db.execute(_NAMES)}


def resolve_links(db: Connection, notes: Collection[int] | None) -> None:
    """Works out where the links of these notes lead, of all where None is given; only what differs is written.

    Links written alike in one folder are worked out once.
    """
    if notes is not None and not notes:
        return
    named = names(db)
    resolver: LinkResolver | None = None
    ids = {path: note for note, (path, _) in named.items()}
    known: dict[tuple[str, str, str | None, int], int | None] = {}
    changed: list[tuple[int | None, int, int]] = []
    for note, ordinal, name, alias, is_wiki, target in _links(db, notes):
        source = named[note][0]
        key = (source.rpartition("/")[0], name, alias, is_wiki)
        if not name:
            found: int | None = note
        else:
            if key not in known:
                resolver = resolver or _resolver(named.values())
                path = resolver.resolve(name, source) or resolver.resolve_reversed(alias, source, is_wiki=bool(is_wiki))
                known[key] = None if path is None else ids[path]
            found = known[key]
        if found != target:
            changed.append((found, note, ordinal))
    db.executemany("UPDATE links SET target = ? WHERE note = ? AND ordinal = ?", changed)


def _resolver(named: Iterable[tuple[str, str]]) -> LinkResolver:
    rows = list(named)
    return LinkResolver(
        (path for path, _ in rows),
        alias_table((path, json.loads(aliases)) for path, aliases in rows if aliases != "[]"),
    )


def _links(
    db: Connection, notes: Collection[int] | None
) -> Iterator[tuple[int, int, str, str | None, int, int | None]]:
    if notes is None:
        yield from db.execute(_LINKS).fetchall()
        return
    ordered = sorted(notes)
    for first in range(0, len(ordered), _MANY):
        some = json.dumps(ordered[first : first + _MANY])
        yield from db.execute(_LINKS_OF, (some,)).fetchall()
