"""Making one ranking of two: passages by strength or by reciprocal rank, notes by relative score.

By rank, a leg that is sure and a leg that is guessing weigh alike, and a weak leg turns the order of near neighbours of
a strong one over: measured on four vaults that costs up to 0.09 of nDCG@10. By strength a passage that stands out in
one leg keeps its lead (docs/evaluation.md, Retrieval).

Fused here and not in the engine: Qdrant divides ranks by the weight of a leg, 1 / (k + rank / weight), by which the top
of a leg of small weight still counts almost fully, while the weight here scales all that the leg adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, groupby
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.search.index.contract import NOTHING_FOUND, Hit, ScoredHits, best_first

if TYPE_CHECKING:
    from infold.search.query.asked_time import AskedTime
    from infold.settings import Fusion

RRF_K: Final = 60
KEYWORD: Final = "keyword"
MEANING: Final = "dense"
NOTE: Final = "note"
MATCH: Final = "match"
DATE: Final = "date"
_ABSOLUTE: Final = frozenset((MEANING, NOTE, MATCH, DATE))  # rankings whose scores have a scale of their own
NOTE_SHARE: Final = 0.5  # what a note counts by words beside one passage of it; measured
_OF_A_NOTE: Final = 3
NOTE_WEIGHT: Final = 2.13  # what the nearness of a note counts beside that of a passage; measured
REPEATED: Final = 0.97  # of its strength, what each further passage of a note keeps, up to three; measured
DATE_WEIGHT: Final = 0.8  # what it counts to be of the time that a question names; measured
ONLY_DATE_WEIGHT: Final = 4.0  # where nothing else is asked for: more than all that words can add
WEAKEST_SHARE: Final = 0.1  # of the best keyword score; below it a passage shares no word that tells anything

Leg = tuple[Sequence[Hit], float]
PassageKey = tuple[str, int, int, str]


class Ranking(NamedTuple):
    """What one kind of search found, best first, and what it weighs beside the others."""

    name: str
    hits: Sequence[Hit]
    weight: float
    base: float = 0.0  # the score that what is not among the hits may have at most
    scores: Sequence[float] = ()  # of the hits, where it is not their own

    @property
    def scored(self) -> Sequence[float]:
        """The score of each hit."""
        return self.scores or [hit.score for hit in self.hits]


class Evidence(NamedTuple):
    """Why a passage ranks where it does: its place and score in one ranking, and what that added to its score.

    Rank 0 is a passage that the ranking does not have itself; other passages of its note are there.
    """

    name: str
    rank: int
    score: float
    weight: float
    share: float


class Ranked(NamedTuple):
    """A passage in the fused ranking; the score of `hit` is from 0 to 1."""

    hit: Hit
    evidence: tuple[Evidence, ...]


def fuse(rankings: Sequence[Ranking], k: int = RRF_K) -> list[Ranked]:
    """The passages of all rankings, best first, by weighted reciprocal rank (spec 3, Appendix A).

    Scores are scaled so that a passage which is first in every ranking that found anything has 1: each ranking adds
    weight * (k + 1) / (k + rank), over the sum of the weights of those rankings.
    """
    counting = [ranking for ranking in rankings if ranking.weight > 0 and ranking.hits]
    total = sum(ranking.weight for ranking in counting)
    hits: dict[PassageKey, Hit] = {}
    evidence: dict[PassageKey, list[Evidence]] = {}
    for ranking in counting:
        for rank, (hit, score) in enumerate(zip(ranking.hits, ranking.scored, strict=True), 1):
            share = ranking.weight * (k + 1) / (k + rank) / total
            hits.setdefault(_place(hit), hit)
            evidence.setdefault(_place(hit), []).append(Evidence(ranking.name, rank, score, ranking.weight, share))
    scores = {place: sum(part.share for part in parts) for place, parts in evidence.items()}
    best = sorted(scores, key=lambda place: (-scores[place], place))
    return [Ranked(hits[place].scored(min(scores[place], 1.0)), tuple(evidence[place])) for place in best]


def by_strength(rankings: Sequence[Ranking]) -> Iterator[Ranked]:
    """The passages of all rankings, best first, by how far each stands out, and its note with it; made one by one.

    Of keywords, scores count relative to the best one: BM25 has no scale of its own. Other scores count as they are; of
    meaning, what the cosine is above that of what was not found: a question to which nothing is much nearer than the
    rest is one that meaning has no answer to. By words a passage counts with its note's three best (`NOTE_SHARE`).
    Each further passage of a note counts a little less, so that those of one note do not crowd the others out. Scores
    are scaled so that what is best in every ranking has 1.
    """
    counting = [ranking for ranking in rankings if ranking.weight > 0 and ranking.hits]
    numbers, hits, ats = _numbered(counting)
    found = [dict(zip(at, ranking.scored, strict=True)) for ranking, at in zip(counting, ats, strict=True)]
    added = [_added(ranking, own, hits) for ranking, own in zip(counting, found, strict=True)]
    total = sum(map(max, added))
    if total <= 0:
        yield from fuse(rankings)
        return
    shares = [[part / total for part in parts] for parts in added]
    scores = [min(1.0, score) for score in map(sum, zip(*shares, strict=True))]
    kept = _kept(scores, hits)
    scores = list(map(mul, scores, kept))
    ranks = [dict(zip(at, count(1), strict=False)) for at in ats]
    places = list(numbers)
    best = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    for score, alike in groupby(best, scores.__getitem__):
        for number in sorted(alike, key=places.__getitem__):
            keeps = kept[number]
            evidence = [
                Evidence(ranking.name, rank.get(number, 0), own.get(number, 0.0), ranking.weight, keeps * parts[number])
                for ranking, rank, own, parts in zip(counting, ranks, found, shares, strict=True)
                if parts[number] > 0 or number in own
            ]
            yield Ranked(hits[number].scored(score), tuple(evidence))


def _kept(scores: Sequence[float], hits: Sequence[Hit]) -> list[float]:
    """What each passage keeps of its score: the best of its note all of it."""
    kept = [1.0] * len(scores)
    of_note: dict[str, int] = {}
    for number in sorted(range(len(scores)), key=scores.__getitem__, reverse=True):
        hit = hits[number]
        note = hit.path if hit.start_line else hit.id  # a memory node, which stands on no lines, is one by itself
        before = of_note[note] = of_note.get(note, -1) + 1
        if before:
            kept[number] = REPEATED ** min(before, _OF_A_NOTE)
    return kept


def _numbered(rankings: Sequence[Ranking]) -> tuple[dict[PassageKey, int], list[Hit], list[list[int]]]:
    """The passages with numbers, as they are met; the first hit of each; and of each ranking the numbers, in order."""
    numbers: dict[PassageKey, int] = {}
    hits: list[Hit] = []
    met: dict[int, int] = {}  # by the identity of a hit: most are in several rankings
    for ranking in rankings:
        for hit in ranking.hits:
            if id(hit) not in met:
                number = met[id(hit)] = numbers.setdefault(_place(hit), len(hits))
                if number == len(hits):
                    hits.append(hit)
    return numbers, hits, [[met[one] for one in map(id, ranking.hits)] for ranking in rankings]


def _added(ranking: Ranking, found: Mapping[int, float], hits: Sequence[Hit]) -> list[float]:
    """What a ranking adds to each of these passages: for itself, where it was found, and for its note."""
    weight, added = ranking.weight, [0.0] * len(hits)
    strengths = _strengths(ranking, found)
    for number, strength in strengths.items():
        added[number] = weight * strength
    if ranking.name == KEYWORD:
        of_note = _note_strengths(strengths, hits)
        note_of = of_note.get
        return [own + weight * (NOTE_SHARE * note_of(hit.path, 0.0)) for own, hit in zip(added, hits, strict=True)]
    return added


def _strengths(ranking: Ranking, found: Mapping[int, float]) -> Mapping[int, float]:
    """How far each hit stands above what was not found: as a share of the best where scores have no scale."""
    base = ranking.base
    scale = 1.0 if ranking.name in _ABSOLUTE else max(ranking.scored) - base
    if scale <= 0:  # all alike: then being found is what counts
        return dict.fromkeys(found, 1.0)
    return {number: (score - base) / scale for number, score in found.items() if score > base}


def _note_strengths(strengths: Mapping[int, float], hits: Sequence[Hit]) -> dict[str, float]:
    """The mean of each note's three best passages; one that is not there counts 0."""
    by_note: dict[str, list[float]] = {}
    for number, strength in strengths.items():
        by_note.setdefault(hits[number].path, []).append(strength)
    return {
        path: (sum(sorted(found, reverse=True)[:_OF_A_NOTE]) if len(found) > 1 else found[0]) / _OF_A_NOTE
        for path, found in by_note.items()
    }


