"""How much speaks for each note as the home of a paragraph.

Search gives candidates from the whole vault; figures are then worked out on these alone, so the cost of a paragraph does
not grow with the vault. A note's own text, the sections it has, its title, and the notes around it in the graph all speak.
What each figure is worth stands in `weights`.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from infold.librarian.offline import sections, weights
from infold.librarian.offline.corpus import Corpus, gather
from infold.librarian.offline.duplicates import find_cover
from infold.librarian.offline.reading import Query, Reading, opening, read_note, read_query
from infold.search.embedding import Embedder
from infold.text import content_hash
from infold.vault.links import LinkResolver
from infold.vault.records import Note

NoteReader = Callable[[str], Note | None]  # None: not there (any more), or not to be read

FIGURES: Final = (
    "whole",  # BM25 of the whole note
    "best_pieces",  # BM25 of its three best pieces together
    "coverage",  # the share of the paragraph's terms that it has at all
    "title",
    "title_first",  # the title's terms among the paragraph's first
    "headings",
    "key_terms",  # BM25 of what the paragraph emphasises, links and names
    "likelihood",  # how much better the note's words explain the paragraph than the vault's do
    "centre_meaning",  # cosine with the mean of its pieces
    "centre_own_meaning",  # the same, less what all candidates share
    "piece_meaning",  # cosine with its best piece
    "neighbours",  # BM25 of the best note it links to, or is linked from
    "is_linked",  # the paragraph links to it: then it rarely stands in it
    "shared_links",
    "length",
    "place",  # how well its best section takes the paragraph
)
MOST_HITS: Final = 60
READ_NOTES: Final = 30
COMPARED_NOTES: Final = 14
_KEPT_READINGS: Final = 2500
_SMOOTHING: Final = 150.0
K1: Final = 1.2
B: Final = 0.75


class Found(Protocol):
    """A search hit: the part of it that is looked at here."""

    @property
    def path(self) -> str:
        """The note."""


class Search(Protocol):
    """What finds passages in the whole vault (`search.query.Searcher`)."""

    def keyword(self, text: str, limit: int) -> Sequence[Found]:
        """By shared words, best first."""

    def dense(self, text: str, limit: int) -> Sequence[Found]:
        """By meaning, best first."""


@dataclass(frozen=True, slots=True)
class Match:
    """A note that may take a paragraph in. `score` compares over one paragraph's notes only, `chance` sums to at most 1."""

    path: str
    score: float
    chance: float
    fit: float  # 0 to 1: the share of what the paragraph says that the note speaks of


