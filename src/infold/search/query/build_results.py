"""The answer to a question: what both searches found, as notes with their places, by source (spec 3, section 6).

A result is the best place of one note, with more places of it; passages of one note that overlap are one place. A hit
whose text no longer stands in its file is left out and counted. There is no boosting between groups: the order of
groups is the priority.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from infold.search.index.contract import NO_DEMANDS, Demands, Filter, Hit, ScoredHits, facts_of
from infold.search.languages import DEFAULT_LANGUAGE, detect_language
from infold.search.query.fusion import Evidence, Ranked
from infold.search.query.phrase_filter import Holds, passages_with
from infold.search.query.query_parser import Question, phrase_pattern, read_question
from infold.search.query.results import Result, SearchResult, Timing, grouped
from infold.search.query.snippets import Snippet, snippet_of
from infold.search.query.sought_words import SoughtWords
from infold.search.terms import OTHER_LANGUAGE_WEIGHT, query_weights

if TYPE_CHECKING:
    from infold.search.query.excerpts import Excerpt, TextsOf
    from infold.search.query.fusion import Legs
    from infold.settings import Fusion

DEPTH: Final = 100  # passages of each leg, at least
LEAST_NOTES: Final = 10  # different ones that are shown, where there are so many and `limit` has room
_DEEPER: Final = 10  # times as many passages, where those of too few notes fill the legs
_DEEPEST: Final = 10_000
_PASSAGES_PER_RESULT: Final = 4  # overlapping ones are one result, gone ones none


class Retriever(Protocol):
    """The part of a Searcher that is used here."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that questions are stemmed in."""

    def keyword(self, text: str, limit: int, where: Filter, demands: Demands = NO_DEMANDS) -> list[Hit]:
        """By shared words, best first."""

    def legs(self, keywords: str, text: str, depth: int, where: Filter, demands: Demands = NO_DEMANDS) -> Legs:
        """By words and by meaning."""

    def listed(self, limit: int, where: Filter, demands: Demands = NO_DEMANDS) -> Legs:
        """What the filters let through, by path."""

    def understood(self, question: Question) -> tuple[Question, Demands, tuple[str, ...]]:
        """The question in words that the notes have, what the index can hold it to, and what is to be said of it."""


def answer(
    searcher: Retriever,
    asked: str,
    *,
    texts: TextsOf,
    where: Filter,
    limit: int,
    min_score: float,
    fusion: Fusion,
    fusion_k: int,
) -> SearchResult:
    """At most `limit` places in all, none with a score below `min_score`, of ten notes where there are so many."""
    started = time.perf_counter()
    question, demands, notices = searcher.understood(read_question(asked))
    look = _Look(searcher, question, demands, question.narrowed(where), texts, limit)
    depth = max(DEPTH, limit * _PASSAGES_PER_RESULT)
    while True:
        legs = look.legs(depth)
        collector = _Collector(wanted_of(question, searcher.languages), texts, look.holds, limit)
        is_last = collector.add_all(legs.ranked(fusion, fusion_k), min_score, is_scaled=fusion == "strength")
        if is_last or not legs.is_full or depth >= _DEEPEST:
            break
        depth *= _DEEPER
    return SearchResult(
        query=asked,
        groups=grouped(collector.notes()),
        left_out=collector.left_out,
        notices=(*notices, *((legs.notice,) if legs.notice else ())),
        timing=Timing(
            keyword_ms=legs.keyword_ms, dense_ms=legs.dense_ms, total_ms=(time.perf_counter() - started) * 1000
        ),
    )


@dataclass(slots=True)
class _Look:
    """A question asked of the index, as deep as is wanted."""

    searcher: Retriever
    question: Question
    demands: Demands
    where: Filter
    texts: TextsOf
    limit: int
    holds: Holds = field(init=False)

    def __post_init__(self) -> None:
        self.holds = Holds(self.question, self.texts)

    def legs(self, depth: int) -> Legs:
        """What each search finds that may be a result."""
        question = self.question
        if question.says_nothing and question.narrows:
            return self.searcher.listed(depth, self.where, self.demands)
        legs = self.searcher.legs(question.keywords, question.text, depth, self.where, self.demands)
        return self._with_phrases(legs) if question.phrases else legs

    def _with_phrases(self, legs: Legs) -> Legs:
        """The legs without what lacks a phrase, and with all that has them; by keyword in the order of the question."""
        started = time.perf_counter()

        def ask(words: str, depth: int) -> list[Hit]:
            return self.searcher.keyword(words, depth, self.where, self.demands)

        enough = max(self.limit, 1) * _PASSAGES_PER_RESULT
        exact = passages_with(self.question.phrases, ask, self.holds, enough)
        known = {hit.id for hit in exact}
        first = [hit for hit in legs.keyword.scored if hit.id in known]
        ranked = {hit.id for hit in first}
        least = first[-1].score if first else math.inf  # what the question itself did not find comes after the rest
        return legs._replace(
            keyword=ScoredHits.of(
                [*first, *(hit.scored(min(hit.score, least)) for hit in exact if hit.id not in ranked)]
            ),
            dense=ScoredHits.of([hit for hit in legs.dense.scored if hit.id in known or self.holds(hit)]),
            keyword_ms=legs.keyword_ms + (time.perf_counter() - started) * 1000,
        )


def _shown(ranked: Ranked) -> Ranked:
    """With the score that is shown: the root of the strength, as a place a quarter as strong as can be is no weak one.

    Strength falls off fast, and is whole only for what every ranking has first; `search.min_score` is a low threshold
    (spec 3, section 12).
    """
    strength = ranked.hit.score
    if strength <= 0:
        return ranked
    score = math.sqrt(strength)
    parts = (Evidence(part.name, part.rank, part.score, part.weight, part.share / score) for part in ranked.evidence)
    return Ranked(ranked.hit.scored(score), tuple(parts))


