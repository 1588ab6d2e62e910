"""The tables of the catalogue, what they depend on beside the notes, and when they are made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.durable.sqlite import Schema
from infold.errors import CatalogueFault

if TYPE_CHECKING:
    from infold.settings import Params

FILE_NAME: Final = "catalogue.sqlite"
VERSION: Final = "6"  # raised when a fact is added, or the parser finds other things
GENERATION: Final = "generation"  # in meta: counts changes, see `catalogue.derived`

# What is known of a file stands apart from what the note says, so that a look at every file reads little. Empty text is
# none; `day` is that of `days.day_of_file`.
_TABLES: Final = (
    *(f"DROP TABLE IF EXISTS {table}" for table in ("files", "notes", "outlines", "links", "derived")),  # earlier ones
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE derived (name TEXT PRIMARY KEY, generation INTEGER NOT NULL, data BLOB NOT NULL)",
    """CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    is_certain INTEGER NOT NULL, day INTEGER NOT NULL, sha256 BLOB NOT NULL)""",
    """CREATE TABLE notes (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, words INTEGER NOT NULL, tokens INTEGER NOT NULL,
    headings BLOB NOT NULL, tags TEXT NOT NULL, aliases TEXT NOT NULL, front_day TEXT NOT NULL,
    origin TEXT NOT NULL, trust TEXT NOT NULL, problem TEXT)""",
    "CREATE INDEX notes_with_problems ON notes (id, problem) WHERE problem IS NOT NULL",
    "CREATE TABLE outlines (id INTEGER PRIMARY KEY, outline BLOB NOT NULL, passages BLOB NOT NULL)",
    # Of notes that have any; see `catalogue.link_blob`.
    "CREATE TABLE links (note INTEGER PRIMARY KEY, targets BLOB NOT NULL, said BLOB NOT NULL, places BLOB NOT NULL)",
)
TABLES_OF_NOTES: Final = (("files", "id"), ("notes", "id"), ("outlines", "id"), ("links", "note"))
SCHEMA: Final = Schema(
    "the catalogue of the notes",
    "files",
    ((), (), (), _TABLES),  # tables of an earlier infold are never read
    CatalogueFault,
    "The next command makes it anew.",
    synchronous="NORMAL",
)


def identity(params: Params) -> str:
    """What the facts of a note depend on beside its text."""
    search = params.search
    return f"facts {VERSION}, passages {search.passage_tokens}/{search.overlap_tokens}/{search.max_passages}"
