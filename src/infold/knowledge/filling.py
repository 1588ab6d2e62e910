"""Candidates put into a room of so many characters: which, and how much of each. What stands around them is not its.

Pure: the same candidates give the same pieces.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from infold.knowledge.context_xml import attributes, fitting, text
from infold.knowledge.key_sentences import content_words, key_sentences
from infold.text import content_hash

PieceForm = Literal["whole", "key", "cut", "summary"]
ChosenForm = Literal["whole", "key"]

_HASH: Final = 12  # characters
_LEAST_CUT: Final = 160  # characters of a piece that is worth showing cut
# What key sentences hold of a passage's worth, and what they take of its length: measured by bench/packing.py.
KEY_SHARE: Final = 0.35
_KEY_WORTH: Final = 0.55
_MINIMAL_SHARE: Final = 0.15


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that answers, from lines `start_line` to `end_line` of `path`; the better its score the more it answers.

    `origin` is the address of what came from outside, `summary` what its note as a whole says, where that is known.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    score: float
    heading: str = ""
    date: str = ""
    origin: str = ""
    trust: str = "vault"
    summary: str = ""


@dataclass(frozen=True, slots=True)
class PackedPiece:
    """A candidate as far as it is in the answer."""

    candidate: Candidate
    form: PieceForm
    text: str


@dataclass
class Filling:
    """Pieces chosen so far, and the characters that are left for more."""

    question: str
    room: int
    chosen: dict[int, PackedPiece] = field(default_factory=dict)  # by rank

    def __post_init__(self) -> None:
        self.words = content_words(self.question)

    def whole(self, candidates: Sequence[Candidate]) -> None:
        """Each as it is; the first that does not fit is cut, and ends it."""
        for rank, candidate in enumerate(candidates):
            if not self._put(rank, PackedPiece(candidate, "whole", candidate.text)):
                self._cut(rank, candidate)
                return

    def minimal(self, candidates: Sequence[Candidate]) -> None:
        """Key sentences of each, after the summary of each note, where one is known."""
        seen: set[str] = set()
        for rank, candidate in enumerate(candidates):
            said = self._key(candidate, _MINIMAL_SHARE)
            piece = PackedPiece(candidate, "key", said)
            if candidate.summary and candidate.path not in seen:
                with_summary = PackedPiece(candidate, "summary", f"{candidate.summary}\n{said}")
                seen.add(candidate.path)
                if self._put(rank, with_summary):
                    continue
            if not self._put(rank, piece):
                self._cut(rank, candidate, said)
                return

    def by_worth(self, candidates: Sequence[Candidate]) -> None:
        """Of each the form that is worth most for its tokens: key sentences first, the whole where there is room."""
        if self.takes_all(candidates):
            self.whole(candidates)
            return
        waiting = [
            (-_worth(rank) * _KEY_WORTH / (KEY_SHARE * len(candidate.text) + 120), rank, False)
            for rank, candidate in enumerate(candidates)
            if candidate.text
        ]
        heapq.heapify(waiting)
        misses = 0
        while waiting and misses < 8 and self.room > _LEAST_CUT:
            _, rank, is_grown = heapq.heappop(waiting)
            candidate = candidates[rank]
            if is_grown:
                misses += not self._put(rank, PackedPiece(candidate, "whole", candidate.text))
                continue
            said = self._key(candidate, KEY_SHARE)
            form: PieceForm = "whole" if said == candidate.text else "key"
            if not self._put(rank, PackedPiece(candidate, form, said)):
                misses += 1
            elif form == "key":
                more = len(candidate.text) - len(said)
                heapq.heappush(waiting, (-_worth(rank) * (1 - _KEY_WORTH) / (more + 1), rank, True))
        self._cut_best(candidates)

    def as_chosen(self, candidates: Sequence[Candidate], chosen: Sequence[tuple[int, ChosenForm]]) -> None:
        """What was chosen, by number from 1, in its order; what does not fit is left out."""
        for number, form in chosen:
            candidate = candidates[number - 1]
            said = candidate.text if form == "whole" else self.key_of(candidate)
            self._put(number - 1, PackedPiece(candidate, "whole" if said == candidate.text else "key", said))

    def key_of(self, candidate: Candidate) -> str:
        """The key sentences of a candidate."""
        return self._key(candidate, KEY_SHARE)

    def length(self, candidate: Candidate, said: str) -> int:
        """The characters that a candidate takes so."""
        return _length(candidate, said)

    def takes_all(self, candidates: Sequence[Candidate]) -> bool:
        """Whether there is room for all of them as they are."""
        if sum(len(candidate.text) for candidate in candidates) > self.room:
            return False
        return sum(_length(candidate, candidate.text) for candidate in candidates) <= self.room

    def in_order(self) -> tuple[PackedPiece, ...]:
        """The pieces, best first; those of one note together, in the order of its lines."""
        notes: dict[str, list[PackedPiece]] = {}
        for _, piece in sorted(self.chosen.items()):
            notes.setdefault(piece.candidate.path, []).append(piece)
        return tuple(
            piece for group in notes.values() for piece in sorted(group, key=lambda piece: piece.candidate.start_line)
        )

    def _key(self, candidate: Candidate, share: float) -> str:
        return key_sentences(candidate.text, self.words, share)

    def _put(self, rank: int, piece: PackedPiece) -> bool:
        """Takes the piece, in the place of what there is of its candidate, where there is room."""
        before = self.chosen.get(rank)
        needed = len(written(piece)) - (len(written(before)) if before is not None else 0)
        if needed > self.room:
            return False
        self.chosen[rank] = piece
        self.room -= needed
        return True

    def _cut(self, rank: int, candidate: Candidate, said: str | None = None) -> None:
        """As much of a candidate as there is room for, where that is worth showing."""
        room = self.room - len(written(PackedPiece(candidate, "cut", "")))
        if rank in self.chosen or room < _LEAST_CUT:
            return
        self._put(rank, PackedPiece(candidate, "cut", fitting(candidate.text if said is None else said, room)))

    def _cut_best(self, candidates: Sequence[Candidate]) -> None:
        """What room is left goes to the best candidate that is not in yet."""
        for rank, candidate in enumerate(candidates):
            if rank not in self.chosen:
                self._cut(rank, candidate)
                return


def _worth(rank: int) -> float:
    """How likely the candidate of that rank is to be the one that answers, measured by bench/packing.py."""
    return 1.0 / (rank + 1.5)


def written(piece: PackedPiece) -> str:
    """The element of a piece."""
    found = piece.candidate
    lines = f"{found.start_line}-{found.end_line}" if found.start_line else ""
    facts = {
        "path": found.path,
        "lines": lines,
        "heading": found.heading,
        "date": found.date,
        "origin": found.origin,
        "trust": found.trust,
        "hash": digest(found.text),
        "form": piece.form,
    }
    return f"<piece{attributes(facts)}>\n{text(piece.text)}\n</piece>\n"


def digest(said: str) -> str:
    """A short hash of a text."""
    return content_hash(said.encode("utf-8", "surrogatepass"))[:_HASH]


def _length(candidate: Candidate, said: str) -> int:
    return len(written(PackedPiece(candidate, "whole", said)))