def wanted_of(question: Question, languages: tuple[str, ...]) -> SoughtWords:
    """What is marked in snippets: the words that were looked for in every form, but no mere parts of them."""
    spoken = dict.fromkeys((*languages, detect_language(question.text), DEFAULT_LANGUAGE))
    weights = query_weights(question.loose, languages)
    return SoughtWords(
        terms={term: weight for term, weight in weights.items() if weight >= OTHER_LANGUAGE_WEIGHT},
        languages=tuple(spoken),
        phrases=tuple(phrase_pattern(phrase) for phrase in question.phrases),
    )


@dataclass(slots=True)
class _Collector:
    """Turns ranked passages into places, best first, and those into notes."""

    wanted: SoughtWords
    texts: TextsOf
    holds: Callable[[Hit], bool]
    limit: int
    results: list[Result] = field(default_factory=list)
    left_out: int = 0
    _focus: list[int] = field(default_factory=list)  # of each result, the line of its first match
    _notes: set[str] = field(default_factory=set)

    def add_all(self, ranked: Iterable[Ranked], min_score: float, *, is_scaled: bool) -> bool:
        """Adds what is to be shown; whether nothing further down could be shown too."""
        for one in map(_shown, ranked) if is_scaled else ranked:
            if one.hit.score < min_score or self.is_full:
                return True
            if self.has_enough_places and _note_of(one.hit) in self._notes:
                continue
            self.add(one)
        return self.is_full

    @property
    def is_full(self) -> bool:
        """Whether there are as many notes and places as can be shown."""
        return self.has_enough_places and len(self._notes) >= min(LEAST_NOTES, self.limit)

    @property
    def has_enough_places(self) -> bool:
        """Whether there are as many places as can be shown, of however few notes."""
        return len(self.results) >= self.limit

    def notes(self) -> list[Result]:
        """The best place of each note, with the others of it, as many as are shown: the best ten notes, then places."""
        firsts: dict[str, Result] = {}
        for result in self.results:
            firsts.setdefault(_note_of(result), result)
        shown = list(firsts.values())[: min(LEAST_NOTES, self.limit)]
        chosen = {id(result) for result in shown}
        rest = [result for result in self.results if id(result) not in chosen][: max(self.limit - len(shown), 0)]
        more: dict[str, list[Result]] = {}
        for result in [*shown, *rest]:
            more.setdefault(_note_of(result), []).append(result)
        return [best._replace(more=tuple(others)) if others else best for best, *others in more.values()]

    def add(self, ranked: Ranked) -> None:
        """One more place, unless its text is gone, the place is shown already or it is not what was demanded."""
        hit = ranked.hit
        texts = self.texts(hit.group)
        if texts is None:
            if self.holds(hit):
                result = _result(ranked, hit.start_line, hit.end_line, _heading(hit), hit.trail, snippet="")
                self._keep(result, hit.start_line)
            return
        stretch = texts.stretch(hit)
        if stretch is None:
            self.left_out += 1
            return
        if not self.holds(hit):
            return
        prose = stretch.prose
        body = prose.whole
        snippet = snippet_of(prose, self.wanted)
        focus = stretch.end_line - body.count("\n", snippet.focus)
        if not self._is_shown(hit.path, stretch, focus):
            heading, trail = stretch.heading, hit.trail
            further_in = stretch.heading_at(focus) if snippet.marks else None
            if further_in is not None:
                heading, trail = further_in.heading, further_in.trail
            shown = _shown_of(snippet, body)
            self._keep(_result(ranked, stretch.start_line, stretch.end_line, heading, trail, **shown), focus)

    def _keep(self, result: Result, focus: int) -> None:
        self.results.append(result)
        self._focus.append(focus)
        self._notes.add(_note_of(result))

    def _is_shown(self, path: str, stretch: Excerpt, focus: int) -> bool:
        """Whether a better result of the same note is this place: their matches lie where the two overlap."""
        for result, other in zip(self.results, self._focus, strict=True):
            if result.path != path or not stretch.start_line:  # a memory node stands on no lines
                continue
            overlaps = result.start_line <= stretch.end_line and stretch.start_line <= result.end_line
            if overlaps and (
                result.start_line <= focus <= result.end_line or stretch.start_line <= other <= stretch.end_line
            ):
                return True
        return False


def _note_of(found: Hit | Result) -> str:
    """What counts as one note: a file; a memory node, which stands on no lines, is one by itself."""
    return found.path if found.start_line else found.id


def _heading(hit: Hit) -> str | None:
    return f"{'#' * min(len(hit.trail), 6)} {hit.trail[-1]}" if hit.trail else None


def _result(
    ranked: Ranked, start_line: int, end_line: int, heading: str | None, trail: tuple[str, ...], **shown: Any
) -> Result:
    hit = ranked.hit
    return Result(
        path=hit.path,
        start_line=start_line,
        end_line=end_line,
        heading=heading,
        trail=trail,
        title=hit.title,
        group=hit.group,
        score=hit.score,
        kind=hit.kind,
        id=hit.id,
        evidence=ranked.evidence,
        **shown,
        **facts_of(hit),
    )


def _shown_of(snippet: Snippet, body: str) -> dict[str, Any]:
    """What a result has of a snippet of `body`."""
    return {
        "snippet": snippet.text,
        "marks": snippet.marks,
        "starts_inside": snippet.start > len(body) - len(body.lstrip()),
        "ends_inside": snippet.ends_inside,
        "words": snippet.words,
    }
