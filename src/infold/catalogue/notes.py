"""The notes table: one row a note, with all that a card of it needs.

`read_row` makes a row from a file, in any process. Keeping the table in step with the vault belongs to
`catalogue.sync`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from infold.catalogue.links import LinkRow, link_rows
from infold.catalogue.parquet import read_table
from infold.text import content_hash, token_count, word_count
from infold.vault.files import decode, read_bytes
from infold.vault.note import Note, parse, plain_text

if TYPE_CHECKING:
    import polars as pl

FILE_NAME: Final = "notes.parquet"
VERSION: Final = "notes/1"  # raised when a column changes, or what the parser finds
TRUST: Final = "vault"


class NoteRow(NamedTuple):
    """What the text of a note tells about it. Plain values only, so that rows pass between processes cheaply."""

    path: str
    content_hash: str
    title: str
    words: int
    tokens: int
    headings: list[str]  # lines as written
    tags: list[str]
    aliases: list[str]
    problem: str | None  # of the front matter
    links: list[LinkRow]


def notes_schema() -> dict[str, Any]:
    """Columns and types, in order."""
    import polars as pl

    texts = pl.List(pl.String())
    return {
        "path": pl.String(),
        "content_hash": pl.String(),
        "mtime_ns": pl.Int64(),
        "size": pl.Int64(),
        "title": pl.String(),
        "kind": pl.String(),
        "words": pl.Int64(),
        "tokens": pl.Int64(),
        "headings": texts,
        "tags": texts,
        "aliases": texts,
        "problem": pl.String(),
        "outgoing": texts,  # notes this one links to, in the order of its links, each once, itself left out
        "trust": pl.String(),
    }


def load_notes(tables_dir: Path) -> pl.DataFrame:
    """The notes table, sorted by path; empty where it has not been made."""
    import polars as pl

    schema = notes_schema()
    table = read_table(tables_dir / FILE_NAME, schema, VERSION)
    return table if table is not None else pl.DataFrame(schema=schema)


def read_row(root: Path, path: str, max_bytes: int, known_hash: str | None) -> NoteRow | None:
    """The row of the note at `path`; None where its content hash is `known_hash` still.

    Raises PathRefused and NoteUnreadable.
    """
    data = read_bytes(root, path, max_bytes)
    digest = content_hash(data)
    return None if digest == known_hash else note_row(parse(path, decode(data, path), with_blocks=False), digest)


def note_row(note: Note, digest: str) -> NoteRow:
    """The row of a parsed note whose bytes have the hash `digest`."""
    return NoteRow(
        path=note.path,
        content_hash=digest,
        title=note.title,
        words=word_count(plain_text(note)),
        tokens=token_count(note.text),
        headings=[heading.raw for heading in note.headings],
        tags=list(note.tags),
        aliases=list(note.aliases),
        problem=note.front_matter.problem if note.front_matter is not None else None,
        links=link_rows(note.links),
    )
