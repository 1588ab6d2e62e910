"""Where the links of a vault lead, worked out in the catalogue: for what changed, or for all where names changed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from sqlite3 import Connection
from typing import Final

from infold.catalogue.link_blob import is_wiki, names_of, no_target, pack_targets
from infold.catalogue.records import strings
from infold.vault.links import LinkResolver, alias_table

_LINKS: Final = "SELECT note, targets, said FROM links"
_LINKS_OF: Final = f"{_LINKS} WHERE note IN (SELECT value FROM json_each(?))"  # noqa: S608 - our own words
_NAMES: Final = "SELECT id, path, aliases FROM files JOIN notes USING (id)"
_MANY: Final = 400  # notes a query


def resolve_links(db: Connection, notes: Collection[int] | None) -> None:
    """Works out where the links of these notes lead, of all where None is given; only what differs is written.

    Links written alike in one folder are worked out once.
    """
    if notes is not None and not notes:
        return
    named = {note: (path, aliases) for note, path, aliases in db.execute(_NAMES)}
    resolver: LinkResolver | None = None
    ids = {path: note for note, (path, _) in named.items()}
    known: dict[tuple[str, str, str, int], int] = {}
    changed: list[tuple[bytes, int]] = []
    for note, targets, said in _links(db, notes):
        source = named[note][0]
        folder = source.rpartition("/")[0]
        found: list[int] = []
        for name, alias, flags in names_of(said):
            if not name:
                found.append(note)
                continue
            key = folder, name, alias, flags
            target = known.get(key)
            if target is None:
                resolver = resolver or _resolver(named.values())
                wiki = is_wiki(flags)
                path = resolver.resolve(name, source) or resolver.resolve_reversed(alias, source, is_wiki=wiki)
                target = known[key] = no_target(flags) if path is None else ids[path]
            found.append(target)
        packed = pack_targets(found)
        if packed != targets:
            changed.append((packed, note))
    db.executemany("UPDATE links SET targets = ? WHERE note = ?", changed)


def _resolver(named: Iterable[tuple[str, str]]) -> LinkResolver:
    rows = list(named)
    return LinkResolver(
        (path for path, _ in rows), alias_table((path, strings(aliases)) for path, aliases in rows if aliases)
    )


def _links(db: Connection, notes: Collection[int] | None) -> Iterator[tuple[int, bytes, bytes]]:
    if notes is None:
        yield from db.execute(_LINKS).fetchall()
        return
    ordered = sorted(notes)
    for first in range(0, len(ordered), _MANY):
        some = json.dumps(ordered[first : first + _MANY])
        yield from db.execute(_LINKS_OF, (some,)).fetchall()
