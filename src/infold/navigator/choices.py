"""What callers chose and paid for in the navigator: imports, summaries, lenses, places, bills. Never derived."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infold.durable.records import moment
from infold.durable.sqlite import Database, Schema
from infold.errors import NavigatorDamaged
from infold.navigator.lens import Lens

_KEPT: Final = (
    "CREATE TABLE imports (path TEXT PRIMARY KEY, imported_at TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE summaries (
        context_hash TEXT NOT NULL, lens TEXT NOT NULL, node_id TEXT NOT NULL, zoom_level TEXT NOT NULL,
        summary TEXT NOT NULL, content_hash TEXT NOT NULL, model TEXT NOT NULL, created_at TEXT NOT NULL,
        PRIMARY KEY (context_hash, lens)
    ) WITHOUT ROWID""",
    "CREATE TABLE lenses (name TEXT PRIMARY KEY, lens TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE places (caller TEXT PRIMARY KEY, place TEXT NOT NULL, changed_at TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE bills (at TEXT NOT NULL, estimated_tokens INTEGER NOT NULL, paid_tokens INTEGER NOT NULL)",
)
_KEPT_SCHEMA: Final = Schema(
    "the navigator's choices",
    "imports",
    (_KEPT,),
    NavigatorDamaged,
    hint="Restore it from a backup of the state folder, or remove it and import again.",
)


@dataclass(frozen=True, slots=True)
class KeptSummary:
    """A summary that was made: of which content, through which lens ('' for none), by whom."""

    context_hash: str
    lens: str
    node_id: str
    zoom_level: str
    summary: str
    content_hash: str
    model: str
    created_at: str


class NavigatorChoices:
    """The kept file, open. Raises NavigatorDamaged."""

    def __init__(self, path: Path) -> None:
        self._db = Database(path, _KEPT_SCHEMA)
        # A step need not wait for the disk: a power cut may cost the last steps, and nothing that was chosen.
        self._steps = Database(path, _KEPT_SCHEMA._replace(synchronous="NORMAL"))

    def close(self) -> None:
        """Closes it."""
        self._steps.close()
        self._db.close()

    def imports(self) -> dict[str, str]:
        """The notes that were imported, and when."""
        with self._db.reading() as db:
            return dict(db.execute("SELECT path, imported_at FROM imports ORDER BY path").fetchall())

    def choose(self, paths: Iterable[str]) -> None:
        """Notes that a caller imported; those that were chosen before stay as they are."""
        now = moment()
        with self._db.writing() as db:
            db.executemany("INSERT OR IGNORE INTO imports VALUES (?, ?)", [(path, now) for path in paths])

    def summaries(self, context_hashes: Sequence[str], lens: str = "") -> dict[str, str]:
        """The kept summaries of these contents through a lens, by context hash."""
        query = (
            "SELECT context_hash, summary FROM summaries "
            "WHERE lens = ? AND context_hash IN (SELECT value FROM json_each(?))"
        )
        with self._db.reading() as db:
            return dict(db.execute(query, (lens, json.dumps(list(context_hashes)))).fetchall())

    def keep(self, summaries: Iterable[KeptSummary]) -> None:
        """Keeps summaries, durably; a later one of the same content takes the place of the earlier."""
        with self._db.writing() as db:
            db.executemany(
                "INSERT OR REPLACE INTO summaries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (s.context_hash, s.lens, s.node_id, s.zoom_level, s.summary, s.content_hash, s.model, s.created_at)
                    for s in summaries
                ],
            )

    def bill(self, estimated_tokens: int, paid_tokens: int) -> None:
        """Notes what an import was expected to take, and what it took."""
        with self._db.writing() as db:
            db.execute("INSERT INTO bills VALUES (?, ?, ?)", (moment(), estimated_tokens, paid_tokens))

    def bills(self) -> list[tuple[str, int, int]]:
        """When, tokens expected and tokens paid of every import that was paid for."""
        with self._db.reading() as db:
            return db.execute("SELECT * FROM bills ORDER BY rowid").fetchall()

    def billed_share(self) -> float | None:
        """What all imports that were paid for took, as a share of what was expected of them; None where none was."""
        bills = self.bills()
        expected = sum(tokens for _, tokens, _ in bills)
        return round(sum(tokens for _, _, tokens in bills) / expected, 3) if expected else None

    def lenses(self) -> dict[str, Lens]:
        """The lenses that were saved."""
        with self._db.reading() as db:
            rows = db.execute("SELECT name, lens FROM lenses ORDER BY name").fetchall()
        return {name: Lens.model_validate_json(lens) for name, lens in rows}

    def save_lens(self, lens: Lens) -> None:
        """Keeps a lens under its name, in the place of an earlier one."""
        with self._db.writing() as db:
            db.execute("INSERT OR REPLACE INTO lenses VALUES (?, ?)", (lens.name, lens.model_dump_json()))

    def place(self, caller: str) -> dict[str, Any]:
        """Where a caller is: JSON values that `navigator.places` gives a meaning; {} for a new one."""
        with self._steps.reading() as db:
            row = db.execute("SELECT place FROM places WHERE caller = ?", (caller,)).fetchone()
        found: dict[str, Any] = json.loads(row[0]) if row else {}
        return found

    def go(self, caller: str, place: Mapping[str, Any]) -> None:
        """Notes where a caller is now."""
        with self._steps.writing() as db:
            db.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?)", (caller, json.dumps(place), moment()))
