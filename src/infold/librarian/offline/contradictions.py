"""Where two passages say the same of the same thing with another number, date, amount or negation.

Sentences are the same but for that: their words that mean something agree, in order, but for one that only one of them
has and that names nothing. So a paraphrase is missed rather than two things taken for one. Pure; whose sentences these
are belongs to whoever asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from infold.librarian.offline.negating import is_negating
from infold.librarian.offline.quantities import DateParts, Quantity, quantities
from infold.librarian.offline.reading import bare
from infold.search.languages import detect_language
from infold.search.terms import encoder
from infold.text import sentences, word_pattern
from infold.vault.records import BlockKind, Note

ContradictionKind = Literal["number", "amount", "date", "negation"]

FEWEST_WORDS: Final = 3  # that mean something, beside what differs
_LONGEST: Final = 400  # characters of a sentence
_MOST_AMOUNTS: Final = 2  # in a sentence: one with more is a row of a table
_MOST_VALUES: Final = 2  # that sentences of the same words may give: beyond that they are a form, not a statement
_APART: Final = 4  # lines between two sentences of one list, at least: nearer ones are a parallel on purpose
_NEGATED_WORDS: Final = 4  # that mean something, in a sentence that may be negated
_STATING: Final = frozenset((BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE))
_MARKER: Final = re.compile(r"\A\s*(?:>\s?)*(?:[-*+]|\d{1,9}[.)])?\s*(?:\[.\]\s)?")
_SENTENCE: Final = re.compile(r"[^\W\d_].*[.!。！]\W*\Z", re.DOTALL)
_MARKUP: Final = re.compile(r"<[^<>]*>|[*_`~=]{1,3}|\[\[(?:[^\]|]*\|)?|\]\]|!?\[(?=[^\]]*\]\()|\]\([^)]*\)")
# Words that say when, or nothing at all: with or without them a sentence states the same.
_EMPTY: Final = frozenset(
    """a an the is are was were be been being am do does did has have had will would can could may might shall should
    now currently today still already just only also so far then there it its this that these those of to in at on for
    by with and or as from per about around approximately approx roughly nearly almost over since until
    der die das den dem ein eine einen ist sind war waren wird werden hat haben jetzt noch nur auch von zu in an auf
    mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday am pm utc gmt pst pdt next last
    für mit und oder etwa rund le la les un une des du de est sont était a ont et ou el los las es son era
    """.split()  # noqa: SIM905 - reads best as text
)
_POINTING: Final = frozenset(
    "it they this these he she es er sie dies ce il elle".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and where it stands. `date` is the ISO day it is of, '' where that is not known."""

    path: str
    line: int
    text: str
    date: str = ""
    trail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two statements that cannot both be so, the newer first, and what each has in place of the other's."""

    newer: Statement
    older: Statement
    kind: ContradictionKind
    newer_says: str
    older_says: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement as it is compared: its words in order with a sign for each amount, and the amounts themselves."""

    statement: Statement
    text: str
    words: tuple[str, ...]
    amounts: tuple[Quantity, ...]
    negations: int
    names: frozenset[str]


def statements(note: Note, date: str = "") -> list[Statement]:
    """The sentences of a note's prose; headings, tables, code and quoted code are none."""
    found: list[Statement] = []
    for block in note.blocks:
        if block.kind in _STATING:
            lines = re.split(r"\n(?=\s*(?:>\s?)*(?:[-*+]|\d{1,9}[.)])\s)", note.block_text(block))
            line = block.line
            for item in lines:
                text = _MARKER.sub("", item)
                found += [Statement(note.path, line, said, date, block.trail) for said in sentences(text)]
                line += item.count("\n") + 1
    return found


def claimed(said: Iterable[Statement]) -> list[Claim]:
    """Those of `said` that say something which others may contradict, as they are compared."""
    return [claim for claim in map(_claim, said) if claim is not None]


def contradictions(said: Iterable[Statement], against: Sequence[Claim] | None = None) -> list[Contradiction]:
    """The pairs among `said`, newest first, each once; with `against` those of one of `said` and one of `against`."""
    claims, is_own = claimed(said), against is None
    known = _Claims(claims if against is None else against)
    found: dict[tuple[str, str, str, str], Contradiction] = {}
    for number, claim in enumerate(claims):
        for at, other in known.alike(claim):
            if is_own and at <= number and len(other.words) == len(claim.words):
                continue
            pair = _compared(claim, other)
            if pair is not None:
                key = (pair.newer.path, pair.newer.text, pair.older.path, pair.older.text)
                found.setdefault(key, pair)
    return sorted(found.values(), key=lambda pair: (_reversed(pair.newer.date), pair.newer.path, pair.newer.line))


