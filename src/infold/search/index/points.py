"""A note as the index takes it: its passages as points, and for each the text to embed and the key of its vector.

Pure functions over a parsed note. When a note is read and written belongs to `search.index.sync`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.catalogue.passages import Passage, below_headings, cut, read_text, written_title
from infold.search.index.contract import IndexPoint, PointGroup
from infold.search.index.point_ids import passage_ids
from infold.search.languages import AUTO, detect_language
from infold.search.terms import document_words
from infold.text import content_hash
from infold.vault.front_matter import TRUST_OF_NOTES, TRUST_OF_OTHERS, trust_of
from infold.vault.names import stem
from infold.vault.outside import outside_texts

if TYPE_CHECKING:  # a search that finds nothing to index does without the parser
    from infold.settings import SearchParams
    from infold.vault.note import Note

DATE_KEYS: Final = ("date", "created")  # of front matter, the first that holds a day
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")


class NotePoints(NamedTuple):
    """A note ready for the index. `texts` are what is embedded, `keys` what their vectors are kept under.

    A text to embed leaves out a title that is only the file's name, so that a renamed note keeps its vectors; keywords
    have it all the same.
    """

    path: str
    title: str
    language: str
    points: list[IndexPoint]
    keys: list[str]
    texts: list[str]

    def without_texts(self) -> NotePoints:
        """The same for an index without meaning: texts would be handed over for nobody."""
        return self._replace(texts=[""] * len(self.texts))


class NoteToIndex(NamedTuple):
    """A note, its kind and its passages; `day` is the ISO day of a daily note whose name is none."""

    note: Note
    kind: str
    day: str | None
    passages: Sequence[Passage]


def note_points(
    note: Note, kind: str, params: SearchParams, day: str | None = None, passages: Sequence[Passage] | None = None
) -> NotePoints:
    """The points of one note. `passages` are the note's, where they were cut already."""
    if passages is None:
        passages = cut(note, params.passage_tokens, params.overlap_tokens, params.max_passages)
    return points_of([NoteToIndex(note, kind, day, passages)], params)[0]


def points_of(notes: Sequence[NoteToIndex], params: SearchParams, *, with_texts: bool = True) -> list[NotePoints]:
    """The points of these notes, without their vectors, step by step for all of them: see `workers.Crew`."""
    languages = [detect_language(one.note.text) if params.language == AUTO else params.language for one in notes]
    read = [[read_text(passage) for passage in one.passages] for one in notes]
    titled = [_titled(one, texts, one.note.title) for one, texts in zip(notes, read, strict=True)]
    embedded = [_embedded(one, *texts) for one, *texts in zip(notes, read, titled, strict=True)]
    words = [
        [document_words(text, language) for text in texts] for texts, language in zip(titled, languages, strict=True)
    ]
    keys = [[content_hash(text) for text in texts] for texts in embedded]
    made = [
        NotePoints(one.note.path, one.note.title, language, _points(one, terms), *others)
        for one, language, terms, *others in zip(notes, languages, words, keys, embedded, strict=True)
    ]
    return made if with_texts else [each.without_texts() for each in made]


def _titled(one: NoteToIndex, texts: Sequence[str], title: str) -> list[str]:
    """What is read of each passage, below a title and the headings above it."""
    return [below_headings(passage, title, text) for passage, text in zip(one.passages, texts, strict=True)]


def _embedded(one: NoteToIndex, texts: Sequence[str], titled: list[str]) -> list[str]:
    written = written_title(one.note)
    return titled if written == one.note.title else _titled(one, texts, written)


def _points(one: NoteToIndex, words: Sequence[tuple[str, str]]) -> list[IndexPoint]:
    note, passages = one.note, one.passages
    iso_day = one.day or note_day(note, one.kind)
    ids = passage_ids(note.path, [passage.text_hash for passage in passages])
    outside, trust = outside_texts(note.text), _trust_of(note)
    trusts = [
        TRUST_OF_OTHERS if any(each.start <= passage.start < each.end for each in outside) else trust
        for passage in passages
    ]
    return [_point(*given, note, one.kind, iso_day) for given in zip(ids, passages, words, trusts, strict=True)]


def note_day(note: Note, kind: str) -> str | None:
    """The ISO day that `note` is of: a daily note's by its name, another's as its front matter says, if it does."""
    if kind == "daily":
        return stem(note.path)
    values = note.front_matter.values if note.front_matter else {}
    for key in DATE_KEYS:
        found = _DAY.match(str(values.get(key, "")).strip())
        if found:
            try:
                return date.fromisoformat(found[0]).isoformat()
            except ValueError:
                continue  # a day that does not exist
    return None


def _trust_of(note: Note) -> str:
    return trust_of(note.front_matter.values) if note.front_matter is not None else TRUST_OF_NOTES


def _point(
    id_: str, passage: Passage, words: tuple[str, str], trust: str, note: Note, kind: str, day: str | None
) -> IndexPoint:
    return IndexPoint(
        id=id_,
        path=passage.path,
        start_line=passage.start_line,
        end_line=passage.end_line,
        title=note.title,
        trail=passage.trail,
        kind=kind,
        group=_group(kind, trust),
        words=words[0],
        written=words[1],
        date=day,
        tags=note.tags,
        trust=trust,
    )


def _group(kind: str, trust: str) -> PointGroup:
    """Text from outside is found where it is asked for only, also after it became a note."""
    if trust == TRUST_OF_OTHERS:
        return PointGroup.EXTERNAL
    return PointGroup.DAILY if kind == "daily" else PointGroup.NOTEBOOK
