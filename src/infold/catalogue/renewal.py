"""A catalogue made anew beside the one in use, which serves until the new one is whole, and takes over its notes.

For when facts may be wrong that nothing tells from right ones. What to read, and when, belongs to whoever fills it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from infold.catalogue.schema import TABLES_OF_NOTES
from infold.catalogue.store import Catalogue, forget_notes
from infold.errors import CatalogueFault

FILE_NAME: Final = "catalogue.new.sqlite"  # beside the one in use
_PUT_COUNT: Final = (
    "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE "
    "SET value = CAST(value AS INTEGER) + CAST(excluded.value AS INTEGER)"
)


@contextmanager
def renewed(catalogue: Catalogue) -> Iterator[Catalogue]:
    """A catalogue of the same vault that holds nothing yet; `catalogue` holds what is in it at the end.

    That happens at once: who reads meanwhile has all of the one or all of the other. Where nothing was put in, or the
    body raises, `catalogue` stays as it is. For one caller at a time. Raises StateUnwritable and VaultBusy.
    """
    new = _beside(catalogue)
    new.remove()
    try:
        yield new
        if new.count():
            try:
                _take_over(catalogue, new)
            except CatalogueFault:  # damaged so that not even its rows can be replaced
                catalogue.remove()
                _take_over(catalogue, new)
    finally:
        new.remove()


def remove_unfinished(catalogue: Catalogue) -> None:
    """Takes away what a killed renewal left, while none can be under way. Raises StateUnwritable."""
    _beside(catalogue).remove()


def _beside(catalogue: Catalogue) -> Catalogue:
    return Catalogue(catalogue.file.with_name(FILE_NAME), catalogue.vault, catalogue.params)


def _take_over(catalogue: Catalogue, new: Catalogue) -> None:
    """Puts the notes of `new` in place of all that there are; counts of changes go on, for whoever remembers one."""
    with new.reading() as fresh, catalogue.writing() as db:
        days = dict(db.execute("SELECT path, day FROM files").fetchall())
        forget_notes(db)
        for table, _ in TABLES_OF_NOTES:
            rows = fresh.execute(f"SELECT * FROM {table}")  # noqa: S608 - our own tables
            places = ", ".join("?" * len(rows.description))
            db.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608 - our own tables
        seen = fresh.execute("SELECT path, day FROM files").fetchall()
        earlier = [(days[path], path) for path, day in seen if _is_day_before(days.get(path), day)]
        db.executemany("UPDATE files SET day = ? WHERE path = ?", earlier)
        db.executemany(_PUT_COUNT, fresh.execute("SELECT key, value FROM meta WHERE key != 'identity'"))


def _is_day_before(known: object, day: int) -> bool:
    """Whether a file was seen on an earlier day than it was written: nothing but the catalogue knows of that one."""
    return isinstance(known, int) and 0 <= known < day
