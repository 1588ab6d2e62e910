"""The catalogue as parquet, for DVC, polars and whoever else reads tables: notes, links, passages.

The same notes give the same bytes: no time of a file, no path of this machine and no order of chance is in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from infold.catalogue.days import DayFrom
from infold.catalogue.kinds import kind_of
from infold.catalogue.parquet import schema_of, table_of, write_table
from infold.catalogue.records import WrittenNote
from infold.catalogue.store import Catalogue
from infold.errors import NoteUnreadable, PathRefused
from infold.vault.links import is_attachment

NOTES: Final = {
    "path": ("text", "the note, vault-relative"),
    "content_hash": ("text", "SHA-256 of its bytes"),
    "title": ("text", "of the front matter, else the first H1, else the name"),
    "kind": ("text", "standard, index, daily or inbox"),
    "day": ("text", "the ISO day that its name or front matter gives"),
    "day_from": ("text", "name or front_matter"),
    "words": ("int", "words without front matter, comments and HTML"),
    "tokens": ("int", "a quarter of its characters"),
    "headings": ("texts", "lines as written"),
    "tags": ("texts", "of front matter and text"),
    "aliases": ("texts", "other names of the note"),
    "origin": ("text", "where it came from, as its front matter says, or empty"),
    "trust": ("text", "whose text it is"),
    "problem": ("text", "why its front matter could not be read"),
    "outgoing": ("texts", "the notes it links to, in the order of its links, each once"),
}
LINKS: Final = {
    "source": ("text", "the note that holds the link"),
    "ordinal": ("int", "which of its links, from 0"),
    "target": ("text", "the note it leads to; null where there is none"),
    "raw": ("text", "the link as written"),
    "name": ("text", "the target as written, decoded and without anchor"),
    "anchor": ("text", "a heading or ^block, or empty"),
    "alias": ("text", "the text shown, where it is another"),
    "is_wiki": ("bool", "[[so]] and not [so](so.md)"),
    "is_embed": ("bool", "shown in place"),
    "is_attachment": ("bool", "leads to no note by its form"),
    "line": ("int", "from 1"),
    "context": ("text", "the line it stands on, at most 300 characters"),
}
PASSAGES: Final = {
    "path": ("text", "the note"),
    "ordinal": ("int", "which of its passages, from 0"),
    "headings": ("texts", "the titles above it"),
    "start_line": ("int", "from 1"),
    "end_line": ("int", "the last of its lines"),
    "start": ("int", "where it begins in the note's text, in characters"),
    "end": ("int", "where it ends, exclusive"),
    "text_hash": ("text", "SHA-256 of its text"),
}


class _Table(NamedTuple):
    name: str
    columns: dict[str, tuple[str, str]]
    version: str


_TABLES: Final = (
    _Table("notes", NOTES, "notes/2"),
    _Table("links", LINKS, "links/2"),
    _Table("passages", PASSAGES, "passages/1"),
)


def export_tables(catalogue: Catalogue, folder: Path) -> None:
    """Writes `notes.parquet`, `links.parquet` and `passages.parquet`, as the catalogue has them.

    Raises StateUnwritable. A note that cannot be read any more is left out of links and passages; the next sync takes
    it from the notes.
    """
    links: list[tuple[Any, ...]] = []
    passages: list[tuple[Any, ...]] = []
    targets = catalogue.targets()
    for note in catalogue.notes():
        try:
            written = catalogue.written(note.path)
        except (NoteUnreadable, PathRefused):
            continue
        links += _link_rows(written, targets.get(note.path, ()))
        passages += _passage_rows(written)
    for table, rows in zip(_TABLES, (list(_note_rows(catalogue)), links, passages), strict=True):
        write_table(folder / f"{table.name}.parquet", table_of(schema_of(table.columns, table.version), rows))


def _note_rows(catalogue: Catalogue) -> Iterator[tuple[Any, ...]]:
    kind, outgoing = kind_of(catalogue.params, catalogue.vault), catalogue.outgoing()
    for note in catalogue.notes():
        is_of_machine = note.day_from is DayFrom.FILE
        yield (
            note.path,
            note.sha256,
            note.title,
            kind(note.path),
            None if is_of_machine else note.day,
            None if is_of_machine else note.day_from.value,
            note.words,
            note.tokens,
            note.headings,
            note.tags,
            note.aliases,
            note.origin,
            note.trust,
            note.problem,
            outgoing[note.path],
        )


def _link_rows(written: WrittenNote, targets: tuple[str | None, ...]) -> Iterator[tuple[Any, ...]]:
    for ordinal, link in enumerate(written.note.links):
        yield (
            written.note.path,
            ordinal,
            targets[ordinal] if ordinal < len(targets) else None,
            link.raw,
            link.target,
            link.anchor,
            link.alias,
            link.is_wiki,
            link.is_embed,
            bool(link.target) and is_attachment(link.target, is_wiki=link.is_wiki),
            link.line,
            link.context,
        )


def _passage_rows(written: WrittenNote) -> Iterator[tuple[Any, ...]]:
    for ordinal, p in enumerate(written.passages):
        yield p.path, ordinal, p.trail, p.start_line, p.end_line, p.start, p.end, p.text_hash
