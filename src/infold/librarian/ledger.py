"""What was spent on each day, for all processes of one vault: the caps of a day hold whoever spends.

A call enters what it may take before it is sent, and what it took when it has come. Where a process is killed between
the two, the day keeps what was entered: the call may have been paid. Caps of one run belong to `librarian.spend`.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from infold.durable.sqlite import Database, Schema
from infold.errors import CapReached, StateUnwritable

_TABLE: Final = (
    "CREATE TABLE spent (id INTEGER PRIMARY KEY, day TEXT NOT NULL, tokens INTEGER NOT NULL, usd REAL NOT NULL)",
    "CREATE INDEX spent_day ON spent (day)",
)
SCHEMA: Final = Schema(
    "the ledger of what was spent",
    "spent",
    (_TABLE,),
    StateUnwritable,
    hint="Remove the file; what was spent today is forgotten with it.",
)


@dataclass(frozen=True, slots=True)
class DaySpent:
    """What one day took; dollars are those of calls whose price is known."""

    day: str
    tokens: int
    usd: float


class Ledger:
    """The entries in `file`, made by the first of them. For any number of threads and processes."""

    def __init__(self, file: Path, *, max_usd: float | None = None, max_tokens: int | None = None) -> None:
        """The caps are those of a day, local time; None is no cap."""
        self._file = file
        self.max_usd, self.max_tokens = max_usd, max_tokens

    def enter(self, tokens: int, usd: float) -> int:
        """Room for one call; gives the entry's id. Raises CapReached where the day might pass a cap with it."""
        day = _today()
        with closing(Database(self._file, SCHEMA)) as opened, opened.writing() as db:
            spent = _of(db, day)
            if self.max_tokens is not None and spent.tokens + tokens > self.max_tokens:
                raise CapReached(
                    f"The next call may take {tokens} tokens; of {self.max_tokens} a day, {spent.tokens} are spent.",
                    hint="Raise librarian.max_tokens_per_day, or go on tomorrow: what is done is kept.",
                )
            if self.max_usd is not None and spent.usd + usd > self.max_usd:
                raise CapReached(
                    f"The next call may cost {usd:.4f} USD; of {self.max_usd:.4f} a day, {spent.usd:.4f} are spent.",
                    hint="Raise librarian.max_usd_per_day, or go on tomorrow: what is done is kept.",
                )
            row = db.execute("INSERT INTO spent (day, tokens, usd) VALUES (?, ?, ?)", (day, tokens, usd))
            return int(row.lastrowid or 0)

    def settle(self, entry: int, tokens: int, usd: float) -> None:
        """What the call really took, in the place of what was entered."""
        with closing(Database(self._file, SCHEMA)) as opened, opened.writing() as db:
            db.execute("UPDATE spent SET tokens = ?, usd = ? WHERE id = ?", (tokens, usd, entry))

    def release(self, entry: int) -> None:
        """Takes the entry away: the call was not paid."""
        with closing(Database(self._file, SCHEMA)) as opened, opened.writing() as db:
            db.execute("DELETE FROM spent WHERE id = ?", (entry,))

    def today(self) -> DaySpent:
        """What this day took so far, calls under way included."""
        day = _today()
        if not self._file.exists():
            return DaySpent(day, 0, 0.0)
        with closing(Database(self._file, SCHEMA)) as opened, opened.reading() as db:
            return _of(db, day)


def _of(db: sqlite3.Connection, day: str) -> DaySpent:
    (tokens, usd) = db.execute(
        "SELECT coalesce(sum(tokens), 0), coalesce(sum(usd), 0) FROM spent WHERE day = ?", (day,)
    ).fetchone()
    return DaySpent(day, int(tokens), float(usd))


def _today() -> str:
    return date.today().isoformat()  # noqa: DTZ011 - the person's own day
