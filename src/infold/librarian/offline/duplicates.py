"""Whether a note already says what a paragraph says, and which of its text shows it.

By containment: the paragraph's runs of three words must stand in the note, sentence by sentence, and so must all of
its words. Numbers and negations must agree, because a changed date, amount or "not" is a contradiction and no
duplicate; and a link that leads elsewhere is something new. Nearness of meaning decides nothing here: contradictions
are nearer to each other than paraphrases are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infold.librarian.offline.reading import bare
from infold.text import collapse_spaces, folded_words, sentences
from infold.vault.records import Block, BlockKind, Note

WHOLE_SHARE: Final = 0.8  # of the paragraph's runs of three words
SENTENCE_SHARE: Final = 0.6  # of each sentence's
MISSING_SHARE: Final = 0.0  # of its words may stand nowhere in the covering text
MOST_BLOCKS: Final = 6
_RUN: Final = 3
_NUMBER: Final = re.compile(r"\d+(?:[.,:/\-]\d+)*")
_NEGATING: Final = """
    not no never none nothing nobody nor neither without cannot nicht kein keine keinen keiner keines nie niemals ohne
    weder ne pas jamais aucun aucune sans ni nunca ningún ninguna ninguno sin não nem sem non mai nessun nessuna senza
    niet geen nooit zonder inte ingen aldrig ikke aldri не нет ни никогда без bez ani 不 没 沒 無 无 非 未
"""
_NEGATIONS: Final = frozenset(_NEGATING.split())
_TARGET: Final = re.compile(r"\[\[([^\]]+)\]\]|\]\(([^)\s]+)|([a-z][a-z0-9+.-]*://[^\s)>\]]+)", re.IGNORECASE)
_NEGATED_END: Final = re.compile(r"n['’]t\Z")
_SKIPPED: Final = frozenset((BlockKind.FRONT_MATTER, BlockKind.RULE, BlockKind.COMMENT))


@dataclass(frozen=True, slots=True)
class Cover:
    """The part of a note that covers a paragraph, from `start` to `end` in the note's text."""

    path: str
    start: int
    end: int


def find_cover(text: str, note: Note) -> Cover | None:
    """The smallest run of the note's blocks that covers the paragraph `text`; None where it says something else."""
    wanted = folded_words(bare(text))
    if not wanted:
        return None
    blocks = [block for block in note.blocks if block.kind not in _SKIPPED]
    even = collapse_spaces(text)
    words = {block.start: folded_words(bare(note.block_text(block))) for block in blocks}
    if not set(wanted) <= {word for found in words.values() for word in found}:
        return None
    for block in blocks:
        if even == collapse_spaces(note.block_text(block)):
            return Cover(note.path, block.start, block.end)
    runs = _runs(wanted)
    links = _targets(text)
    for many in range(1, MOST_BLOCKS + 1):
        for first in range(len(blocks) - many + 1):
            some = blocks[first : first + many]
            if len(set(wanted) - {w for b in some for w in words[b.start]}) > MISSING_SHARE * len(wanted):
                continue
            held = {run for block in some for run in _runs(words[block.start])}
            whole = [word for block in some for word in words[block.start]]
            held |= _runs(whole)
            is_near = len(runs & held) >= WHOLE_SHARE * len(runs)
            if is_near and links <= _targets(note.text[some[0].start : some[-1].end]) and _agree(text, note, some):
                return Cover(note.path, some[0].start, some[-1].end)
    return None


def _targets(text: str) -> set[str]:
    """Where the links of `text` lead, as written."""
    return {found.casefold() for parts in _TARGET.findall(text) for found in parts if found}


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    size = min(_RUN, len(words))
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)} if words else set()


def _agree(text: str, note: Note, blocks: Sequence[Block]) -> bool:
    """Whether each sentence of the paragraph is said in the blocks, its numbers and negations included."""
    theirs = [
        sentence for block in blocks for sentence in sentences(bare(note.block_text(block))) if folded_words(sentence)
    ]
    return all(_is_said(sentence, theirs) for sentence in sentences(bare(text)) if folded_words(sentence))


def _is_said(sentence: str, theirs: Sequence[str]) -> bool:
    words = folded_words(sentence)
    runs = _runs(words)
    best: str | None = None
    most = 0.0
    for other in theirs:
        other_words = folded_words(other)
        share = 1.0 if _holds(other_words, words) else len(runs & _runs(other_words)) / len(runs)
        if share > most:
            best, most = other, share
    if best is None or most < SENTENCE_SHARE:
        return False
    return _numbers_follow(sentence, best) and _negations(sentence) == _negations(best)


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether `part` stands in `words` as one run."""
    return any(list(words[i : i + len(part)]) == list(part) for i in range(len(words) - len(part) + 1))


def _numbers_follow(sentence: str, other: str) -> bool:
    """Whether the numbers of `sentence` stand in `other` in the same order."""
    rest = iter(_NUMBER.findall(other))
    return all(number in rest for number in _NUMBER.findall(sentence))


def _negations(sentence: str) -> int:
    return sum(word in _NEGATIONS or _NEGATED_END.search(word) is not None for word in folded_words(sentence))
