"""Whether a note already says what a paragraph says, and which of its text shows it.

By containment: the paragraph's runs of three words must stand in the note, sentence by sentence, and so must all of
its words. Numbers and negations must agree, because a changed date, amount or "not" is a contradiction and no
duplicate; and a link that leads elsewhere is something new. What the vault itself calls by two names is one thing
(`names`). Nearness of meaning decides nothing here: contradictions
are nearer to each other than paraphrases are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

from infold.librarian.offline.names import NO_NAMES, Names, is_placeholder
from infold.librarian.offline.negating import is_negating
from infold.librarian.offline.reading import bare
from infold.text import collapse_spaces, folded_words, sentences
from infold.text import words as text_words
from infold.vault.note import parse
from infold.vault.records import Block, BlockKind, Note

WHOLE_SHARE: Final = 0.8  # of the paragraph's runs of three words
SENTENCE_SHARE: Final = 0.6  # of each sentence's
MISSING_SHARE: Final = 0.0  # of its words may stand nowhere in the covering text
MOST_BLOCKS: Final = 6
_RUN: Final = 3
_KEPT_TEXTS: Final = 16  # each is compared with some twenty notes, one after the other
_MOST_STARTS: Final = 200  # of the same first block, from which the rest is looked for
_MARKER: Final = re.compile(r"\A\s*(?:[-*+]|\d{1,9}[.)])(?=\s|\Z)")
_NUMBER: Final = re.compile(r"\d+(?:[.,:/\-]\d+)*")
_TARGET: Final = re.compile(r"\[\[([^\[\]]+)\]\]|\]\(([^)\s]+)|([a-z][a-z0-9+.-]{0,30}://[^\s)>\]]+)", re.IGNORECASE)
_SKIPPED: Final = frozenset((BlockKind.FRONT_MATTER, BlockKind.RULE, BlockKind.COMMENT))


_Form = tuple[BlockKind, str]


@dataclass(frozen=True, slots=True)
class DuplicateMatch:
    """The part of a note that covers a paragraph, from `start` to `end` in the note's text."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block as it is compared: its text with equal names made one, its words, and where its links lead."""

    start: int
    end: int
    text: str
    words: Sequence[str]
    links: set[str]  # none where the paragraph has none


def find_cover(text: str, note: Note, names: Names = NO_NAMES) -> DuplicateMatch | None:
    """The smallest run of the note's blocks that covers the paragraph `text`; None where it says something else.

    `names` are the vault's own: where the words alone do not show it, a note may be called by another of its names.
    """
    folded = note.text.casefold()
    found = _verbatim(text, note, folded)
    if found is None and _may_stand(_distinct_words(text), folded):
        found = _find(text, note, str, _as_written)
    renaming = None if found else names.in_text(text)
    if renaming is None or not _has_the_rest(renaming.even(bare(text)), folded):
        return found
    return _find(text, note, lambda written: renaming.even(bare(written)), names.target)


def _may_stand(words: Iterable[str], folded: str) -> bool:
    """Whether these case-folded words may all be words of a case-folded text: soon told, and seldom so."""
    return all(word in folded for word in words)


@lru_cache(maxsize=_KEPT_TEXTS)
def _distinct_words(text: str) -> tuple[str, ...]:
    """The distinct words of a text, the long ones first, which few texts have."""
    return tuple(sorted(set(folded_words(bare(text))), key=lambda word: (-len(word), word)))


@lru_cache(maxsize=_KEPT_TEXTS)
def _wanted(text: str) -> tuple[tuple[_Form, ...], tuple[str, ...]]:
    """The blocks of a text that is looked for, and their distinct words."""
    forms = [(block.kind, _form(text, block)) for block in parse("", text).blocks if block.kind not in _SKIPPED]
    words = {word for _, form in forms for word in folded_words(form)}
    return tuple(forms), tuple(sorted(words, key=lambda word: (-len(word), word)))


def _verbatim(text: str, note: Note, folded: str) -> DuplicateMatch | None:
    """The blocks of the note that are those of `text`, one after the other; items may stand among others of a list."""
    wanted, words = _wanted(text)
    if not words or not _may_stand(words, folded):
        return None
    blocks = [block for block in note.blocks if block.kind not in _SKIPPED]
    forms = [(block.kind, _form(note.text, block)) for block in blocks]
    starts = (at for at, form in enumerate(forms) if form == wanted[0])
    is_list = all(kind is BlockKind.LIST_ITEM for kind, _ in wanted)
    tried_to = 0
    for at in islice((at for at in starts if at >= tried_to), _MOST_STARTS):
        end, reached = _followed(wanted, forms, at)
        if end is not None:
            return DuplicateMatch(note.path, blocks[at].start, blocks[end].end)
        tried_to = reached if is_list else 0  # what a list lacks, the rest of that list lacks
    return None


def _followed(wanted: Sequence[_Form], forms: Sequence[_Form], at: int) -> tuple[int | None, int]:
    """Where `wanted`, which begins at `at`, ends, None where something else comes between; and how far was looked."""
    for kind, form in wanted[1:]:
        at += 1
        if kind is BlockKind.LIST_ITEM:
            while at < len(forms) and forms[at][0] is kind and forms[at][1] != form:
                at += 1
        if at >= len(forms) or forms[at] != (kind, form):
            return None, at
    return at, at


def _form(text: str, block: Block) -> str:
    """What a block says, white space and the marker of a list aside."""
    said = text[block.start : block.end]
    return collapse_spaces(_MARKER.sub("", said, count=1) if block.kind is BlockKind.LIST_ITEM else said)


def _has_the_rest(evened: str, folded: str) -> bool:
    """Whether a note, case-folded, has all words but the names."""
    rest = {word for word in folded_words(evened) if not is_placeholder(word)}
    return _may_stand(rest, folded) and rest.issubset(text_words(folded))


