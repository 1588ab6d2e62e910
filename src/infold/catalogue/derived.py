"""What is worked out of the whole catalogue, and kept in it until a note changes: a graph's arrays, say.

What it means belongs to whoever asks. A catalogue that cannot be written to answers as well, each time anew.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from sqlite3 import Connection

from infold.catalogue.store import GENERATION, Catalogue
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
    with suppress(StateUnwritable, VaultBusy), catalogue.writing() as db:
        db.execute("INSERT OR REPLACE INTO derived VALUES (?, ?, ?)", (name, now, data))
    return data


def generation(db: Connection) -> int:
    """The number of changes that this catalogue has seen."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (GENERATION,)).fetchone()
    return int(row[0]) if row else 0
