"""The tables of the catalogue, what they depend on beside the notes, and when they are made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from infold.durable.sqlite import Schema
from infold.errors import CatalogueFault

if TYPE_CHECKING:
    from infold.settings import Params

FILE_NAME: Final = "catalogue.sqlite"
VERSION: Final = "4"  # raised when a fact is added, or the parser finds other things
GENERATION: Final = "generation"  # in meta: counts changes, see `catalogue.derived`

_TABLES: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # Apart from what the note says, so that a look at every file reads little.
    """CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL, file_day TEXT NOT NULL, sha256 TEXT NOT NULL)""",
    """CREATE TABLE notes (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, words INTEGER NOT NULL, tokens INTEGER NOT NULL,
    headings TEXT NOT NULL, tags TEXT NOT NULL, aliases TEXT NOT NULL,
    properties TEXT NOT NULL, front_day TEXT, origin TEXT NOT NULL, trust TEXT NOT NULL, problem TEXT)""",
    "CREATE INDEX notes_with_problems ON notes (id, problem) WHERE problem IS NOT NULL",
    "CREATE TABLE outlines (id INTEGER PRIMARY KEY, outline BLOB NOT NULL, passages BLOB NOT NULL)",
    """CREATE TABLE links (
    note INTEGER NOT NULL, ordinal INTEGER NOT NULL, name TEXT NOT NULL, anchor TEXT NOT NULL,
    alias TEXT, is_wiki INTEGER NOT NULL, is_embed INTEGER NOT NULL, is_attachment INTEGER NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, line INTEGER NOT NULL, target INTEGER,
    PRIMARY KEY (note, ordinal)) WITHOUT ROWID""",
    "CREATE INDEX links_by_target ON links (target)",
)
_DERIVED: Final = (
    "CREATE TABLE derived (name TEXT PRIMARY KEY, generation INTEGER NOT NULL, data BLOB NOT NULL)",
    "CREATE INDEX links_to_nothing ON links (note, ordinal) WHERE target IS NULL AND NOT is_attachment",
)
TABLES_OF_NOTES: Final = (("files", "id"), ("notes", "id"), ("outlines", "id"), ("links", "note"))
SCHEMA: Final = Schema(
    "the catalogue of the notes",
    "files",
    (_TABLES, _DERIVED),
    CatalogueFault,
    "The next command makes it anew.",
    synchronous="NORMAL",
)


def identity(params: Params) -> str:
    """What the facts of a note depend on beside its text."""
    search = params.search
    return f"facts {VERSION}, passages {search.passage_tokens}/{search.overlap_tokens}/{search.max_passages}"
