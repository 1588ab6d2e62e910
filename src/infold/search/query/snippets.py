"""The part of a passage that answers: some 200 characters around the match, and where in them the matches are.

Pure functions over the text of a file as it stands. Nothing is added and nothing taken away inside a snippet.
"""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import attrgetter
from sys import intern
from typing import Final, NamedTuple

from infold.search.query.sought_words import SoughtWords
from infold.search.terms import located
from infold.vault.link_lines import link_lines

SNIPPET_CHARACTERS: Final = 200
_SLACK: Final = 30  # characters that an end may move to reach the end of a word
_ZERO_WIDTH_JOINER: Final = "\u200d"
_UNSPACED: Final = "\u0e00"  # what scripts without spaces begin with
_PHRASE_WEIGHT: Final = 10.0
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


class _Match(NamedTuple):
    start: int
    end: int
    term: str
    weight: float


_START: Final = attrgetter("start")


class Prose(NamedTuple):
    """A text to cut snippets of: `text` is what is read of the `whole`, from `begin` on, with where each word starts.

    Lines in it that only say where links lead are `unread`.
    """

    whole: str
    text: str
    begin: int
    unread: tuple[Mark, ...]
    words: Sequence[str]
    starts: Sequence[int]


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
    first, last = _best_window(matches, size)
    inside = matches[first:last]
    begin = prose.begin
    start, end = _bounds(text, inside[0].start if inside else begin, inside[-1].end if inside else begin, size)
    marks = _merged((match.start - start, match.end - start) for match in matches if start <= match.start < end)
    return Snippet(
        text=text[start:end],
        marks=tuple((begin, min(stop, end - start)) for begin, stop in marks),
        start=start,
        focus=inside[0].start if inside else start,
        ends_inside=bool(text[end:].strip()),
        words=tuple(dict.fromkeys(text[match.start : match.end].casefold() for match in matches)),
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
    found = [
        _Match(match.start(), match.end(), pattern.pattern, _PHRASE_WEIGHT)
        for pattern in wanted.phrases
        for match in pattern.finditer(prose.text)
    ]
    terms_of, weights = wanted.among(prose.words), wanted.terms
    for token, at in zip(prose.words, prose.starts, strict=True):
        if token not in terms_of:
            continue
        for term in terms_of[token]:
            if term >= _UNSPACED and _is_part(term, token):
                found += _places(term, token, at, weights[term])
            else:
                found.append(_Match(at, at + len(token), term, weights[term]))
    if prose.unread:
        found = [match for match in found if not any(a <= match.start < b for a, b in prose.unread)]
    found.sort(key=_START)
    return found


def _is_part(term: str, token: str) -> bool:
    """Whether `term` is a pair of signs in a longer run, of a script without spaces."""
    return len(term) < len(token) and term in token


def _places(term: str, token: str, at: int, weight: float) -> Iterator[_Match]:
    begin = token.find(term)
    while begin >= 0:
        yield _Match(at + begin, at + begin + len(term), term, weight)
        begin = token.find(term, begin + 1)


def _best_window(matches: Sequence[_Match], size: int) -> tuple[int, int]:
    """The matches, from and to, of the window that counts most: different terms first, then how often."""
    best, chosen = 0.0, (0, 0)
    starts = [match.start for match in matches]
    before, is_whole = 0, False  # of the window before: where it ended, and whether all in it was inside
    for first, match in enumerate(matches):
        last = bisect_left(starts, match.start + size)
        if is_whole and last == before:
            continue  # it holds less than the one before
        inside = [other for other in matches[first:last] if other.end <= match.start + size] or [match]
        before, is_whole = last, len(inside) == last - first
        terms = {other.term: other.weight for other in inside}
        value = sum(terms.values()) + _REPEAT_WEIGHT * len(inside)
        if value > best + 1e-9:
            best, chosen = value, (first, first + len(inside))
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


def _merged(marks: Iterator[Mark]) -> list[Mark]:
    """The marks in order, those that touch or overlap as one."""
    merged: list[Mark] = []
    for start, end in sorted(marks):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
