"""Reading one file for the catalogue, in this process or a worker: its bytes, and if they are new, its facts.

The parser takes a while to load, so it is loaded with the first note whose bytes are not those that are known. Which
notes are read belongs to `catalogue.sync`, what is kept of them to `catalogue.facts`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from infold.catalogue.held_notes import HeldNote, held_by_worker
from infold.catalogue.records import WrittenNote, strings
from infold.errors import NoteUnreadable, PathRefused
from infold.text import content_hash
from infold.vault.files import decode, read_bytes

if TYPE_CHECKING:
    from infold.catalogue.cutting import Cutting
    from infold.catalogue.facts import NoteFacts
    from infold.vault.records import Note


@dataclass(frozen=True, slots=True)
class FactsReading:
    """What came of one file: facts, nothing new (`facts` None), or a reason why it cannot be read.

    `is_kept`: it may well be readable later, so what is known of it stays known.
    """

    path: str
    facts: NoteFacts | None
    reason: str | None = None
    is_kept: bool = False
    written: WrittenNote | None = None  # where the caller is to hold it


def read_facts(wanted: tuple[str, str | None], root: Path, cutting: Cutting, with_note: bool = False) -> FactsReading:
    """Reads one file, named with the content hash known of it. A worker holds the note for the jobs that come next."""
    path, known_hash = wanted
    try:
        data = read_bytes(root, path, cutting.max_bytes)
        digest = content_hash(data)
        if digest == known_hash:
            return FactsReading(path, None)
        text = decode(data, path)
    except (NoteUnreadable, PathRefused) as error:
        cause = error.__cause__
        is_kept = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
        return FactsReading(path, None, str(error), is_kept)
    from infold.catalogue import facts, passages
    from infold.vault.note import parse

    note = parse(path, text)
    cuts = facts.cut_as(note, cutting)
    found = facts.facts_of(note, digest, cutting, cuts)
    held = held_by_worker(root, cutting)
    if held is None and not with_note:
        return FactsReading(path, found)
    written = WrittenNote(_as_kept(note, found), digest, passages.passages_of(note, cuts))
    if held is not None:
        held.hold(path, HeldNote(digest, text, written))
    return FactsReading(path, found, written=written if with_note else None)


def _as_kept(note: Note, facts: NoteFacts) -> Note:
    """The note as the catalogue gives it, without blocks and links."""
    tags, aliases = strings(facts.tags), strings(facts.aliases)
    return replace(note, title=facts.title, tags=tags, aliases=aliases, blocks=(), links=())
