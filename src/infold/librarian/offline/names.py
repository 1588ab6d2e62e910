"""Which names mean the same note, by what the vault itself calls its notes: titles, aliases, what links show.

Two names of a note are equal where one of them is its title, or where one has all words of the other. Any other two are
not: what links to one note show may well be opposites (`[[Heat|too hot]]`, `[[Heat|far too cold]]`). For the same
reason names that differ in one word are never equal, and what holds a number or a negation is no name here. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgpack

from infold.librarian.offline.negating import is_negating
from infold.text import collapse_spaces, folded_words
from infold.vault.links import LinkResolver
from infold.vault.names import stem
from infold.vault.note import parse

_CHARACTERS: Final = (4, 60)
_MOST_WORDS: Final = 5
_LEAST_STEM: Final = 3
_ENDING: Final = 3  # letters by which inflections of one word may differ at the end
_NO_NAME: Final = re.compile(r"[\[\]|*_`<>#{}()/\\.\d]")  # markup, or a number
_PLACEHOLDER: Final = "Xnamexofxnotex"  # no word of any language; a capital, because names often begin a sentence
_FOLDED_PLACEHOLDER: Final = _PLACEHOLDER.casefold()

NameWords = tuple[str, ...]


class OwnNames(NamedTuple):
    """The names that are one note's alone, and which of them are its titles."""

    names: frozenset[NameWords]
    titles: frozenset[NameWords]


class Names:
    """The names of a vault's notes by path. `is_common` says of a single word that it is a word rather than a name.

    `resolver` is asked for where a text has a link.
    """

    def __init__(
        self,
        own: Mapping[str, OwnNames],
        resolver: Callable[[], LinkResolver] | None = None,
        is_common: Callable[[str], bool] | None = None,
    ) -> None:
        self._resolver = resolver
        self._own = own
        self._owners = {name: path for path, (names, _) in own.items() for name in names}
        self._first: dict[str, set[NameWords]] = defaultdict(set)
        for name in self._owners:
            self._first[name[0]].add(name)
        self._is_common = is_common or (lambda _: False)
        self._asked: tuple[str, Renaming | None] = "", None  # the text that was asked for last, note after note

    def in_text(self, text: str) -> Renaming | None:
        """The names that `text` holds and what else they may be called; None where it holds none that has another."""
        if self._asked[0] != text:
            self._asked = text, self._renaming(text)
        return self._asked[1]

    def _renaming(self, text: str) -> Renaming | None:
        held: dict[str, set[NameWords]] = defaultdict(set)
        for name in self._held(folded_words(self._shown(text))):
            held[self._owners[name]].add(name)
        equals: dict[NameWords, str] = {}
        for path, own in held.items():
            same = [
                other
                for other in self._names_of(path)
                if all(other == name or self._mean_the_same(path, name, other) for name in own)
            ]
            if own.issubset(same) and len(same) > 1:
                equals |= dict.fromkeys(same, path)
        return Renaming(equals, self._shown) if equals else None

    def _held(self, words: Sequence[str]) -> Iterator[NameWords]:
        """The names that stand in a text of these words, the longest at each place."""
        at = 0
        while at < len(words):
            here = [
                name
                for name in self._first.get(words[at], ())
                if tuple(words[at : at + len(name)]) == name and self._is_one_of_several(name)
            ]
            longest = max(here, key=len, default=None)
            if longest is not None:
                yield longest
            at += len(longest) if longest else 1

    def _is_one_of_several(self, name: NameWords) -> bool:
        """Whether a note's name is no common word, and not the only one."""
        return not self._is_word(name) and len(self._names_of(self._owners[name])) > 1

    def _names_of(self, path: str) -> list[NameWords]:
        return [name for name in self._own[path].names if not self._is_word(name)]

    def _is_word(self, name: NameWords) -> bool:
        return len(name) == 1 and self._is_common(name[0])

    def target(self, link: str) -> str:
        """Where the inside of a wiki-link leads, whatever it shows: the note's path and the anchor; else as written."""
        left, _, right = link.partition("|")
        if self._resolver is None:
            return link.casefold()
        name, _, anchor = left.partition("#")
        resolver = self._resolver()
        path = resolver.resolve(name.strip(), "") if name.strip() else None
        if path is None:
            path = resolver.resolve_reversed(right, "", is_wiki=True)
            anchor = right.partition("#")[2]
        return f"{path}#{anchor.strip().casefold()}" if path else link.casefold()

    def _mean_the_same(self, path: str, one: NameWords, other: NameWords) -> bool:
        if _contrast(one, other):
            return False
        titles = self._own[path].titles
        return one in titles or other in titles or _within(one, other) or _within(other, one)

    def _shown(self, text: str) -> str:
        """`text` with each wiki-link as what it shows."""
        if "[[" not in text:
            return text
        parts, at = [], 0
        for link in parse("", text).links:
            if link.is_wiki and not link.is_embed:
                parts += [text[at : link.start], self._shows(link.target, link.alias)]
                at = link.end
        return "".join([*parts, text[at:]])

    def _shows(self, target: str, alias: str | None) -> str:
        if alias and (self._resolver is None or self._resolver().resolve(target, "") is None):
            return f"{target} {alias}"  # the one or the other may be what is shown
        return alias or stem(target)


