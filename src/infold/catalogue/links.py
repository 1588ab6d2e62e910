"""The links of a catalogue's notes: what each says, and the note it leads to.

Whom notes link to, without what the links say, is `Catalogue.outgoing`; where links lead is worked out in
`catalogue.link_targets`.
"""

from __future__ import annotations

from sqlite3 import Connection
from typing import Final

from infold.catalogue.link_blob import (
    NOTHING,
    LinkRow,
    is_wiki,
    names_of,
    pack_targets,
    shown_names_of,
    unpack_links,
    unpack_targets,
)
from infold.catalogue.store import Catalogue, paths_by_id

_LINKS_OF: Final = "SELECT targets, said, places FROM links JOIN files ON id = note WHERE path = ?"
# A cross join, because all files would else be gone through by path, for the order of the few that are wanted.
_LINKS_WITH: Final = (
    "SELECT path, targets, said, places FROM links CROSS JOIN files ON id = note WHERE instr(targets, ?) ORDER BY path"
)


def all_names(catalogue: Catalogue) -> list[tuple[str, str, str | None, bool]]:
    """Every link as far as it decides where it leads: the note that holds it, name, alias, and if it is `[[so]]`."""
    with catalogue.reading() as db:
        rows = db.execute("SELECT path, said FROM links JOIN files ON id = note").fetchall()
    return [(path, name, alias or None, is_wiki(flags)) for path, said in rows for name, alias, flags in names_of(said)]


def links_of(catalogue: Catalogue, path: str) -> list[tuple[LinkRow, str | None]]:
    """The links of the note at `path` in their order: what each says, the note it leads to."""
    with catalogue.reading() as db:
        row = db.execute(_LINKS_OF, (path,)).fetchone()
        if row is None:
            return []
        targets = unpack_targets(row[0])
        paths = paths_by_id(db, set(targets))
    return [(link, paths.get(target)) for link, target in zip(unpack_links(*row[1:]), targets, strict=True)]


def links_to(catalogue: Catalogue, path: str) -> list[tuple[str, LinkRow]]:
    """The links that lead to the note at `path`: the note that holds each, and what it says."""
    with catalogue.reading() as db:
        note = db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        return _links_with(db, note[0]) if note is not None else []


def dangling_links(catalogue: Catalogue) -> list[tuple[str, LinkRow]]:
    """The links that should lead to a note and lead to none: the note that holds each, and what it says."""
    with catalogue.reading() as db:
        return _links_with(db, NOTHING)


def shown_names(catalogue: Catalogue) -> list[tuple[str, str]]:
    """Each note that a link leads to, as a whole, with what the link shows; in the order of the paths they stand in."""
    with catalogue.reading() as db:
        paths = paths_by_id(db)
        rows = {note: row for note, *row in db.execute("SELECT note, targets, said FROM links")}
    return [
        (paths[target], shown)
        for targets, said in (rows[note] for note in paths if note in rows)
        for target, shown in zip(unpack_targets(targets), shown_names_of(said), strict=True)
        if shown and target in paths
    ]


def as_written(link: LinkRow) -> str:
    """A link as a note writes it, but for what makes no difference."""
    target = f"{link.name}#{link.anchor}" if link.anchor else link.name
    mark = "!" if link.is_embed else ""
    if link.is_wiki:
        return f"{mark}[[{target}|{link.alias}]]" if link.alias else f"{mark}[[{target}]]"
    return f"{mark}[{link.alias or target}]({target})"


def _links_with(db: Connection, wanted: int) -> list[tuple[str, LinkRow]]:
    rows = db.execute(_LINKS_WITH, (pack_targets([wanted]),)).fetchall()  # some, where the bytes merely look alike
    return [
        (path, link)
        for path, targets, *links in rows
        if wanted in unpack_targets(targets)
        for link, target in zip(unpack_links(*links), unpack_targets(targets), strict=True)
        if target == wanted
    ]