class Evidence:
    """Weighs notes against paragraphs. `links` are the outgoing links of every note."""

    def __init__(
        self, read: NoteReader, search: Search | None, embedder: Embedder | None, links: Mapping[str, Sequence[str]]
    ) -> None:
        self._read = read
        self._search = search
        self._embedder = embedder
        self.links = links
        self._readings: OrderedDict[str, Reading | None] = OrderedDict()
        self._ranked: dict[str, list[Match]] = {}
        self._corpus: Corpus | None = None
        self._resolver: LinkResolver | None = None
        self._backlinks: dict[str, list[str]] | None = None

    @classmethod
    def of_nothing(cls) -> Evidence:
        """The evidence of an empty vault."""
        return cls(lambda path: None, None, None, {})

    @property
    def corpus(self) -> Corpus:
        """What the whole vault says about terms; gathered on first use."""
        if self._corpus is None:
            self._corpus = gather(list(self.links), self.reading)
        return self._corpus

    def reading(self, path: str) -> Reading | None:
        """The note at `path`, read once."""
        if path in self._readings:
            self._readings.move_to_end(path)
            return self._readings[path]
        note = self._read(path)
        reading = None if note is None else read_note(note)
        self._readings[path] = reading
        if len(self._readings) > _KEPT_READINGS:
            self._readings.popitem(last=False)
        return reading

    def query(self, text: str) -> Query:
        """A paragraph, read."""
        query = read_query(text)
        if self._embedder is not None:
            query.vector = self._embedder.embed([text])[0]
        return query

    def vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float32] | None:
        """One unit vector a text; None where there are no embeddings."""
        return self._embedder.embed(list(texts)) if self._embedder is not None and texts else None

    def covers(self, text: str, path: str) -> bool:
        """Whether the note at `path` already says what `text` says."""
        reading = self.reading(path)
        return reading is not None and find_cover(text, reading.note) is not None

    def suggest(self, texts: Sequence[str], limit: int) -> list[str]:
        """The notes that paragraphs most belong in, taken in turn: what joins AVAILABLE beside the links."""
        ranks = [[match.path for match in self.rank(text)] for text in texts]
        turns = [path for turn in zip_longest(*ranks) for path in turn if path is not None]
        return list(dict.fromkeys(turns))[: max(0, limit)]

    def candidates(self, text: str) -> list[str]:
        """Notes from the whole vault that may have to do with `text`, most promising first."""
        if self._search is None:
            return sorted(self.links)
        found = [hit.path for hit in self._search.keyword(text, MOST_HITS)]
        meant = [hit.path for hit in self._search.dense(text, MOST_HITS // 3)] if self._embedder is not None else []
        merged = list(dict.fromkeys(found))[: READ_NOTES - 6]
        merged += [path for path in dict.fromkeys(meant) if path not in merged][:6]
        return merged

    def rank(self, text: str) -> list[Match]:
        """The notes of the whole vault that `text` most belongs in, best first."""
        key = content_hash(text)
        if key not in self._ranked:
            query = self.query(text)
            paths = dict.fromkeys([*self.candidates(text), *self.linked_notes(query)])
            readings = [reading for path in paths if (reading := self.reading(path)) is not None]
            self._ranked[key] = self.weigh(query, readings)
        return self._ranked[key]

    def weigh(self, query: Query, readings: Sequence[Reading]) -> list[Match]:
        """These notes, best first. Only the best by words are compared in every respect."""
        if not readings or not query.terms:
            return []
        words = [self._words(query, reading) for reading in readings]
        order = sorted(range(len(readings)), key=lambda i: (-words[i]["whole"] - words[i]["best_pieces"], readings[i].path))
        by_path = {readings[i].path: words[i]["whole"] for i in range(len(readings))}
        kept = order[:COMPARED_NOTES]
        table = self.figures(query, [readings[i] for i in kept], [words[i] for i in kept], by_path)
        scores = table @ weights.vector(weights.NOTE, FIGURES)
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        matches = [
            Match(readings[i].path, float(scores[at]), float(chances[at]), words[i]["coverage"]) for at, i in enumerate(kept)
        ]
        return sorted(matches, key=lambda match: (-match.score, match.path))

    def figures(
        self,
        query: Query,
        readings: Sequence[Reading],
        words: Sequence[Mapping[str, float]],
        by_path: Mapping[str, float],
    ) -> npt.NDArray[np.float64]:
        """One row of FIGURES a note."""
        self._embed(readings)
        centres = [_centre(reading) for reading in readings]
        present = [centre for centre in centres if centre is not None]
        shared = np.mean(present, axis=0) if present else None
        targets = set(self.linked_notes(query))
        rows = []
        for reading, own, centre in zip(readings, words, centres, strict=True):
            row = dict.fromkeys(FIGURES, 0.0) | dict(own)
            if query.vector is not None and centre is not None and shared is not None:
                row["centre_meaning"] = float(centre @ query.vector)
                row["centre_own_meaning"] = _cosine(centre - shared, query.vector - shared)
                row["piece_meaning"] = max(float(p.vector @ query.vector) for p in reading.pieces if p.vector is not None)
            around = {*self.links.get(reading.path, ()), *self.backlinks(reading.path)} - {reading.path}
            row["neighbours"] = max((by_path.get(path, 0.0) for path in around), default=0.0)
            row["is_linked"] = float(reading.path in targets)
            row["shared_links"] = float(min(3, len(query.links & reading.links)))
            row["place"] = self._place(query, reading)
            rows.append([row[name] for name in FIGURES])
        return np.array(rows)

    def section_figures(self, query: Query, reading: Reading) -> npt.NDArray[np.float64]:
        """One row of `sections.FIGURES` a section of the note."""
        self._embed([reading])
        scores = sections.piece_scores(query, reading.pieces, self.corpus, _mean_piece(reading))
        by_piece = {id(piece): score for piece, score in zip(reading.pieces, scores, strict=True)}
        return sections.describe(query, reading, self.corpus, by_piece)

    def section_scores(self, query: Query, reading: Reading) -> npt.NDArray[np.float64]:
        """How well each section of the note takes the paragraph."""
        return self.section_figures(query, reading) @ weights.vector(weights.SECTION, sections.FIGURES)

    def linked_notes(self, query: Query) -> list[str]:
        """The notes that a paragraph links to."""
        if not query.links:
            return []
        if self._resolver is None:
            self._resolver = LinkResolver(self.links, {})
        found = (self._resolver.resolve(target, "") for target in sorted(query.links))
        return [path for path in found if path]

    def backlinks(self, path: str) -> Sequence[str]:
        """The notes that link to `path`."""
        if self._backlinks is None:
            self._backlinks = {}
            for source, targets in self.links.items():
                for target in targets:
                    self._backlinks.setdefault(target, []).append(source)
        return self._backlinks.get(path, ())

    def _words(self, query: Query, reading: Reading) -> dict[str, float]:
        corpus, held = self.corpus, reading.terms
        total = sections.total_weight(query, corpus)
        shared = sorted(query.terms.keys() & held.keys())
        norm = K1 * (1 - B + B * reading.length / corpus.mean_length)
        weight = corpus.weight
        scores = sorted(sections.piece_scores(query, reading.pieces, corpus, _mean_piece(reading)), reverse=True)
        headings: Counter[str] = Counter()
        for section in reading.sections:
            headings.update(section.heading_terms)
        title_weight = sum(weight(term) for term in reading.title_terms) + 1e-9
        first = opening(query, 8)
        key_weight = sum(weight(term) for term in query.key_terms) + 1e-9
        keys = sorted(query.key_terms.keys() & held.keys())
        return {
            "whole": sum(weight(t) * held[t] * (K1 + 1) / (held[t] + norm) for t in shared) / total,
            "best_pieces": sum(scores[:3]),
            "coverage": sum(weight(t) for t in shared) / total,
            "title": sum(weight(t) for t in shared if t in reading.title_terms) / total,
            "title_first": sum(weight(t) for t in reading.title_terms if t in first) / title_weight,
            "headings": sum(weight(t) for t in shared if t in headings) / total,
            "key_terms": sum(weight(t) * held[t] * (K1 + 1) / (held[t] + norm) for t in keys) / key_weight,
            "likelihood": self._likelihood(query, reading),
            "length": math.log(1 + reading.length),
        }

    def _likelihood(self, query: Query, reading: Reading) -> float:
        total = 0.0
        for term, count in query.terms.items():
            share = self.corpus.share(term)
            seen = (reading.terms.get(term, 0) + _SMOOTHING * share) / (reading.length + _SMOOTHING)
            total += count * math.log(seen / share)
        return total / query.terms.total()

    def _place(self, query: Query, reading: Reading) -> float:
        scores = self.section_scores(query, reading)
        most = float(scores.max())
        return most + math.log(float(np.exp(scores - most).sum()) / len(scores))

    def _embed(self, readings: Iterable[Reading]) -> None:
        if self._embedder is None:
            return
        pieces = [piece for reading in readings for piece in reading.pieces if piece.vector is None]
        titled = [s for reading in readings for s in reading.sections if s.title_vector is None]
        if not pieces and not titled:
            return
        titles = {id(s): s.trail[-1] if s.trail else r.note.title for r in readings for s in r.sections}
        texts = [piece.text for piece in pieces] + [titles[id(section)] for section in titled]
        vectors = self._embedder.embed(texts)
        for piece, vector in zip(pieces, vectors, strict=False):
            piece.vector = vector
        for section, vector in zip(titled, vectors[len(pieces) :], strict=True):
            section.title_vector = vector


def _mean_piece(reading: Reading) -> float:
    """The usual length of a piece in terms: fixed, so that a note's pieces compare with another's."""
    return 30.0


def _centre(reading: Reading) -> npt.NDArray[np.float32] | None:
    vectors = [piece.vector * min(60, piece.length) for piece in reading.pieces if piece.vector is not None]
    if not vectors:
        return None
    total: npt.NDArray[np.float32] = np.sum(vectors, axis=0)
    unit: npt.NDArray[np.float32] = total / (np.linalg.norm(total) + 1e-9)
    return unit


def _cosine(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> float:
    return float(one @ other) / (float(np.linalg.norm(one) * np.linalg.norm(other)) + 1e-9)