def ranked_by(name: str, hits: Sequence[Hit], scores: Sequence[float], weight: float) -> Ranking:
    """The hits by scores that are not their own."""
    order = best_first(hits, scores)
    return Ranking(name, [hits[at] for at in order], weight, scores=[scores[at] for at in order])


def telling(found: ScoredHits, weakest_share: float = WEAKEST_SHARE) -> ScoredHits:
    """What of a keyword search is worth showing beside the best of it."""
    return found.above(weakest_share * found.scores[0]) if found.scores else found


def note_nearness(
    hits: Sequence[Hit], cosines: Mapping[str, float], by_meaning: ScoredHits, dense_weight: float
) -> Ranking:
    """The hits by the cosine of their note, counted from the least of them: notes differ below any floor of passages.

    What is no note with a mean of its own (a memory) is as near as it is itself, where meaning found it.
    """
    known = [cosines.get(hit.path) for hit in hits]
    if None in known:
        own = {hit.id: score for hit, score in zip(by_meaning.hits, by_meaning.scores, strict=True)}
        known = [own.get(hit.id) if cosine is None else cosine for hit, cosine in zip(hits, known, strict=True)]
        hits = [hit for hit, cosine in zip(hits, known, strict=True) if cosine is not None]
    ranking = ranked_by(NOTE, hits, [cosine for cosine in known if cosine is not None], NOTE_WEIGHT * dense_weight)
    return ranking._replace(base=ranking.scores[-1]) if hits else ranking


