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
from typing import Final, NamedTuple

from infold.search.terms import encoder

_MOST_WORDS: Final = 32_768  # that are kept for a set of languages, some 10 MB; then they are met anew
_NONE: Final[tuple[str, ...]] = ()


class _Sought(NamedTuple):
    """The words met that have any of some terms, each with those that it has; `state` is that of the words met."""

    state: tuple[int, int]
    terms_of: Mapping[str, tuple[str, ...]]


_NOTHING: Final = _Sought((-1, 0), {})


class _MetWords:
    """The words met so far, by the terms that they have in some languages. For any number of threads."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._readers = [encoder(language) for language in languages]
        self._turn = threading.Lock()
        self._met: set[str] = set()
        self._with: dict[str, list[str]] = {}  # a term
        self._forgotten = 0  # how often

    def having(self, terms: Iterable[str], words: Sequence[str], known: _Sought) -> _Sought:
        """Those of `words`, and of others, that have any of `terms`; `known` where nothing new was met since."""
        with self._turn:
            self._meet(set(words).difference(self._met), words)
            state = self._forgotten, len(self._met)
            if state == known.state:
                return known
            found: dict[str, tuple[str, ...]] = {}
            for term in terms:
                for word in self._with.get(term, _NONE):
                    found[word] = (*found.get(word, _NONE), term)
            return _Sought(state, found)

    def _meet(self, new: set[str], words: Sequence[str]) -> None:
        if not new:
            return
        if len(self._met) > _MOST_WORDS:
            self._met.clear()
            self._with.clear()
            self._forgotten += 1
            new = set(words)
        for word in new:
            for term in {form for reader in self._readers for part in reader.forms_of(word) for form in part}:
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
    _sought: _Sought = field(default=_NOTHING, init=False, repr=False)

    def among(self, words: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """The terms that are sought, of each of these words, and of others, that has any."""
        self._sought = _met_in(frozenset(self.languages)).having(self.terms, words, self._sought)
        return self._sought.terms_of
