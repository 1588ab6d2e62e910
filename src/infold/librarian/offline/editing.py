"""The edits of one chunk: which open note takes each paragraph in, where, and what is there already.

Every answer has been asked of `librarian.rules` before it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infold.librarian.answers import Edit, EditRequest, LeftOut, OpenNote, Paragraph
from infold.librarian.edit_answers import Edits
from infold.librarian.offline import inserting
from infold.librarian.offline.candidate_scorer import CandidateScorer
from infold.librarian.offline.placing import InsertionPoint, best_section, end_of, place_in
from infold.librarian.offline.reading import NoteFeatures, Query, read_note
from infold.librarian.offline.reasons import why, why_none
from infold.librarian.rules import check_edits
from infold.text import collapse_spaces
from infold.vault.note import parse

_UNFIT: Final = "no note speaks enough of what this paragraph says"


@dataclass(slots=True)
class _Homed:
    """A paragraph with the note it goes to. `numbers`: its own, and those of its equals in the chunk."""

    numbers: list[int]
    text: str
    query: Query
    home: NoteFeatures


@dataclass(slots=True)
class _Placed:
    """The same, with its place in the note."""

    numbers: list[int]
    text: str
    path: str
    place: InsertionPoint
    reason: str


class Editing:
    """Works one edit request out: each paragraph to a place, a duplicate, or left out."""

    def __init__(self, request: EditRequest, evidence: CandidateScorer) -> None:
        self._request = request
        self._evidence = evidence
        self._readings = {note.path: self._read(note) for note in request.notes}
        self._left: dict[int, str] = {}
        self._duplicates: list[Edit] = []
        self._equal: dict[str, _Homed] = {}  # by the text, white space aside
        self._placed: list[_Placed] = []

    def answer(self) -> Edits:
        """The edits. What the rules refuse goes to the end of its note instead; what they still refuse is left out."""
        for paragraph in self._request.chunk.paragraphs:
            self._decide(paragraph)
        self._place()
        answer = self._edits(self._placed)
        problem = self._problem(answer)
        if problem is None:
            return answer
        kept: list[_Placed] = []
        for entry in self._placed:
            safe = self._safe(entry, kept)
            if safe is None:
                self._left |= dict.fromkeys(entry.numbers, "it could not be put in without breaking the note")
            else:
                kept.append(safe)
        answer = self._edits(kept)
        if self._problem(answer) is None:
            return answer
        left = {paragraph.n: self._left.get(paragraph.n, problem) for paragraph in self._request.chunk.paragraphs}
        return Edits(edits=[], left=[LeftOut(paragraph=n, reason=reason) for n, reason in left.items()])

    def _decide(self, paragraph: Paragraph) -> None:
        """A duplicate, a note it goes to, or nothing of either."""
        even = collapse_spaces(paragraph.text)
        equal = self._equal.get(even)
        if equal is not None:
            equal.numbers.append(paragraph.n)
        elif (duplicate := self._duplicate(paragraph)) is not None:
            self._duplicates.append(duplicate)
        elif (known_by := self._evidence.covering(paragraph.text)) is not None and known_by not in self._readings:
            self._left[paragraph.n] = f"{known_by} says it already, and was not opened with the others of its chunk"
        else:
            query = self._evidence.query(paragraph.text)
            home = self._home(paragraph, query)
            if home is None:
                self._left[paragraph.n] = self._why_none(paragraph)
            else:
                self._equal[even] = _Homed([paragraph.n], paragraph.text, query, home)

    def _place(self) -> None:
        """Gives each paragraph the section that takes it best, and there the place where it reads on."""
        for entry in self._equal.values():
            section = best_section(entry.query, entry.home, self._evidence.section_scores(entry.query, entry.home))
            place = place_in(entry.query, entry.home, section, self._evidence.likings(entry.query, entry.home))
            ranked = self._evidence.rank(entry.text)
            reason = why(entry.query, entry.home, entry.home.sections[section], ranked, self._evidence.corpus)
            self._placed.append(_Placed(entry.numbers, entry.text, entry.home.path, place, reason))

    def _duplicate(self, paragraph: Paragraph) -> Edit | None:
        for reading in self._readings.values():
            cover = self._evidence.cover(paragraph.text, reading)
            found = cover and inserting.quote(reading.note, cover.start, cover.end)
            if found:
                return Edit(file=reading.path, find=found, is_duplicate=True, paragraphs=[paragraph.n])
        return None

    def _home(self, paragraph: Paragraph, query: Query) -> NoteFeatures | None:
        """The open note that the whole vault's evidence puts first; failing that the best open one, if it fits."""
        ranked = self._evidence.rank(paragraph.text)
        for match in ranked:
            if match.path in self._readings and match.is_fit:
                return self._readings[match.path]
        known = {match.path for match in ranked}  # and not fit: beside few others it would only seem likelier
        own = self._evidence.weigh(query, [each for path, each in self._readings.items() if path not in known])
        return self._readings[own[0].path] if own and own[0].is_fit else None

    def _why_none(self, paragraph: Paragraph) -> str:
        ranked = self._evidence.rank(paragraph.text)
        fit = next((match.path for match in ranked if match.is_fit), None)
        if fit is not None:
            return f"{fit} speaks of it, and was not opened with the others of its chunk"
        return why_none([ranked], self._evidence.least_chance) or _UNFIT

    def _edits(self, placed: Sequence[_Placed]) -> Edits:
        edits = list(self._duplicates)
        missing: dict[int, str] = {}
        for path, reading in self._readings.items():
            own = [entry for entry in placed if entry.path == path]
            here = [inserting.Insertion(entry.place, (entry.numbers[0],), (entry.text,)) for entry in own]
            equals = {entry.numbers[0]: entry.numbers for entry in own}
            reasons = {entry.numbers[0]: entry.reason for entry in own}
            for insertion in inserting.merged(here):
                edit = inserting.edit_for(reading.note, insertion)
                numbers = [n for first in insertion.numbers for n in equals[first]]
                if edit is None:
                    missing |= dict.fromkeys(numbers, "the note has no text to put it beside")
                else:
                    edit.paragraphs = numbers
                    edit.reason = reasons[insertion.numbers[0]]
                    edits.append(edit)
        left = [LeftOut(paragraph=n, reason=reason) for n, reason in sorted((self._left | missing).items())]
        return Edits(edits=edits, left=left)

    def _problem(self, answer: Edits) -> str | None:
        try:
            check_edits(answer.model_copy(deep=True), self._request)
        except ValueError as error:
            return str(error)
        return None

    def _safe(self, entry: _Placed, kept: Sequence[_Placed]) -> _Placed | None:
        """The paragraph where it was meant to go, else at the end of its note; None where neither keeps the rules."""
        named = {n for other in (*kept, entry) for n in other.numbers}
        named |= {n for edit in self._duplicates for n in edit.paragraphs}
        others = {p.n: "later" for p in self._request.chunk.paragraphs if p.n not in named}
        for place in (entry.place, end_of(self._readings[entry.path])):
            moved = _Placed(entry.numbers, entry.text, entry.path, place, entry.reason)
            answer = self._edits([*kept, moved])
            answer.left = [LeftOut(paragraph=n, reason=reason) for n, reason in others.items()]
            if self._problem(answer) is None:
                return moved
        return None

    def _read(self, note: OpenNote) -> NoteFeatures:
        known = self._evidence.reading(note.path)
        return known if known is not None and known.note.text == note.text else read_note(parse(note.path, note.text))
