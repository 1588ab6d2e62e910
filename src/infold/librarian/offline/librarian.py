"""The offline librarian: every decision from evidence, with no model, no network and no cost.

The same questions and the same answers as a model's, and the same rules hold for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infold.librarian.answers import (
    Chunk,
    Edit,
    EditRequest,
    Edits,
    Grouping,
    GroupRequest,
    LeftOut,
    Look,
    LookRequest,
    OpenNote,
    Paragraph,
    Summary,
    SummaryRequest,
)
from infold.librarian.base import Transcript
from infold.librarian.offline import grouping, inserting, looking, summaries
from infold.librarian.offline.duplicates import find_cover
from infold.librarian.offline.evidence import Evidence
from infold.librarian.offline.placing import Place, best_section, end_of, place_in
from infold.librarian.offline.reading import Query, Reading, read_note
from infold.librarian.rules import check_edits
from infold.librarian.spend import Spend, Usage
from infold.text import collapse_spaces
from infold.vault.note import parse

NAME: Final = "offline/1"
_HOMES: Final = 5  # notes that a paragraph may go to
_UNFIT: Final = "no note speaks enough of what this paragraph says"


class OfflineLibrarian:
    """Decides by evidence. Without evidence it can only summarise, group by order, and leave things where they are."""

    def __init__(self, evidence: Evidence | None = None) -> None:
        self._evidence = evidence or Evidence.of_nothing()
        self._spend = Spend()

    @property
    def name(self) -> str:
        """Who decides, with the version of the algorithm."""
        return NAME

    @property
    def spend(self) -> Spend:
        """A meter that stays at zero."""
        return self._spend

    def look_into(self, evidence: Evidence) -> None:
        """Takes up the evidence of a vault that was made ready, in place of what it had."""
        self._evidence = evidence

    async def group(self, request: GroupRequest) -> Grouping:
        """Which paragraphs belong together."""
        vectors = self._evidence.vectors([paragraph.text for paragraph in request.paragraphs])
        groups = grouping.group(request.paragraphs, request.max_chunk_words, self._evidence.rank, vectors)
        return Grouping.model_validate({"groups": groups}, context={"request": request})

    async def summarise(self, request: SummaryRequest) -> Summary:
        """A summary out of the note's own sentences, or of its linked notes'."""
        low, high = request.target_words
        if request.linked is None:
            return Summary(summary=summaries.extract(request.text, low, high))
        return Summary(summary=summaries.from_linked(request.linked, request.text, low, high))

    def conversation(self, chunk: Chunk, transcript: Transcript = ()) -> OfflineConversation:  # noqa: ARG002
        """A conversation about one chunk. `transcript` is not needed: the same state always gives the same answer."""
        return OfflineConversation(chunk, self._evidence)

    async def close(self) -> None:
        """Nothing is held open."""


class OfflineConversation:
    """One chunk, from first look to edits."""

    def __init__(self, chunk: Chunk, evidence: Evidence) -> None:
        self._chunk = chunk
        self._evidence = evidence

    @property
    def transcript(self) -> Transcript:
        """Nothing needs to be remembered."""
        return ()

    @property
    def usage(self) -> Usage:
        """Nothing is paid."""
        return Usage()

    async def look(self, request: LookRequest) -> Look:
        """Which notes to view next, or to check out."""
        homes = {paragraph.n: homes_of(paragraph.text, self._evidence) for paragraph in request.chunk.paragraphs}
        return looking.look(request, homes, self._evidence.backlinks)

    async def edit(self, request: EditRequest) -> Edits:
        """Each paragraph to the open note, and the place in it, where it reads on; or a duplicate; or left out."""
        return _Editing(request, self._evidence).answer()


def homes_of(text: str, evidence: Evidence) -> dict[str, float]:
    """The notes a paragraph may go to, with their chances; the note that covers it already, where there is one."""
    matches = evidence.rank(text)
    cover = next((match.path for match in matches if evidence.covers(text, match.path)), None)
    if cover is not None:
        return {cover: 1.0}
    return {match.path: match.chance for match in matches[:_HOMES] if match.is_fit}


@dataclass(slots=True)
class _Placed:
    """A paragraph with the note and the place it goes to. `numbers`: its own, and those of its equals in the chunk."""

    numbers: list[int]
    text: str
    path: str
    place: Place


class _Editing:
    """Works one edit request out."""

    def __init__(self, request: EditRequest, evidence: Evidence) -> None:
        self._request = request
        self._evidence = evidence
        self._readings = {note.path: self._read(note) for note in request.notes}
        self._left: dict[int, str] = {}
        self._duplicates: list[Edit] = []
        self._placed: list[_Placed] = []

    def answer(self) -> Edits:
        """The edits. What the rules refuse goes to the end of its note instead; what they still refuse is left out."""
        for paragraph in self._request.chunk.paragraphs:
            self._decide(paragraph)
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
        even = collapse_spaces(paragraph.text)
        equal = next((entry for entry in self._placed if collapse_spaces(entry.text) == even), None)
        if equal is not None:
            equal.numbers.append(paragraph.n)
        elif (duplicate := self._duplicate(paragraph)) is not None:
            self._duplicates.append(duplicate)
        else:
            query = self._evidence.query(paragraph.text)
            home = self._home(paragraph, query)
            if home is None:
                self._left[paragraph.n] = _UNFIT
                return
            scores = self._evidence.section_scores(query, home)
            place = place_in(query, home, best_section(query, home, scores), self._evidence.likings(query, home))
            self._placed.append(_Placed([paragraph.n], paragraph.text, home.path, place))

    def _duplicate(self, paragraph: Paragraph) -> Edit | None:
        for reading in self._readings.values():
            cover = find_cover(paragraph.text, reading.note)
            found = cover and inserting.quote(reading.note, cover.start, cover.end)
            if found:
                return Edit(file=reading.path, find=found, is_duplicate=True, paragraphs=[paragraph.n])
        return None

    def _home(self, paragraph: Paragraph, query: Query) -> Reading | None:
        """The open note that the whole vault's evidence puts first; failing that the best open one, if it fits."""
        for match in self._evidence.rank(paragraph.text):
            if match.path in self._readings and match.is_fit:
                return self._readings[match.path]
        own = self._evidence.weigh(query, list(self._readings.values()))
        return self._readings[own[0].path] if own and own[0].is_fit else None

    def _edits(self, placed: Sequence[_Placed]) -> Edits:
        edits = list(self._duplicates)
        missing: dict[int, str] = {}
        for path, reading in self._readings.items():
            own = [entry for entry in placed if entry.path == path]
            here = [inserting.Insertion(entry.place, (entry.numbers[0],), (entry.text,)) for entry in own]
            equals = {entry.numbers[0]: entry.numbers for entry in own}
            for insertion in inserting.merged(here):
                edit = inserting.edit_for(reading.note, insertion)
                numbers = [n for first in insertion.numbers for n in equals[first]]
                if edit is None:
                    missing |= dict.fromkeys(numbers, "the note has no text to put it beside")
                else:
                    edit.paragraphs = numbers
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
            moved = _Placed(entry.numbers, entry.text, entry.path, place)
            answer = self._edits([*kept, moved])
            answer.left = [LeftOut(paragraph=n, reason=reason) for n, reason in others.items()]
            if self._problem(answer) is None:
                return moved
        return None

    def _read(self, note: OpenNote) -> Reading:
        known = self._evidence.reading(note.path)
        return known if known is not None and known.note.text == note.text else read_note(parse(note.path, note.text))
