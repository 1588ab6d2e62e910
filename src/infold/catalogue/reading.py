"""Reading files for the catalogue, in this process or a worker: their bytes, and of those that are new, the facts.

The parser takes a while to load, so it is loaded with the first note whose bytes are not those that are known. Which
notes are read belongs to `catalogue.sync`, what is kept of them to `catalogue.facts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from infold.catalogue.held_notes import HeldNote, held_by_worker
from infold.catalogue.records import WrittenNote, strings
from infold.errors import NoteUnreadable, PathRefused
from infold.text import content_hash
from infold.vault.files import decode, read_bytes

if TYPE_CHECKING:
    from infold.catalogue.cutting import Cutting
    from infold.catalogue.facts import NoteFacts
    from infold.vault.records import Note


Make = Callable[[Sequence[WrittenNote]], Sequence[object]]  # what else is made of notes that were read


class FactsReading(NamedTuple):
    """What came of one file: facts, nothing new (`facts` None), or a reason why it cannot be read.

    `is_kept`: it may well be readable later, so what is known of it stays known.
    """

    path: str
    facts: NoteFacts | None
    reason: str | None = None
    is_kept: bool = False
    made: object = None  # what the caller asked for beside the facts
    written: WrittenNote | None = None  # where the caller is to hold it


def read_notes(
    wanted: Sequence[tuple[str, str | None]],
    root: Path,
    cutting: Cutting,
    make: Make | None = None,
    with_notes: bool = False,
) -> list[FactsReading]:
    """Reads files, each named with the content hash known of it, and makes more of the notes.

    A worker holds the texts for the jobs that come next.
    """
    read = [_read(path, known_hash, root, cutting) for path, known_hash in wanted]
    done = iter(_parsed([each for each in read if isinstance(each, _New)], root, cutting, make, with_notes))
    return [next(done) if isinstance(each, _New) else each for each in read]


class _New(NamedTuple):
    """A file whose bytes are not those that are known."""

    path: str
    sha256: str
    text: str


def _read(path: str, known_hash: str | None, root: Path, cutting: Cutting) -> _New | FactsReading:
    try:
        data = read_bytes(root, path, cutting.max_bytes)
        digest = content_hash(data)
        return FactsReading(path, None) if digest == known_hash else _New(path, digest, decode(data, path))
    except (NoteUnreadable, PathRefused) as error:
        cause = error.__cause__
        is_kept = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
        return FactsReading(path, None, str(error), is_kept)


def _parsed(
    new: Sequence[_New], root: Path, cutting: Cutting, make: Make | None, with_notes: bool
) -> list[FactsReading]:
    if not new:
        return []
    from infold.catalogue import facts, passages
    from infold.vault.note import parse

    notes = [parse(path, text) for path, _, text in new]
    cuts = [facts.cut_as(note, cutting) for note in notes]
    found = [facts.facts_of(note, each.sha256, cutting, cut) for note, each, cut in zip(notes, new, cuts, strict=True)]
    if (held := held_by_worker(root, cutting)) is not None:
        for path, sha256, text in new:
            held.hold(path, HeldNote(sha256, text))
    if make is None and not with_notes:
        return [FactsReading(one.path, one) for one in found]
    written = [
        WrittenNote(_as_kept(note, one), one.sha256, passages.passages_of(note, cut))
        for note, one, cut in zip(notes, found, cuts, strict=True)
    ]
    made = [None] * len(found) if make is None else make(written)
    return [
        FactsReading(one.path, one, made=more, written=note if with_notes else None)
        for one, more, note in zip(found, made, written, strict=True)
    ]


def _as_kept(note: Note, facts: NoteFacts) -> Note:
    """The note as the catalogue gives it, without blocks and links."""
    tags, aliases = strings(facts.tags), strings(facts.aliases)
    return replace(note, title=facts.title, tags=tags, aliases=aliases, blocks=(), links=())
