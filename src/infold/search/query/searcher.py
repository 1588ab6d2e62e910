"""Searching: words in, passages and notes out, from the index as every process shares it.

Results are as of the last sync; bringing the index up to date first belongs to `search.query.fresh_search`. A search
that is kept open follows a rebuild. Fast to import: neither tables nor parquet are needed here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from infold.errors import EndpointUnreachable, SearchServerFault, StateUnwritable, VaultBusy
from infold.search.embed.similarity_threshold import floor_of
from infold.search.index.contract import (
    DEFAULT_GROUPS,
    EVERYTHING,
    NO_DEMANDS,
    NOTE_GROUPS,
    NOTHING_FOUND,
    Demands,
    Filter,
    Hit,
    ScoredHits,
)
from infold.search.index.nearest import nearest
from infold.search.index.point_ids import point_number
from infold.search.query.build_results import answer
from infold.search.query.followed_index import FollowedIndex
from infold.search.query.fusion import (
    Leg,
    Legs,
    Ranking,
    best_scores,
    by_relative_score,
    note_nearness,
    of_period,
    telling,
)
from infold.search.query.query_parser import may_name_time
from infold.search.query.term_match import Coverage, asked_terms, term_match
from infold.search.query.vocabulary import demands_of, is_known, nearest_known, understood
from infold.search.terms import main_terms, query_weights, spoken_first

if TYPE_CHECKING:
    from datetime import date

    from infold.search.embed.embedder import Embedder
    from infold.search.index.contract import QueryVector, Vector
    from infold.search.index.nearest import PointLookUp
    from infold.search.query.asked_time import AskedTime
    from infold.search.query.excerpts import TextsOf
    from infold.search.query.opened_index import OpenedIndex
    from infold.search.query.query_parser import Question
    from infold.search.query.results import SearchResult
    from infold.search.query.term_match import AskedTerms
    from infold.settings import SearchParams

FUSED_PASSAGES: Final = 100  # that each leg gives to a ranking of passages, at least
CANDIDATE_PASSAGES: Final = 100  # that each leg gives to a ranking of notes, at least
DATED_PASSAGES: Final = 30  # of the time that a question names, from each leg
PASSAGES_PER_NOTE: Final = 10  # asked for, so that enough different notes come back
_SCORED_PASSAGES: Final = 2000


def _no_texts(_: str) -> None:
    """No text of any source."""


class NoteScore(NamedTuple):
    """How well a note answers a text: BM25 (0 and up) and cosine (-1 to 1) of its best passages."""

    keyword: float
    dense: float


class Searcher:
    """An open search, for any number of threads. Raises IndexFault where there is no index, or it is damaged.

    `embedder` must be the one that the index was made with, else only keywords are looked for.
    """

    def __init__(
        self,
        index_dir: Path,
        params: SearchParams,
        embedder: Embedder,
    ) -> None:
        self._params = params
        self._embedder = embedder
        self._index = FollowedIndex(index_dir)
        self._last: tuple[str, QueryVector] | None = None

    def keyword(self, text: str, limit: int, where: Filter = EVERYTHING, demands: Demands = NO_DEMANDS) -> list[Hit]:
        """The passages that share the most telling words with `text` (BM25)."""
        return self._by_words(text, limit, where, demands).scored

    def dense(self, text: str, limit: int, where: Filter = EVERYTHING, demands: Demands = NO_DEMANDS) -> list[Hit]:
        """The passages closest in meaning (cosine); none where the index has no vectors."""
        return self._by_meaning(text, limit, where, demands).scored

    def near(self, vector: QueryVector, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        """The passages nearest to a vector of this index's model (cosine); none where the index has no vectors."""
        return self._index.ask(lambda opened: _nearest(opened, vector, limit, where)).scored

    def vectors(self, where: Filter = EVERYTHING) -> tuple[list[Hit], Vector]:
        """Every passage that has a vector, with their vectors as rows in the same order: for clustering."""
        return self._index.ask(lambda opened: _all_vectors(opened, where))

    def hybrid(self, text: str, limit: int, where: Filter = EVERYTHING, asked_on: date | None = None) -> list[Hit]:
        """Both, fused as `search.query.fusion` says, scores from 0 to 1; keywords weigh 1, meaning what it is worth.

        What is no nearer in meaning than unrelated texts are is left out. Times that `text` names are counted from the
        day `asked_on`, by default today.
        """
        legs = self.legs(text, text, max(FUSED_PASSAGES, limit), where, asked_on=asked_on)
        ranked = legs.ranked(self._params.fusion, self._params.fusion_k)
        return [one.hit for one in islice(ranked, max(limit, 0))]

    def legs(
        self,
        keywords: str,
        text: str,
        depth: int,
        where: Filter = EVERYTHING,
        demands: Demands = NO_DEMANDS,
        asked_on: date | None = None,
    ) -> Legs:
        """What either search finds: by `keywords`, and by the meaning of `text`; and what is of a time it names."""
        depth = max(depth, FUSED_PASSAGES)
        started = time.perf_counter()
        by_words = self._by_words(keywords, depth, where, demands)
        between = time.perf_counter()
        coverage = Coverage(self._index.ask(lambda opened: _asked_terms(keywords, opened)), by_words.numbers)
        notice, by_meaning = "", NOTHING_FOUND
        try:
            by_meaning = self._by_meaning(text, depth, where, demands, coverage)
        except (VaultBusy, EndpointUnreachable, SearchServerFault, StateUnwritable) as error:
            notice = f"Found by words alone: {error} {error.hint}".rstrip()
        ended = time.perf_counter()
        floor = self._floor()
        time_named = _asked_time(text, asked_on) if may_name_time(text) else None
        return Legs(
            keyword=telling(by_words),
            dense=by_meaning.above(floor),
            dense_weight=self._dense_weight(),
            keyword_ms=(between - started) * 1000,
            dense_ms=(ended - between) * 1000,
            keyword_base=by_words.scores[-1] if len(by_words.scores) >= depth else 0.0,
            dense_base=max(floor, by_meaning.scores[-1]) if len(by_meaning.scores) >= depth else floor,
            notice=notice,
            is_full=len(by_words.scores) >= depth or len(by_meaning.scores) >= depth,
            beside=lambda points: (
                self._match(coverage, points),
                self._near_notes(text, [*points.values()], by_meaning),
                *(() if time_named is None else (of_period([*points.values()], time_named),)),
            ),
            dated=NOTHING_FOUND
            if time_named is None
            else ScoredHits.of(self._dated(time_named, keywords, where, demands)),
        )

    def _dated(self, named: AskedTime, keywords: str, where: Filter, demands: Demands) -> list[Hit]:
        """What is of the time that was named, the best by words first; what there is, where no words are looked for."""
        since, until = named.period.days
        of_it = where._replace(
            since=max(filter(None, (since, where.since)), default=None),
            until=min(filter(None, (until, where.until)), default=None),
        )
        found = [] if named.is_all else self.keyword(keywords, DATED_PASSAGES, of_it, demands)
        return found or self._index.ask(lambda opened: opened.words.points(of_it, DATED_PASSAGES, demands))

    def listed(self, limit: int, where: Filter, demands: Demands = NO_DEMANDS) -> Legs:
        """What the filters let through, by path and line, all alike: for a question that only narrows."""
        found = self._index.ask(lambda opened: opened.words.points(where, limit, demands))
        alike = ScoredHits.of(found)._replace(scores=[1.0] * len(found))
        return Legs(alike, NOTHING_FOUND, 0.0, 0.0, 0.0, is_full=len(found) >= limit)

    def understood(self, question: Question) -> tuple[Question, Demands, tuple[str, ...]]:
        """The question in words that the notes have, what the index can hold it to, and what is to be said of it."""

        def read(opened: OpenedIndex) -> tuple[Question, Demands, tuple[str, ...]]:
            better, notices = understood(question, opened.words, opened.languages)
            return better, demands_of(question, opened.languages), notices

        return self._index.ask(read)

    def nearest_word(self, word: str) -> str:
        """The word of the notes that is a letter or two off; "" where there is none, or `word` is one of them."""

        def look(opened: OpenedIndex) -> str:
            known = is_known(word, opened.words, opened.languages)
            return "" if known else nearest_known(word, opened.words, opened.languages)

        return self._index.ask(look)

    def holding(self, name: str, outside: str) -> int:
        """How many passages hold all words of `name`, those of the note `outside` left out."""

        def look(opened: OpenedIndex) -> int:
            words = main_terms(name, spoken_first(name, opened.languages))
            return opened.words.holding(frozenset(words), outside)

        return self._index.ask(look)

    def search(
        self,
        asked: str,
        where: Filter = EVERYTHING,
        limit: int | None = None,
        min_score: float | None = None,
        texts: TextsOf = _no_texts,
    ) -> SearchResult:
        """The places that answer, by source, at most `limit` in all, none below `min_score` (spec 3, section 6).

        `search.query.query_parser` has the operators. `texts` gives what the hits of each source say; what the files no
        longer say is left out, and counted. Where no groups are named, external text and nodes are left out too.
        """
        with self._index.held():
            return answer(
                self,
                asked,
                texts=texts,
                where=where if where.groups else where._replace(groups=DEFAULT_GROUPS),
                limit=self._params.max_results if limit is None else limit,
                min_score=self._params.min_score if min_score is None else min_score,
                fusion=self._params.fusion,
                fusion_k=self._params.fusion_k,
            )

    def candidates(self, text: str, limit: int) -> list[str]:
        """The paths of the notes that `text` has most to do with, best first: each by its best passages in both legs.

        With whole paragraphs as queries this measures better than fusing ranks, and among the first eight no worse than
        keywords alone.
        """
        if limit < 1:
            return []
        depth = max(CANDIDATE_PASSAGES, limit * PASSAGES_PER_NOTE)
        notes = Filter(groups=NOTE_GROUPS)
        legs: list[Leg] = [
            (self.keyword(text, depth, notes), 1.0),
            (self.dense(text, depth, notes), self._dense_weight()),
        ]
        return by_relative_score(legs, limit)

    def score(self, text: str, paths: Sequence[str]) -> dict[str, NoteScore]:
        """How well each of these notes answers `text`: its best passage by keyword and by meaning, else 0."""
        if not paths:
            return {}
        only = Filter(paths=tuple(paths))
        keyword_best = best_scores(self.keyword(text, _SCORED_PASSAGES, only))
        dense_best = best_scores(self.dense(text, _SCORED_PASSAGES, only))
        return {path: NoteScore(keyword_best.get(path, 0.0), dense_best.get(path, 0.0)) for path in paths}

    def count(self, where: Filter = EVERYTHING) -> int:
        """How many passages there are to search."""
        return self._index.ask(lambda opened: opened.words.count(where))

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that questions are stemmed in: the commonest of the notes."""
        return self._index.in_use().languages

    @property
    def pending_vectors(self) -> int:
        """How many passages are not yet found by meaning."""
        return 0 if self._embedder.traits.is_empty else self._index.current().pending_vectors()

    @property
    def has_vectors(self) -> bool:
        """Whether meaning is looked for: there is an embedder, and the index was made with it."""
        return (
            not self._embedder.traits.is_empty and self._index.ask(lambda opened: opened.model) == self._embedder.name
        )

    def follow(self) -> None:
        """Goes over to a newer index, where there is one, which every question does too."""
        self._index.current()

    def close(self) -> None:
        """Lets go of the index. Calling it again does nothing."""
        self._index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _by_words(self, text: str, limit: int, where: Filter, demands: Demands = NO_DEMANDS) -> ScoredHits:
        return self._index.ask(
            lambda opened: opened.words.search(query_weights(text, opened.languages), limit, where, demands)
        )

    def _by_meaning(
        self, text: str, limit: int, where: Filter, demands: Demands = NO_DEMANDS, coverage: Coverage | None = None
    ) -> ScoredHits:
        if limit < 1:
            return NOTHING_FOUND

        def ask(opened: OpenedIndex) -> ScoredHits:
            vector = self._vector(text, opened)
            look_up = None if coverage is None else partial(coverage.look_up, opened.words)
            return NOTHING_FOUND if vector is None else _nearest(opened, vector, limit, where, demands, look_up)

        return self._index.ask(ask)

    def _match(self, coverage: Coverage, points: Mapping[int, Hit]) -> Ranking:
        """The points by title, headings and how much they cover of what was asked for."""
        return self._index.ask(
            lambda opened: term_match(
                coverage.asked,
                [*points.values()],
                coverage.of(opened.words, points.keys()),
                opened.words.count(),
                opened.words.frequencies,
            )
        )

    def _near_notes(self, text: str, hits: Sequence[Hit], by_meaning: ScoredHits) -> Ranking:
        """The hits by how near all of their note is to `text`; none of them where meaning counts nothing."""
        weight = self._dense_weight()

        def ask(opened: OpenedIndex) -> dict[str, float]:
            vector, index = self._vector(text, opened), opened.note_vectors
            return {} if vector is None or index is None else index.cosines(vector, list({hit.path for hit in hits}))

        cosines = self._index.ask(ask) if weight > 0 else {}
        return note_nearness(hits, cosines, by_meaning if cosines else NOTHING_FOUND, weight)

    def _dense_weight(self) -> float:
        if self._params.dense_weight is not None:
            return self._params.dense_weight
        return self._embedder.traits.weight

    def _floor(self) -> float:
        return floor_of(self._embedder) if self.has_vectors else 0.0

    def _vector(self, text: str, opened: OpenedIndex) -> QueryVector | None:
        embedder = self._embedder
        if embedder.traits.is_empty or embedder.name != opened.model or not text.strip():
            return None
        known = self._last  # one text is often asked for in several ways, and by several threads
        if known is None or known[0] != text:
            self._last = known = text, embedder.embed_query(text)
        return known[1]


def _asked_time(text: str, asked_on: date | None) -> AskedTime | None:
    from infold.search.query.asked_time import asked_time

    return asked_time(text, asked_on)


def _asked_terms(text: str, opened: OpenedIndex) -> AskedTerms:
    words = opened.words
    return asked_terms(text, opened.languages, words.count(), words.frequencies)


def _nearest(
    opened: OpenedIndex,
    vector: QueryVector,
    limit: int,
    where: Filter,
    demands: Demands = NO_DEMANDS,
    look_up: PointLookUp | None = None,
) -> ScoredHits:
    """The nearest points (`index.nearest`); none where the index has no vectors."""
    index = opened.vectors
    return NOTHING_FOUND if index is None else nearest(opened.words, index, vector, limit, where, demands, look_up)


def _all_vectors(opened: OpenedIndex, where: Filter) -> tuple[list[Hit], Vector]:
    import numpy as np

    index = opened.vectors
    points = opened.words.points(where) if index is not None else []
    numbers = {hit.id: point_number(hit.id) for hit in points}
    found = index.vectors([*numbers.values()]) if index is not None else {}
    hits = [hit for hit in points if numbers[hit.id] in found]
    hits.sort(key=lambda hit: (hit.path, hit.start_line, hit.id))
    return hits, np.array([found[numbers[hit.id]] for hit in hits], dtype=np.float32).reshape(len(hits), -1)