def _as_written(link: str) -> str:
    return link.casefold()


def _find(text: str, note: Note, even: Callable[[str], str], target: Callable[[str], str]) -> DuplicateMatch | None:
    said = even(text)
    wanted = folded_words(bare(said))
    if not wanted:
        return None
    blocks = [block for block in note.blocks if block.kind not in _SKIPPED]
    evened = [even(note.block_text(block)) for block in blocks]
    words = [folded_words(bare(each)) for each in evened]
    if not set(wanted).issubset(word for found in words for word in found):
        return None
    runs = _runs(wanted)
    if _said_in(words, runs) < WHOLE_SHARE * len(runs):
        return None
    plain = collapse_spaces(said)
    links = _targets(text, target)
    pieces = [
        _Piece(
            block.start, block.end, each, own, _targets(note.text[block.start : block.end], target) if links else set()
        )
        for block, each, own in zip(blocks, evened, words, strict=True)
    ]
    for piece in pieces:
        if plain == collapse_spaces(piece.text) and links <= piece.links:
            return DuplicateMatch(note.path, piece.start, piece.end)
    distinct = set(wanted)
    own = [distinct.intersection(piece.words) for piece in pieces]
    ours = _Said(sentences(bare(said)))
    needed = len(distinct) - MISSING_SHARE * len(wanted)
    for many in range(1, MOST_BLOCKS + 1):
        for first in range(len(pieces) - many + 1):
            some, theirs = pieces[first : first + many], own[first : first + many]
            if sum(map(len, theirs)) < needed or len(set().union(*theirs)) < needed:
                continue
            held = {run for piece in some for run in _runs(piece.words)}
            held |= _runs([word for piece in some for word in piece.words])
            is_near = len(runs & held) >= WHOLE_SHARE * len(runs)
            if is_near and links <= set().union(*(piece.links for piece in some)) and _agree(ours, some):
                return DuplicateMatch(note.path, some[0].start, some[-1].end)
    return None


def _said_in(words: Iterable[Sequence[str]], runs: Iterable[Sequence[str]]) -> int:
    """How many of some runs of words stand in a whole note: no part of it has more of them, which is told sooner."""
    said = f" {' '.join(word for own in words for word in own)} "
    return sum(f" {' '.join(run)} " in said for run in runs)


def _targets(text: str, target: Callable[[str], str]) -> set[str]:
    """Where the links of `text` lead."""
    found = set()
    for wiki, *addresses in _TARGET.findall(text):
        found.update([target(wiki)] if wiki else [address.casefold() for address in addresses if address])
    return found


def _runs(words: Sequence[str], size: int = _RUN) -> set[tuple[str, ...]]:
    size = min(size, len(words))
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)} if words else set()


@dataclass(frozen=True, slots=True)
class _NoteSentence:
    """A sentence, its words and their runs."""

    text: str
    words: Sequence[str]
    runs: set[tuple[str, ...]]


class _Said:
    """Sentences by the runs of words that stand in them, so that one is compared with those alone that share some."""

    def __init__(self, said: Iterable[str]) -> None:
        split = ((sentence, folded_words(sentence)) for sentence in dict.fromkeys(said))
        self.sentences = [_NoteSentence(sentence, words, _runs(words)) for sentence, words in split if words]
        self._holding: dict[int, dict[tuple[str, ...], list[int]]] = {}

    def sharing(self, sentence: _NoteSentence) -> list[_NoteSentence]:
        """Those that have one of its runs, each once, in their order."""
        size = min(_RUN, len(sentence.words))
        if size not in self._holding:
            holding: dict[tuple[str, ...], list[int]] = {}
            for at, own in enumerate(self.sentences):
                for run in _runs(own.words, size):
                    holding.setdefault(run, []).append(at)
            self._holding[size] = holding
        found = self._holding[size]
        return [self.sentences[at] for at in sorted({at for run in sentence.runs for at in found.get(run, ())})]


def _agree(ours: _Said, pieces: Sequence[_Piece]) -> bool:
    """Whether each sentence of the paragraph is said in the pieces, its numbers and negations included."""
    theirs = _Said(sentence for piece in pieces for sentence in sentences(bare(piece.text)))
    return all(_is_said(sentence, theirs) for sentence in ours.sentences)


def _is_said(sentence: _NoteSentence, theirs: _Said) -> bool:
    best: _NoteSentence | None = None
    most = 0.0
    for other in theirs.sharing(sentence):
        is_whole = _holds(other.words, sentence.words)
        share = 1.0 if is_whole else len(sentence.runs & other.runs) / len(sentence.runs)
        if share > most:
            best, most = other, share
        if share == 1.0:
            break
    if best is None or most < SENTENCE_SHARE:
        return False
    if not _beside_names(sentence.words) <= _beside_names(best.words):
        return False
    return _numbers_follow(sentence.text, best.text) and _negations(sentence.text) == _negations(best.text)


def _beside_names(words: Sequence[str]) -> set[tuple[str, ...]]:
    """What stands right before and after a name that has others: a word beside it can turn its meaning round."""
    closed = ["", *words, ""]
    return {pair for pair in pairwise(closed) if any(map(is_placeholder, pair))}


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether `part` stands in `words` as one run."""
    return any(list(words[i : i + len(part)]) == list(part) for i in range(len(words) - len(part) + 1))


def _numbers_follow(sentence: str, other: str) -> bool:
    """Whether the numbers of `sentence` stand in `other` in the same order."""
    rest = iter(_NUMBER.findall(other))
    return all(number in rest for number in _NUMBER.findall(sentence))


def _negations(sentence: str) -> int:
    return sum(map(is_negating, folded_words(sentence)))
