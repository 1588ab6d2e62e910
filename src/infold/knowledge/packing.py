"""Context that fits a budget: of what was found, as much as is worth most for its tokens (spec 4, Repomix Cache).

The budget holds for the whole answer, every tag of it. What was left out is said, and so is which words of the question
nothing speaks of. Pure: the same candidates give the same text. Finding candidates belongs to `knowledge.gathering`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from infold.errors import UsageError
from infold.knowledge.context_xml import NOTICE, attributes, element, fitting, text
from infold.knowledge.key_sentences import content_words, key_sentences, missing_words
from infold.text import CHARACTERS_PER_TOKEN, content_hash, token_count

Compression = Literal["auto", "none", "minimal"]
PieceForm = Literal["whole", "key", "cut", "summary"]

FEWEST_TOKENS: Final = 200  # what the frame and a long question may take
_LONGEST_QUESTION: Final = 160  # characters of it that are repeated in the answer
_HASH: Final = 12  # characters
_LEAST_CUT: Final = 160  # characters of a piece that is worth showing cut
_MOST_MISSING: Final = 100  # characters of words that were not found
_DROPPED: Final = '<dropped places="000000" tokens="000000000">\n</dropped>\n'
# What key sentences hold of a passage's worth, and what they take of its length: measured by bench/packing.py.
_KEY_SHARE: Final = 0.35
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


@dataclass(frozen=True, slots=True)
class PackedContext:
    """The answer: its XML, the pieces in it, what was dropped, and the words of the question that nothing speaks of."""

    xml: str
    pieces: tuple[PackedPiece, ...]
    dropped: tuple[Candidate, ...]
    missing: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """The tokens of the whole answer."""
        return token_count(self.xml)


def pack(
    question: str, candidates: Sequence[Candidate], max_tokens: int, compression: Compression = "auto", source: str = ""
) -> PackedContext:
    """The answer to `question` in at most `max_tokens`, from candidates in the order of their worth, best first.

    `none` takes each as it is, the last one cut at the limit; `minimal` takes key sentences and summaries; `auto`
    takes of each the form that is worth most for its tokens. Raises UsageError for a budget below FEWEST_TOKENS.
    """
    if max_tokens < FEWEST_TOKENS:
        raise UsageError(f"An answer needs at least {FEWEST_TOKENS} tokens, not {max_tokens}.", hint="Ask for more.")
    single = _without_twins(candidates)
    frame = _Frame.of(question, single, max_tokens, compression, source)
    filling = _Filling(question, max_tokens * CHARACTERS_PER_TOKEN - frame.length)
    {"none": filling.whole, "minimal": filling.minimal, "auto": filling.by_worth}[compression](single)
    pieces = filling.in_order()
    taken = {id(piece.candidate) for piece in pieces}
    dropped = tuple(candidate for candidate in single if id(candidate) not in taken)
    return PackedContext(frame.around(pieces, dropped, filling.room), pieces, dropped, frame.missing)


@dataclass(frozen=True, slots=True)
class _Frame:
    """What stands around the pieces."""

    head: str
    missing: tuple[str, ...]

    @classmethod
    def of(cls, question: str, found: Sequence[Candidate], budget: int, compression: str, source: str) -> _Frame:
        digest = _digest("\n".join(f"{c.path}:{c.start_line}:{_digest(c.text)}" for c in found))
        facts = {"question": fitting(question, _LONGEST_QUESTION), "source": source, "compression": compression}
        head = f"<context{attributes({**facts, 'budget': budget, 'snapshot': digest})}>\n"
        missing: list[str] = []
        for word in missing_words(question, [candidate.text for candidate in found]):
            if sum(map(len, missing)) + len(word) <= _MOST_MISSING:
                missing.append(word)
        return cls(f"{head}<notice>{NOTICE}</notice>\n", tuple(missing))

    @property
    def length(self) -> int:
        return len(self.head) + len(self._tail()) + len(_DROPPED)

    def _tail(self) -> str:
        words = "".join(element("word", {}, text(word)) for word in self.missing)
        return f"{element('missing', {}, words) if words else ''}</context>\n"

    def around(self, pieces: Iterable[PackedPiece], dropped: Sequence[Candidate], room: int) -> str:
        return "".join([self.head, *map(_written, pieces), _dropped(dropped, room), self._tail()])


@dataclass
class _Filling:
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
        if self._all_fit(candidates):
            self.whole(candidates)
            return
        waiting = [
            (-_worth(rank) * _KEY_WORTH / (_KEY_SHARE * len(candidate.text) + 120), rank, False)
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
            said = self._key(candidate, _KEY_SHARE)
            form: PieceForm = "whole" if said == candidate.text else "key"
            if not self._put(rank, PackedPiece(candidate, form, said)):
                misses += 1
            elif form == "key":
                more = len(candidate.text) - len(said)
                heapq.heappush(waiting, (-_worth(rank) * (1 - _KEY_WORTH) / (more + 1), rank, True))
        self._cut_best(candidates)

    def _all_fit(self, candidates: Sequence[Candidate]) -> bool:
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
        needed = len(_written(piece)) - (len(_written(before)) if before is not None else 0)
        if needed > self.room:
            return False
        self.chosen[rank] = piece
        self.room -= needed
        return True

    def _cut(self, rank: int, candidate: Candidate, said: str | None = None) -> None:
        """As much of a candidate as there is room for, where that is worth showing."""
        room = self.room - len(_written(PackedPiece(candidate, "cut", "")))
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


def _written(piece: PackedPiece) -> str:
    found = piece.candidate
    lines = f"{found.start_line}-{found.end_line}" if found.start_line else ""
    facts = {
        "path": found.path,
        "lines": lines,
        "heading": found.heading,
        "date": found.date,
        "origin": found.origin,
        "trust": found.trust,
        "hash": _digest(found.text),
        "form": piece.form,
    }
    return f"<piece{attributes(facts)}>\n{text(piece.text)}\n</piece>\n"


def _digest(said: str) -> str:
    return content_hash(said.encode("utf-8", "surrogatepass"))[:_HASH]


def _length(candidate: Candidate, said: str) -> int:
    return len(_written(PackedPiece(candidate, "whole", said)))


def _dropped(dropped: Sequence[Candidate], room: int) -> str:
    """How much was left out, and as many of the places as there is room for."""
    if not dropped:
        return ""
    tokens = sum(token_count(candidate.text) for candidate in dropped)
    places: list[str] = []
    for candidate in dropped:
        place = element("place", {"path": candidate.path, "lines": f"{candidate.start_line}-{candidate.end_line}"})
        if len(place) > room:
            break
        room -= len(place)
        places.append(place)
    return f'<dropped places="{len(dropped)}" tokens="{tokens}">\n{"".join(places)}</dropped>\n'


def _without_twins(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates without those that say the same word for word, and without lines that a better one has already."""
    texts: set[str] = set()
    lines: dict[str, set[int]] = {}
    found: list[Candidate] = []
    for candidate in candidates:
        form = candidate.text.strip()
        if not form or form in texts:
            continue
        texts.add(form)
        trimmed = _trimmed(candidate, lines.setdefault(candidate.path, set()))
        if trimmed is not None:
            found.append(trimmed)
    return found


def _trimmed(candidate: Candidate, known: set[int]) -> Candidate | None:
    """The candidate without lines at its ends that are `known`; None where nothing is left. Learns its lines."""
    start, end = candidate.start_line, candidate.end_line
    is_new = known.isdisjoint(range(start, end + 1))
    if is_new or candidate.text.count("\n") != end - start:
        known.update(range(start, end + 1))
        return candidate
    rows = candidate.text.split("\n")
    first, last = start, end
    while first <= last and first in known:
        first += 1
    while last >= first and last in known:
        last -= 1
    known.update(range(start, end + 1))
    kept = "\n".join(rows[first - start : last - start + 1])
    return replace(candidate, text=kept, start_line=first, end_line=last) if kept.strip() else None
