"""Context that fits a budget: of what was found, as much as is worth most for its tokens (spec 4, Repomix Cache).

The budget holds for the whole answer, every tag of it. What was left out is said, and so is which words of the question
nothing speaks of. Pure: the same candidates give the same text. Finding candidates belongs to `knowledge.gathering`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from infold.errors import UsageError
from infold.knowledge.context_xml import NOTICE, attributes, element, fitting, text
from infold.knowledge.filling import Candidate, ChosenForm, Filling, PackedPiece, digest, written
from infold.knowledge.key_sentences import missing_words
from infold.librarian.compressing import CompressionRequest, OfferedPiece
from infold.text import CHARACTERS_PER_TOKEN, token_count

CompressionLevel = Literal["auto", "none", "minimal"]

FEWEST_TOKENS: Final = 200  # what the frame and a long question may take
MOST_OFFERED: Final = 40  # pieces that a librarian is shown
_BRIEF: Final = 240  # characters of one
_LONGEST_QUESTION: Final = 160  # characters of it that are repeated in the answer
_MOST_MISSING: Final = 100  # characters of words that were not found
_DROPPED: Final = '<dropped places="000000" tokens="000000000">\n</dropped>\n'


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
    question: str,
    candidates: Sequence[Candidate],
    max_tokens: int,
    compression: CompressionLevel = "auto",
    source: str = "",
    chosen: Sequence[tuple[int, ChosenForm]] | None = None,
) -> PackedContext:
    """The answer to `question` in at most `max_tokens`, from candidates in the order of their worth, best first.

    `none` takes each as it is, the last one cut at the limit; `minimal` takes key sentences and summaries; `auto`
    takes of each the form that is worth most for its tokens, or what was `chosen` of `offered`, by number from 1.
    Raises UsageError for a budget below FEWEST_TOKENS.
    """
    single, frame, filling = _begun(question, candidates, max_tokens, compression, source)
    if chosen is not None:
        filling.as_chosen(single, chosen)
    else:
        {"none": filling.whole, "minimal": filling.minimal, "auto": filling.by_worth}[compression](single)
    pieces = filling.in_order()
    taken = {id(piece.candidate) for piece in pieces}
    dropped = tuple(candidate for candidate in single if id(candidate) not in taken)
    return PackedContext(frame.around(pieces, dropped, filling.room), pieces, dropped, frame.missing)


def offered(
    question: str, candidates: Sequence[Candidate], max_tokens: int, source: str = ""
) -> CompressionRequest | None:
    """What a librarian may choose from for `pack`; None where all of it fits, so that there is nothing to decide."""
    single, _, filling = _begun(question, candidates, max_tokens, "auto", source)
    if filling.takes_all(single):
        return None
    pieces = []
    for candidate in single[:MOST_OFFERED]:
        said = filling.key_of(candidate)
        whole, key = (filling.length(candidate, each) for each in (candidate.text, said))
        place = f"{candidate.path}:{candidate.start_line}-{candidate.end_line}"
        brief = " ".join(said.split())[:_BRIEF]
        pieces.append(
            OfferedPiece(place, candidate.heading, candidate.trust, brief, _in_tokens(whole), _in_tokens(key))
        )
    return CompressionRequest(question, tuple(pieces), max(0, filling.room) // CHARACTERS_PER_TOKEN)


def _in_tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def _begun(
    question: str, candidates: Sequence[Candidate], max_tokens: int, compression: str, source: str
) -> tuple[list[Candidate], _ContextFrame, Filling]:
    """The candidates without twins, what stands around them, and the room that is left."""
    if max_tokens < FEWEST_TOKENS:
        raise UsageError(f"An answer needs at least {FEWEST_TOKENS} tokens, not {max_tokens}.", hint="Ask for more.")
    single = _without_twins(candidates)
    frame = _ContextFrame.of(question, single, max_tokens, compression, source)
    return single, frame, Filling(question, max_tokens * CHARACTERS_PER_TOKEN - frame.length)


@dataclass(frozen=True, slots=True)
class _ContextFrame:
    """What stands around the pieces."""

    head: str
    missing: tuple[str, ...]

    @classmethod
    def of(cls, question: str, found: Sequence[Candidate], budget: int, compression: str, source: str) -> _ContextFrame:
        snapshot = digest("\n".join(f"{c.path}:{c.start_line}:{digest(c.text)}" for c in found))
        facts = {"question": fitting(question, _LONGEST_QUESTION), "source": source, "compression": compression}
        head = f"<context{attributes({**facts, 'budget': budget, 'snapshot': snapshot})}>\n"
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
        return "".join([self.head, *map(written, pieces), _dropped(dropped, room), self._tail()])


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
