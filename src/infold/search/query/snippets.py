"""The part of a passage that answers: some 200 characters around the match, and where in them the matches are.

Pure functions over the text of a file as it stands. Nothing is added and nothing taken away inside a snippet.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import itemgetter
from sys import intern
from typing import Final, NamedTuple

from infold.search.query.sought_words import Prose, SoughtWords
from infold.search.terms import located
from infold.vault.link_lines import link_lines

SNIPPET_CHARACTERS: Final = 200
_START: Final = itemgetter(0)
_SLACK: Final = 30  # characters that an end may move to reach the end of a word
_ZERO_WIDTH_JOINER: Final = "\u200d"
_UNSPACED: Final = "\u0e00"  # what scripts without spaces begin with
_PHRASE_WEIGHT: Final = 10.0
_PHRASE: Final = "\0"  # before a phrase, which no term begins with
_REPEAT_WEIGHT: Final = 0.01

Mark = tuple[int, int]


class Snippet(NamedTuple):
    """`text` as it stands in the file; `marks` are the matches in it; `start` is where in the passage it begins."""

    text: str
    marks: tuple[Mark, ...]
    start: int
    focus: int  # where in the passage its first match is, else its beginning
    ends_inside: bool
    words: tuple[str, ...]  # that matched anywhere in the passage, as written


_Match = tuple[int, int, str]  # from, to, and the term


def prose_of(text: str) -> Prose:
    """`text` as it is read. Its words are held once, in however many texts they stand."""
    begin, end, unread = _read_part(text)
    read = text[:end]
    words, starts = located(read)
    return Prose(text, read, begin, tuple(unread), tuple(map(intern, words)), array("I", starts))


def cut_snippet(text: str, wanted: SoughtWords, size: int = SNIPPET_CHARACTERS) -> Snippet:
    """The window of `text` that holds most of what is wanted; its beginning where nothing matches."""
    return snippet_of(prose_of(text), wanted, size)


def snippet_of(prose: Prose, wanted: SoughtWords, size: int = SNIPPET_CHARACTERS) -> Snippet:
    """As `cut_snippet`, of a text that was read before."""
    text = prose.text
    matches = _matches(prose, wanted)
    first, last = _best_window(matches, wanted.terms, size)
    begin, until = (matches[first][0], matches[last - 1][1]) if matches else (prose.begin, prose.begin)
    start, end = _bounds(text, begin, until, size)
    marks = _merged([(at - start, stop - start) for at, stop, _ in matches if start <= at < end])
    return Snippet(
        text=text[start:end],
        marks=tuple([(at, min(stop, end - start)) for at, stop in marks]),
        start=start,
        focus=begin if matches else start,
        ends_inside=bool(text[end:].strip()),
        words=tuple(dict.fromkeys([text[at:stop].casefold() for at, stop, _ in matches])),
    )


def _read_part(text: str) -> tuple[int, int, list[Mark]]:
    """Where what is read begins and ends in `text`, and the lines in it that only say where links lead."""
    unread = sorted(link_lines(text))
    begin, end = 0, len(text)
    for start, stop in unread:
        if not text[begin:start].strip():
            begin = stop
    for start, stop in reversed(unread):
        if not text[stop:end].strip():
            end = start
    return (begin, end, unread) if begin < end else (0, len(text), [])


def _matches(prose: Prose, wanted: SoughtWords) -> list[_Match]:
    """All matches, in order."""
    terms_of = wanted.among(prose)
    is_sought = map(terms_of.__contains__, prose.words)
    found = compress(zip(prose.words, prose.starts, strict=True), is_sought)
    matches = [match for token, at in found for match in _matches_in(token, at, terms_of[token])]
    if wanted.phrases:
        found_whole = ((match, pattern) for pattern in wanted.phrases for match in pattern.finditer(prose.text))
        phrases = [(match.start(), match.end(), f"{_PHRASE}{pattern.pattern}") for match, pattern in found_whole]
        matches = [*phrases, *matches]
    if prose.unread:
        matches = [match for match in matches if not any(a <= match[0] < b for a, b in prose.unread)]
    matches.sort(key=_START)
    return matches


def _matches_in(token: str, at: int, terms: Sequence[str]) -> Iterable[_Match]:
    """What is marked of a token that stands at `at`."""
    if token.isascii():  # and so are its terms
        return [(at, at + len(token), term) for term in terms]
    return _matches_of_signs(token, at, terms)


def _matches_of_signs(token: str, at: int, terms: Sequence[str]) -> Iterator[_Match]:
    """The same where signs of a script without spaces may be among them."""
    for term in terms:
        if term >= _UNSPACED and _is_part(term, token):
            yield from _places(term, token, at)
        else:
            yield at, at + len(token), term


def _is_part(term: str, token: str) -> bool:
    """Whether `term` is a pair of signs in a longer run, of a script without spaces."""
    return len(term) < len(token) and term in token


def _places(term: str, token: str, at: int) -> Iterator[_Match]:
    begin = token.find(term)
    while begin >= 0:
        yield at + begin, at + begin + len(term), term
        begin = token.find(term, begin + 1)


def _best_window(matches: Sequence[_Match], weights: Mapping[str, float], size: int) -> tuple[int, int]:
    """The matches, from and to, of the window that counts most: different terms first, then how often."""
    best, chosen = 0.0, (0, 0)
    held: dict[str, int] = {}  # of the terms in the window, how often
    value, last = 0.0, 0
    for first, (start, _, leaving) in enumerate(matches):
        while last < len(matches) and (last <= first or matches[last][1] <= start + size):
            term = matches[last][2]
            held[term] = held.get(term, 0) + 1
            value += _REPEAT_WEIGHT + (weights.get(term, _PHRASE_WEIGHT) if held[term] == 1 else 0.0)
            last += 1
        if value > best + 1e-9:
            best, chosen = value, (first, last)
        held[leaving] -= 1
        value -= _REPEAT_WEIGHT + (0.0 if held[leaving] else weights.get(leaving, _PHRASE_WEIGHT))
    return chosen


def _bounds(text: str, first: int, last: int, size: int) -> Mark:
    """A window of about `size` characters around `first` to `last`, whole words where that is possible."""
    spare = max(size - (last - first), 0)
    start = max(first - spare // 2, 0)
    line = text.rfind("\n", start, first) + 1
    start = line or _word_start(text, start, first)
    end = min(start + size, len(text))
    start = max(min(start, end - size), 0) if end == len(text) and not line else start
    start, end = _word_start(text, start, first), _word_end(text, max(end, last))
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _word_start(text: str, start: int, most: int) -> int:
    if start == 0 or text[start - 1].isspace():
        return start
    for at in range(start, min(start + _SLACK, most)):
        if text[at].isspace():
            return at + 1
    return _whole_sign(text, start)


def _word_end(text: str, end: int) -> int:
    if end >= len(text) or text[end].isspace():
        return min(end, len(text))
    for at in range(end, min(end + _SLACK, len(text))):
        if text[at].isspace():
            return at
    return _whole_sign(text, end) if end + _SLACK < len(text) else len(text)


def _whole_sign(text: str, at: int) -> int:
    """`at`, or a little further where it would part a letter from its marks."""
    while at < len(text) and (
        unicodedata.combining(text[at])
        or _ZERO_WIDTH_JOINER in text[at - 1 : at + 1]
        or "\ufe00" <= text[at] <= "\ufe0f"
    ):
        at += 1
    return at


def _merged(marks: Sequence[Mark]) -> list[Mark]:
    """The marks in order, those that touch or overlap as one."""
    merged: list[Mark] = []
    for start, end in sorted(marks):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
