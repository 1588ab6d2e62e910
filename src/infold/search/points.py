"""A note as the index takes it: its passages as points, and for each the text to embed and the key of its vector.

Pure functions over a parsed note. When a note is read and written belongs to `search.sync`.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from uuid import UUID

from infold.search.index import IndexPoint
from infold.search.languages import detect_language
from infold.search.manifest import IndexedNote
from infold.search.terms import sparse_document
from infold.settings import SearchParams
from infold.tables.passages import Passage, cut, indexed_text, written_title
from infold.text import content_hash
from infold.vault.note import Note


@dataclass(frozen=True, slots=True)
class NotePoints:
    """A note ready for the index. `texts` are what is embedded, `keys` what their vectors are kept under.

    A text to embed leaves out a title that is only the file's name, so that a renamed note keeps its vectors; keywords
    have it all the same.
    """

    note: IndexedNote
    points: list[IndexPoint]
    keys: list[str]
    texts: list[str]


def note_points(note: Note, kind: str, stamp: str, params: SearchParams) -> NotePoints:
    """The points of `note`, without their vectors."""
    passages = cut(note, params.passage_tokens, params.overlap_tokens)
    language = detect_language(note.text)
    written = written_title(note)
    texts = [indexed_text(passage, written) for passage in passages]
    return NotePoints(
        note=IndexedNote(note.path, stamp, len(passages), language),
        points=[_point(passage, n, note.title, kind, language) for n, passage in enumerate(passages)],
        keys=[content_hash(text) for text in texts],
        texts=texts,
    )


def _point(passage: Passage, ordinal: int, title: str, kind: str, language: str) -> IndexPoint:
    identity = f"{passage.path}\0{ordinal}\0{passage.text_hash}".encode()
    return IndexPoint(
        id=str(UUID(bytes=blake2b(identity, digest_size=16).digest())),
        path=passage.path,
        start_line=passage.start_line,
        end_line=passage.end_line,
        title=title,
        trail=passage.trail,
        kind=kind,
        source="daily" if kind == "daily" else "notebook",
        sparse=sparse_document(indexed_text(passage, title), language),
    )