class _Claims:
    """Claims by their words, whole and with each word in turn left out."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._claims = claims
        self._whole: dict[int, list[int]] = {}
        for number, claim in enumerate(claims):
            self._whole.setdefault(hash(claim.words), []).append(number)
        self._longer: dict[int, list[int]] = {}
        for number, claim in enumerate(claims):
            for key in _shortened(claim.words):
                if key in self._whole or claim.amounts or claim.negations:
                    self._longer.setdefault(key, []).append(number)

        self._values: dict[int, frozenset[_Values]] = {}  # of each group that was asked for, by the list's own number

    def alike(self, claim: Claim) -> Iterator[tuple[int, Claim]]:
        """Those with the same words, or with one more or less; none of a group that says all what the claim says."""
        keys = dict.fromkeys([hash(claim.words), *_shortened(claim.words)])
        seen: set[int] = set()
        own = _values(claim)
        groups = [self._whole.get(key, []) for key in keys]
        for group in (*groups, self._longer.get(hash(claim.words), [])):
            values = self._values_of(group)
            if values <= {own} or len({amounts for amounts, _ in values}) > _MOST_VALUES:
                continue
            for number in group:
                if number not in seen:
                    seen.add(number)
                    yield number, self._claims[number]

    def _values_of(self, group: list[int]) -> frozenset[_Values]:
        if not group:
            return frozenset()
        if id(group) not in self._values:
            self._values[id(group)] = frozenset(_values(self._claims[number]) for number in group)
        return self._values[id(group)]


_Values = tuple[tuple[tuple[float, DateParts], ...], bool]


def _values(claim: Claim) -> _Values:
    """What the claim may contradict another of the same words by: its amounts, and whether it is negated."""
    return tuple((amount.value, amount.parts) for amount in claim.amounts), bool(claim.negations % 2)


def _shortened(words: tuple[str, ...]) -> list[int]:
    """The keys of `words` with one of them left out, where enough are left to tell what is spoken of."""
    if len(words) <= FEWEST_WORDS + 1:
        return []
    return [hash(words[:at] + words[at + 1 :]) for at, word in enumerate(words) if not word.startswith("#")]


def _claim(statement: Statement) -> Claim | None:
    """The statement as it is compared; None where it says too little, or too much, to be one."""
    if len(statement.text) > 4 * _LONGEST:  # before anything is looked for in it
        return None
    text = _MARKUP.sub("", bare(statement.text))
    if len(text) > _LONGEST or text.rstrip().endswith(("?", ":")):
        return None
    amounts = quantities(text)
    if len(amounts) > _MOST_AMOUNTS or "|" in text:
        return None
    language = encoder(detect_language(text)) if not text.isascii() else encoder("english")
    words: list[str] = []
    names: set[str] = set()
    negations, at = 0, 0
    pending = list(amounts)
    for match in word_pattern().finditer(text):
        while pending and pending[0].start < match.end():
            if not words or words[-1] != f"#{pending[0].dimension}" or at <= pending[0].start:
                words.append(f"#{pending[0].dimension}")
            at = pending.pop(0).end
        if match.start() < at:
            continue
        word = match[0].casefold()
        if is_negating(word):
            negations += 1
        elif word not in _EMPTY:
            forms = language.forms(word)[0]
            words.append(forms[0] if forms else word)
            if match[0][:1].isupper() and match.start() > 0:
                names.add(words[-1])
    words += [f"#{amount.dimension}" for amount in pending]
    meaning = [word for word in words if not word.startswith("#")]
    if len(meaning) < FEWEST_WORDS:
        return None
    return Claim(statement, text, tuple(words), tuple(amounts), negations, frozenset(names))


def _compared(claim: Claim, other: Claim) -> Contradiction | None:
    """The contradiction between two claims with the same words, or one more on one side; None where there is none."""
    extra = set(claim.words) ^ set(other.words)
    if extra & (claim.names | other.names) or len(claim.amounts) != len(other.amounts):
        return None
    if not _is_of_one_thing(claim, other):
        return None
    pairs = list(zip(claim.amounts, other.amounts, strict=True))
    if any(mine.dimension != theirs.dimension for mine, theirs in pairs):
        return None
    differing = [(mine, theirs) for mine, theirs in pairs if not mine.is_same(theirs)]
    if differing:
        if len(differing) > 1 and len(differing) == len(pairs):
            return None  # another record, rather than the same one said anew
        if claim.negations != other.negations:
            return None
        mine, theirs = differing[0]
        kind: ContradictionKind = mine.kind
        return _ordered(claim, other, kind, claim.text[mine.start : mine.end], other.text[theirs.start : theirs.end])
    if (claim.negations + other.negations) % 2 and _is_negatable(claim) and _is_negatable(other):
        return _ordered(claim, other, "negation", claim.text, other.text)
    return None


def _is_negatable(claim: Claim) -> bool:
    """Whether the claim is a whole sentence: titles and entries of change logs name what was wrong, or is no more."""
    return len(claim.words) >= _NEGATED_WORDS and _SENTENCE.match(claim.text) is not None


def _is_of_one_thing(claim: Claim, other: Claim) -> bool:
    """Whether both speak of one thing: what `it` is depends on where it stands, and a part of a note has its own."""
    mine, theirs = claim.statement, other.statement
    if mine.path == theirs.path:
        return mine.trail == theirs.trail and abs(mine.line - theirs.line) >= _APART
    first = {said.text.split(maxsplit=1)[0].casefold().strip(".,") for said in (mine, theirs) if said.text}
    return not first & _POINTING


def _ordered(claim: Claim, other: Claim, kind: ContradictionKind, said: str, other_said: str) -> Contradiction:
    mine, theirs = claim.statement, other.statement
    if (mine.date, theirs.line) >= (theirs.date, mine.line):
        return Contradiction(mine, theirs, kind, said, other_said)
    return Contradiction(theirs, mine, kind, other_said, said)


def _reversed(date: str) -> str:
    """A form of an ISO day that sorts the other way round."""
    return "".join(chr(0x7F - ord(sign)) for sign in date) or "\x7f"