@dataclass(frozen=True)
class Renaming:
    """Names that mean the same notes as those of one paragraph, each with the note."""

    equals: Mapping[NameWords, str]
    shown: Callable[[str], str]

    def even(self, text: str) -> str:
        """`text` with each of these names as one and the same word a note."""
        marks = {path: _PLACEHOLDER + _lettered(n) for n, path in enumerate(sorted(set(self.equals.values())))}
        gap = r"[^\w\n.!?:;,'’\-]+"
        ordered = sorted(self.equals, key=lambda name: (-len(" ".join(name)), name))
        pattern = "|".join(gap.join(map(re.escape, name)) for name in ordered)
        return re.sub(
            rf"(?<![\w'’\-])(?:{pattern})(?![\w'’\-])",
            lambda found: marks.get(self.equals.get(tuple(folded_words(found[0])), ""), found[0]),
            self.shown(text),
            flags=re.IGNORECASE,
        )


def is_placeholder(word: str) -> bool:
    """Whether a case-folded word stands for the names of a note in an evened text."""
    return word.startswith(_FOLDED_PLACEHOLDER)


NO_NAMES: Final = Names({})


def names_of(titles: Iterable[tuple[str, str, Sequence[str]]], shown: Iterable[tuple[str, str]]) -> dict[str, OwnNames]:
    """The names of the notes that have several, by path; what two notes are called is the name of neither.

    `titles`: path, title, aliases; `shown`: path, and what a link to it shows.
    """
    others: dict[str, set[str]] = defaultdict(set)
    for path, text in shown:
        others[path].add(text)
    own: dict[str, OwnNames] = {}
    owners: dict[NameWords, set[str]] = defaultdict(set)
    for path, title, aliases in titles:
        as_titles = frozenset(name for text in {title, stem(path)} if (name := _name(text)))
        names = as_titles.union(name for text in others[path].union(aliases) if (name := _name(text)))
        own[path] = OwnNames(names, as_titles)
        for name in names:
            owners[name].add(path)
    alone = {
        path: OwnNames(frozenset(name for name in names if len(owners[name]) == 1), as_titles)
        for path, (names, as_titles) in own.items()
    }
    return {path: each for path, each in alone.items() if len(each.names) > 1}


def packed_names(own: Mapping[str, OwnNames]) -> bytes:
    """As bytes, the same for the same names."""
    rows = [(path, sorted(names), sorted(titles)) for path, (names, titles) in own.items()]
    data: bytes = msgpack.packb(rows)
    return data


def unpacked_names(data: bytes) -> dict[str, OwnNames]:
    """What was packed."""
    return {
        path: OwnNames(frozenset(map(tuple, names)), frozenset(map(tuple, titles)))
        for path, names, titles in msgpack.unpackb(data)
    }


def _name(text: str) -> NameWords | None:
    """The words of a name; None for what can be no name."""
    if _NO_NAME.search(text):
        return None
    text = collapse_spaces(text)
    low, high = _CHARACTERS
    if not low <= len(text) <= high:
        return None
    words = tuple(folded_words(text))
    return None if not 0 < len(words) <= _MOST_WORDS or any(map(is_negating, words)) else words


def _contrast(one: NameWords, other: NameWords) -> bool:
    """Whether two names of several words differ in a single one that is no inflection: `open crates`, `full crates`."""
    if len(one) != len(other) or len(one) < 2:
        return False
    differing = [(a, b) for a, b in zip(one, other, strict=True) if not _alike(a, b)]
    return len(differing) == 1


def _within(part: NameWords, whole: NameWords) -> bool:
    return all(any(_alike(word, other) for other in whole) for word in part)


def _alike(one: str, other: str) -> bool:
    """Whether two words are the same but for their endings."""
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one == other or shared >= max(_LEAST_STEM, max(len(one), len(other)) - _ENDING)


def _lettered(number: int) -> str:
    """A number in letters, so that it counts as none."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))
