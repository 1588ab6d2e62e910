"""The words that the notes have, for a question whose words they have not: what begins so, and what comes nearest.

The last word of a question may still be being typed; any other that stands nowhere is taken for a slip of the keys
where a word of the notes is one or two letters off.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from infold.search.index.contract import Demands
from infold.search.languages import DEFAULT_LANGUAGE
from infold.search.terms import encoder, folded, is_unspaced, tokens

if TYPE_CHECKING:
    from infold.search.index.word_schema import WordField
    from infold.search.query.query_parser import Question

_SHORTEST: Final = 4  # letters of a word that is worth a guess
_SHORTEST_BEGINNING: Final = 3
_LONG: Final = 8  # letters of a word in which two may be wrong
_COMPLETIONS: Final = 3
_BEGUN: Final = 20  # words that are looked for where a question names their beginning


class Words(Protocol):
    """The part of a word index that is used here."""

    def frequencies(self, terms: Collection[str], field: WordField = "words") -> Mapping[str, int]:
        """In how many points each of these terms stands."""

    def beginning(self, start: str, field: WordField = "words", most: int | None = None) -> Sequence[str]:
        """The terms that begin so, those of the most points first."""


def understood(question: Question, words: Words, languages: Sequence[str]) -> tuple[Question, tuple[str, ...]]:
    """The question in words that the notes have, and what a person should know of the change. Phrases stay."""
    asked = tokens(question.loose)
    swapped: dict[str, str] = {}
    notices = []
    for n, word in enumerate(asked):
        if word in swapped or is_known(word, words, languages):
            continue
        begun = _completions(word, words) if n == len(asked) - 1 else []
        near = "" if begun else nearest_known(word, words, languages)
        if near:
            notices.append(f"“{word}” stands nowhere in what is searched; “{near}” was looked for instead.")
        if begun or near:
            swapped[word] = " ".join(begun) or near
    for start in question.beginnings:
        begun = _begun(folded(start), words, _BEGUN)
        question = question._replace(keywords=" ".join((question.keywords, *begun)).strip())
    if not swapped:
        return question, ()
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, swapped)) + r")(?!\w)")
    text, keywords, loose = (
        pattern.sub(lambda match: swapped[match[0]], part)
        for part in (question.text, question.keywords, question.loose)
    )
    return question._replace(text=text, keywords=keywords, loose=loose), tuple(notices)


def demands_of(question: Question, languages: Sequence[str]) -> Demands:
    """What the index can say of the words that a result must and must not have. The text itself has the last word."""
    without: dict[str, None] = {}
    for word in question.absent:
        if tokens(word) != [word] or is_unspaced(word):
            continue  # several words, which a passage may hold apart
        for language in _spoken(languages):
            main, _ = encoder(language).forms(word)
            if len(main) == 1:
                without |= dict.fromkeys((*main, folded(word)))
    return Demands(tuple(folded(start) for start in question.beginnings), tuple(without))


def is_known(word: str, words: Words, languages: Sequence[str]) -> bool:
    """Whether any form of `word` stands in any passage."""
    forms = [encoder(language).forms(word) for language in _spoken(languages)]
    main, secondary = ({term for form in forms for term in form[kind]} for kind in (0, 1))
    return any(words.frequencies(main | secondary).values()) or any(
        words.frequencies(main | secondary, "written").values()
    )


def nearest_known(word: str, words: Words, languages: Sequence[str]) -> str:
    """The word of the notes that is a letter or two off `word`; "" where there is none, or `word` is too short."""
    wanted = folded(word)
    if len(wanted) < _SHORTEST or not wanted.isalpha() or is_unspaced(wanted):
        return ""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    most = 2 if len(wanted) >= _LONG else 1
    for start in dict.fromkeys(wanted[:2]):  # its first two letters may have changed places
        known = [*_begun(start, words, None), *words.beginning(start)]
        best = process.extractOne(wanted, known, scorer=OSA.distance, score_cutoff=most)
        if best is not None:
            return _whole(str(best[0]), wanted, words, languages)
    return ""


def _whole(term: str, wanted: str, words: Words, languages: Sequence[str]) -> str:
    """A word as it is written, where `term` is the stem of some: the one that comes nearest."""
    from rapidfuzz.distance import OSA

    written = [
        word
        for word in words.beginning(term, "written")
        if any(encoder(language).forms(word)[0] == (term,) for language in _spoken(languages))
    ]
    return min((term, *written), key=lambda word: (OSA.distance(word, wanted), word))


def _completions(word: str, words: Words) -> list[str]:
    start = folded(word)
    return _begun(start, words, _COMPLETIONS) if len(start) >= _SHORTEST_BEGINNING and start.isalpha() else []


def _begun(start: str, words: Words, most: int | None) -> list[str]:
    """Words as written that begin so, then stems."""
    found = dict.fromkeys((*words.beginning(start, "written", most), *words.beginning(start, "words", most)))
    return list(found)[:most]


def _spoken(languages: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*languages, DEFAULT_LANGUAGE)))
