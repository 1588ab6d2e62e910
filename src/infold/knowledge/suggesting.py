"""Which notes a text should link to, why, and where in it the link would stand (spec 4, knowledge_suggest).

By words, by meaning, by the names of notes that the text mentions, and by what links to what was found. Nothing is
written. What the text is searched with, and which notes there are, is handed in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from infold.knowledge.graph import Graph
from infold.search.index.contract import Filter, Hit, PointGroup
from infold.search.query.fusion import best_scores
from infold.text import folded_words, word_pattern
from infold.vault.names import folded, stem

DEPTH: Final = 200  # passages that each leg gives
_SHOWN_TERMS: Final = 5
_LONGEST_NAME: Final = 8  # words
_FEWEST_LETTERS: Final = 3
_AROUND: Final = 12  # notes whose links count
_NOTES: Final = Filter(groups=(PointGroup.NOTEBOOK,))
# What each sign is worth, measured by bench/suggest.py.
_NAMED_WORTH: Final = 0.2
_LINKED_NAME_WORTH: Final = 1.2  # more, of a name that is a link wherever it stands
_MEANING_WORTH: Final = 0.2
_LINKED_WORTH: Final = 0.25


class PassageSearch(Protocol):
    """What finds passages: `search.query.searcher.Searcher`."""

    def keyword(self, text: str, limit: int, where: Filter = ...) -> Sequence[Hit]:
        """By words, best first."""

    def dense(self, text: str, limit: int, where: Filter = ...) -> Sequence[Hit]:
        """By meaning, best first."""

    def holding(self, name: str, outside: str) -> int:
        """How many passages hold all words of `name`, those of the note `outside` left out."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A note's name in a text: as it is written there, and on which line, from 1."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A note to link to. `shared` are words of both, `linked` notes found beside it that link to it or from it.

    `mention` is where the text names it; `line` is that line, else the one that has most to do with it.
    """

    path: str
    score: float
    shared: tuple[str, ...]
    similarity: float  # cosine of the nearest passage, 0 where meaning was not looked for
    linked: tuple[str, ...]
    mention: Mention | None
    line: int


class NoteNames:
    """The names of all notes: file names, titles and aliases, as they may stand in a text."""

    def __init__(self, notes: Iterable[tuple[str, str, Sequence[str]]]) -> None:
        """`notes` are path, title and aliases."""
        self._by_words: dict[tuple[str, ...], str] = {}
        self._first: set[str] = set()
        for path, title, aliases in sorted(notes, key=lambda note: note[0]):
            for name in (stem(path), title, *aliases):
                words = _words(name)
                if words and len(words) <= _LONGEST_NAME and len("".join(words)) >= _FEWEST_LETTERS:
                    self._by_words.setdefault(words, path)
                    self._first.add(words[0])

    def mentioned(self, text: str) -> dict[str, Mention]:
        """The notes that `text` names, each where it does so first; a longer name counts before one within it."""
        places = list(word_pattern().finditer(text))
        words = [folded(place[0]) for place in places]
        found: dict[str, Mention] = {}
        at = 0
        while at < len(words):
            step = 1
            if words[at] in self._first:
                for count in range(min(_LONGEST_NAME, len(words) - at), 0, -1):
                    path = self._by_words.get(tuple(words[at : at + count]))
                    if path is not None:
                        start, end = places[at].start(), places[at + count - 1].end()
                        found.setdefault(path, Mention(text[start:end], text.count("\n", 0, start) + 1))
                        step = count
                        break
            at += step
        return found


def suggest(
    content: str,
    search: PassageSearch,
    graph: Graph,
    names: NoteNames,
    read: Callable[[str], str],
    limit: int = 5,
    without: Iterable[str] = (),
) -> list[Suggestion]:
    """The notes that `content` should link to, best first, at most `limit`; never those of `without`.

    `read` gives the text of a note, '' where it cannot be read.
    """
    left_out = frozenset(without)
    if limit < 1 or not content.strip():
        return []
    meaning = _best(search.dense(content, DEPTH, _NOTES), left_out)
    mentioned = {path: mention for path, mention in names.mentioned(content).items() if path not in left_out}
    named = {
        path: _mention_worth(len(graph.backlinks(path)), search.holding(mention.text, path))
        for path, mention in mentioned.items()
    }
    scores = _scores(_best(search.keyword(content, DEPTH, _NOTES), left_out), meaning, named)
    near = sorted(scores, key=lambda path: (-scores[path], path))[:_AROUND]
    linked = _linked(near, graph, left_out)
    said = {path: _link_worth(scores[path] / scores[near[0]], len(graph.joined(path))) for path in near}
    for path, by in linked.items():
        scores[path] = scores.get(path, 0.0) + sum(said[other] for other in by)
    found = sorted(scores, key=lambda path: (-scores[path], path))[:limit]
    return [
        _suggestion(path, scores[path], content, read(path), meaning.get(path, 0.0), linked, mentioned.get(path))
        for path in found
    ]


def _best(hits: Sequence[Hit], left_out: frozenset[str]) -> dict[str, float]:
    return {path: score for path, score in best_scores(hits).items() if path not in left_out and score > 0}


def _mention_worth(links: int, passages: int) -> float:
    """What the name of a note in a text says, where `links` notes link to it and `passages` elsewhere hold its words.

    Of a name that is a common word few are links: what a vault seldom links it hardly means (link probability).
    """
    return _NAMED_WORTH + _LINKED_NAME_WORTH * math.sqrt(min(links / max(passages, 1), 1.0))


def _link_worth(strength: float, links: int) -> float:
    """What a link of a note that was found says: more of one found sooner, less of one that is linked with many."""
    return _LINKED_WORTH * strength / math.sqrt(max(links, 1))


def _scores(keyword: Mapping[str, float], meaning: Mapping[str, float], named: Mapping[str, float]) -> dict[str, float]:
    """What words, meaning and names say of each note; each kind of search counts relative to its best."""
    scores: dict[str, float] = dict(named)
    for found, worth in ((keyword, 1.0), (meaning, _MEANING_WORTH)):
        top = max(found.values(), default=1.0)
        for path, score in found.items():
            scores[path] = scores.get(path, 0.0) + worth * score / top
    return scores


def _linked(near: Sequence[str], graph: Graph, left_out: frozenset[str]) -> dict[str, list[str]]:
    """For each note the ones of `near` that link to it or from it."""
    linked: dict[str, list[str]] = {}
    for path in near:
        for other in graph.joined(path):
            if other not in left_out:
                linked.setdefault(other, []).append(path)
    return linked


def _suggestion(
    path: str,
    score: float,
    content: str,
    text: str,
    similarity: float,
    linked: Mapping[str, Sequence[str]],
    mention: Mention | None,
) -> Suggestion:
    own = set(folded_words(text))
    counts = Counter(word for word in folded_words(content) if len(word) > _FEWEST_LETTERS and word in own)
    shared = sorted(counts, key=lambda word: (-len(word) * counts[word] ** 0.5, word))[:_SHOWN_TERMS]
    return Suggestion(
        path=path,
        score=round(score, 4),
        shared=tuple(shared),
        similarity=round(similarity, 4),
        linked=tuple(linked.get(path, ())[:_SHOWN_TERMS]),
        mention=mention,
        line=mention.line if mention is not None else _line_about(content, frozenset(counts)),
    )


def _line_about(content: str, words: frozenset[str]) -> int:
    """The line of `content` with most of `words`; the first of several."""
    lines = content.splitlines() or [""]
    return max(range(len(lines)), key=lambda at: (len(words & set(folded_words(lines[at]))), -at)) + 1


def _words(name: str) -> tuple[str, ...]:
    return tuple(folded(word) for word in word_pattern().findall(name))
