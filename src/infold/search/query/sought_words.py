"""The words that a snippet marks: those of a text that have a term of the question in some form.

Of every word that is met its terms are worked out once, and the word is kept by them. So a question looks its few terms
up, and not each word of each passage that it finds.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Final

from infold.search.terms import encoder

_MOST_WORDS: Final = 32_768  # that are kept for a set of languages, some 10 MB; then they are met anew
_NONE: Final[Sequence[str]] = ()


class Prose:
    """A text to cut snippets of: `text` is what is read of the `whole`, from `begin` on, with where each word starts.

    Lines in it that only say where links lead are `unread`. `met` is the age of the words met so far, where all of
    these are among them.
    """

    __slots__ = ("begin", "met", "starts", "text", "unread", "whole", "words")

    def __init__(
        self,
        whole: str,
        text: str,
        begin: int,
        unread: tuple[tuple[int, int], ...],
        words: Sequence[str],
        starts: Sequence[int],
    ) -> None:
        self.whole, self.text, self.begin, self.unread = whole, text, begin, unread
        self.words, self.starts = words, starts
        self.met: object = None


@dataclass(slots=True)
class _Sought:
    """The words met that have any of some terms, each with those that it has, as far as they were looked through."""

    age: object = None  # of the words
    met: int = 0
    taken: dict[str, int] = field(default_factory=dict)  # of a term, how many of the words that have it
    terms_of: dict[str, tuple[str, ...]] = field(default_factory=dict)


class _MetWords:
    """The words met so far, by the terms that they have in some languages. For any number of threads."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._readers = [encoder(language) for language in languages]
        self._turn = threading.Lock()
        self._met: set[str] = set()
        self._with: dict[str, list[str]] = {}  # a term
        self._age = object()  # another once they were forgotten

    def is_up_to_date(self, prose: Prose, known: _Sought) -> bool:
        """Whether `known` has what is sought of `prose`, all words of which were met, and none since it was made."""
        return prose.met is known.age is self._age and known.met == len(self._met)

    def having(self, terms: Iterable[str], prose: Prose, known: _Sought) -> _Sought:
        """The words of `prose`, and others, that have any of `terms`: `known`, with what was met since."""
        with self._turn:
            if prose.met is not self._age:
                self._meet(set(prose.words).difference(self._met), prose.words)
                prose.met = self._age
            if known.age is not self._age:
                known = _Sought(self._age)
            if known.met == len(self._met):
                return known
            for term in terms:
                has, taken = self._with.get(term, _NONE), known.taken.get(term, 0)
                if taken < len(has):
                    known.taken[term] = len(has)
                    for word in has[taken:]:
                        known.terms_of[word] = (*known.terms_of.get(word, _NONE), term)
            known.met = len(self._met)
            return known

    def _meet(self, new: set[str], words: Sequence[str]) -> None:
        if not new:
            return
        if len(self._met) > _MOST_WORDS:
            self._met.clear()
            self._with.clear()
            self._age = object()
            new = set(words)
        found = list(new)
        for word, *forms in zip(found, *(reader.forms_together(found) for reader in self._readers), strict=True):
            for term in set(chain.from_iterable(forms)):
                self._with.setdefault(term, []).append(word)
        self._met |= new


@lru_cache(maxsize=4)
def _met_in(languages: frozenset[str]) -> _MetWords:
    return _MetWords(sorted(languages))


@dataclass
class SoughtWords:
    """What is marked: terms with what each counts, the languages to read words in, and phrases as patterns."""

    terms: Mapping[str, float]
    languages: tuple[str, ...]
    phrases: tuple[re.Pattern[str], ...] = ()
    _sought: _Sought = field(default_factory=_Sought, init=False, repr=False)
    _met: _MetWords = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._met = _met_in(frozenset(self.languages))

    def among(self, prose: Prose) -> Mapping[str, tuple[str, ...]]:
        """The terms that are sought, of each word of `prose`, and of others, that has any."""
        if not self._met.is_up_to_date(prose, self._sought):
            self._sought = self._met.having(self.terms, prose, self._sought)
        return self._sought.terms_of
