"""What is worked out of the whole catalogue, and kept in it until a note changes: a graph's arrays, say.

What it means belongs to whoever asks. A catalogue that cannot be written to answers as well, each time anew.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from sqlite3 import Connection

from infold.catalogue.schema import GENERATION
from infold.catalogue.store import Catalogue
from infold.errors import StateUnwritable, VaultBusy


def kept(catalogue: Catalogue, name: str, make: Callable[[], bytes]) -> bytes:
    """What is kept under `name`, else what `make` gives, which is kept.

    Where notes change while it is made, it is of either state, and made anew the next time.
    """
    with catalogue.reading() as db:
        now = generation(db)
        row = db.execute("SELECT data FROM derived WHERE name = ? AND generation = ?", (name, now)).fetchone()
    if row is not None:
        return bytes(row[0])
    data = make()
    _keep(catalogue, name, now, data)
    return data


def kept_while(
    catalogue: Catalogue, name: str, how: str, content: Callable[[], str], make: Callable[[], bytes]
) -> bytes:
    """What is kept under `name` while no note changed, or `content` (a hash) is the same; else what `make` gives, kept.

    For what is worked out of a part of the notes: `content` is asked only where notes changed. `how` (a hash) is all
    that it depends on beside the notes.
    """
    with catalogue.reading() as db:
        now = generation(db)
        row = db.execute("SELECT generation, data FROM derived WHERE name = ?", (name,)).fetchone()
    seen, held = row if row is not None else (None, b"")
    basis = how.encode()
    if seen == now and held.startswith(basis):
        return bytes(held[2 * len(basis) :])
    mark = basis + content().encode()
    data = bytes(held[len(mark) :]) if held.startswith(mark) else make()
    _keep(catalogue, name, now, mark + data)
    return data


def found_of(catalogue: Catalogue, name: str, content: str) -> bytes | None:
    """What is kept under `name` of this content; None where nothing is, or of another."""
    mark = content.encode()
    with catalogue.reading() as db:
        row = db.execute("SELECT data FROM derived WHERE name = ?", (name,)).fetchone()
    return bytes(row[0][len(mark) :]) if row is not None and row[0].startswith(mark) else None


def put_of(catalogue: Catalogue, name: str, content: str, data: bytes) -> None:
    """Keeps `data` under `name` of this content (a hash), in place of what was kept there."""
    _keep(catalogue, name, generation_of(catalogue), content.encode() + data)


def is_marked(catalogue: Catalogue, name: str, mark: str) -> bool:
    """Whether `mark` was put under `name` with the notes as they are now."""
    with catalogue.reading() as db:
        wanted = name, generation(db), mark.encode()
        query = "SELECT 1 FROM derived WHERE name = ? AND generation = ? AND data = ?"
        return db.execute(query, wanted).fetchone() is not None


def put_mark(catalogue: Catalogue, name: str, mark: str, seen: int) -> None:
    """Puts `mark` under `name`, of the notes as they were in the generation `seen`."""
    _keep(catalogue, name, seen, mark.encode())


def generation_of(catalogue: Catalogue) -> int:
    """The number of changes that this catalogue has seen."""
    with catalogue.reading() as db:
        return generation(db)


def generation(db: Connection) -> int:
    """The number of changes that this catalogue has seen."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (GENERATION,)).fetchone()
    return int(row[0]) if row else 0


def _keep(catalogue: Catalogue, name: str, seen: int, data: bytes) -> None:
    with suppress(StateUnwritable, VaultBusy), catalogue.writing() as db:
        db.execute("INSERT OR REPLACE INTO derived VALUES (?, ?, ?)", (name, seen, data))