def of_period(hits: Sequence[Hit], named: AskedTime) -> Ranking:
    """The hits that are of the time that was named, all alike. What has no date is of none."""
    since, until = named.period.days
    dated = [hit for hit in hits if hit.date and (since or "") <= hit.date <= (until or hit.date)]
    return Ranking(DATE, dated, ONLY_DATE_WEIGHT if named.is_all else DATE_WEIGHT, scores=[1.0] * len(dated))


def by_relative_score(legs: Sequence[Leg], limit: int) -> list[str]:
    """The paths of the notes of all legs, best first: each by its best passage, relative to the best of the leg."""
    fused: dict[str, float] = {}
    for found, weight in legs:
        scores = best_scores(found)
        top = max(scores.values(), default=0.0)
        if weight <= 0 or top <= 0:
            continue
        for path, score in scores.items():
            fused[path] = fused.get(path, 0.0) + weight * max(score, 0.0) / top
    return sorted(fused, key=lambda path: (-fused[path], path))[: max(limit, 0)]


def best_scores(hits: Sequence[Hit]) -> dict[str, float]:
    """The best score of each note among these hits."""
    best: dict[str, float] = {}
    for hit in hits:
        best[hit.path] = max(best.get(hit.path, hit.score), hit.score)
    return best


def _place(hit: Hit) -> PassageKey:
    """Where it stands: in a file by its lines, else (a memory node has none) by what it is."""
    return hit.path, hit.start_line, hit.end_line, "" if hit.start_line else hit.id


class Legs(NamedTuple):
    """What each kind of search found for one question, and how long it took."""

    keyword: ScoredHits
    dense: ScoredHits
    dense_weight: float
    keyword_ms: float
    dense_ms: float
    keyword_base: float = 0.0  # what a passage that is not among the hits scores at most
    dense_base: float = 0.0
    notice: str = ""  # why it is not all there is
    is_full: bool = False  # whether there may be more, further down
    dated: ScoredHits = NOTHING_FOUND  # what there is beside both, of the time that the question names
    beside: Callable[[Mapping[int, Hit]], Sequence[Ranking]] | None = None  # what else speaks for points, by number

    def ranked(self, fusion: Fusion, fusion_k: int) -> Iterator[Ranked]:
        """The two as one ranking, best first; by strength, with what else speaks for a passage."""
        words, meaning = self.keyword, self.dense
        rankings = [
            Ranking(KEYWORD, words.hits, 1.0, self.keyword_base, words.scores),
            Ranking(MEANING, meaning.hits, self.dense_weight, self.dense_base, meaning.scores),
        ]
        if fusion != "strength":
            return iter(fuse(rankings, fusion_k))
        found: dict[int, Hit] = {}
        for some in (words, meaning if self.dense_weight > 0 else NOTHING_FOUND, self.dated):
            found |= {number: hit for number, hit in zip(some.numbers, some.hits, strict=True) if number not in found}
        beside = self.beside(found) if self.beside is not None else ()
        return by_strength([*rankings, *beside])
