"""How much speaks for each note as the home of a paragraph.

Search gives candidates from the whole vault; figures are then worked out on these alone, so the cost of a paragraph
does not grow with the vault. A note's own text, the sections it has, its title, and the notes around it in the graph
all speak. What each figure is worth stands in `weights`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from infold.librarian.offline import sections, weights
from infold.librarian.offline.corpus import Corpus, TermCounts, gather
from infold.librarian.offline.duplicates import DuplicateMatch, find_cover
from infold.librarian.offline.figures import (
    FIGURES,
    explained,
    is_fit,
    place_figure,
    standard_scores,
    word_figures,
)
from infold.librarian.offline.layout import Layout
from infold.librarian.offline.names import Names, OwnNames
from infold.librarian.offline.reading import NoteFeatures, Query, Vector, read_note, read_query
from infold.search.embed.embedder import Embedder
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.text import content_hash, without_runs
from infold.vault.links import LinkResolver
from infold.vault.records import Note

NoteReader = Callable[[str], Note | None]  # None: not there (any more), or not to be read

MOST_HITS: Final = 90
READ_NOTES: Final = 40
COMPARED_NOTES: Final = 20
_KEPT_READINGS: Final = 2500
_NEARNESS: Final = 0.5  # of meaning, beside words, between a paragraph and a piece


class RetrievedHit(Protocol):
    """A search hit: the part of it that is looked at here."""

    @property
    def path(self) -> str:
        """The note."""


class Search(Protocol):
    """What finds passages in the whole vault (`search.query.searcher.Searcher`)."""

    def keyword(self, text: str, limit: int) -> Sequence[RetrievedHit]:
        """By shared words, best first."""

    def dense(self, text: str, limit: int) -> Sequence[RetrievedHit]:
        """By meaning, best first."""


@dataclass(frozen=True, slots=True)
class NoteMatch:
    """A note that may take a paragraph in. Scores compare over one paragraph's notes only; its chances sum to 1."""

    path: str
    score: float
    chance: float
    is_related: bool  # whether the note speaks enough of what the paragraph says
    is_likely: bool  # whether its chance is not below the least

    @property
    def is_fit(self) -> bool:
        """Whether the note may take the paragraph in."""
        return self.is_related and self.is_likely


def _nothing(path: str) -> None:
    """No note stands anywhere."""


class CandidateScorer:
    """Weighs notes against paragraphs. `links` are the outgoing links of all notes, `names` gives what they are called.

    `counts` gives what was counted of the vault before, or counts by what it is given, and keeps that. A note whose
    chance is below `least_chance` takes nothing in: where many are as likely, none is told from chance.
    """

    def __init__(
        self,
        read: NoteReader,
        search: Search | None,
        embedder: Embedder,
        links: Mapping[str, Sequence[str]],
        names: Callable[[], Mapping[str, OwnNames]] = dict,
        counts: Callable[[Callable[[], TermCounts]], TermCounts] | None = None,
        least_chance: float = 0.0,
    ) -> None:
        self.least_chance = least_chance
        self._read = read
        self._search = search
        self._embedder = embedder
        self.links = links
        self._names_kept = names
        self._counts = counts or (lambda count: count())
        self._readings: OrderedDict[str, NoteFeatures | None] = OrderedDict()
        self._layouts: WeakKeyDictionary[NoteFeatures, Layout] = WeakKeyDictionary()
        self._ranked: dict[str, list[NoteMatch]] = {}
        self._covering: dict[str, str | None] = {}
        self._corpus: Corpus | None = None
        self._names: Names | None = None
        self._resolver: LinkResolver | None = None
        self._backlinks: dict[str, list[str]] | None = None

    @classmethod
    def of_nothing(cls) -> CandidateScorer:
        """The evidence of an empty vault."""
        return cls(_nothing, None, NO_EMBEDDER, {})

    @property
    def has_vectors(self) -> bool:
        """Whether meaning counts, and not words alone."""
        return not self._embedder.traits.is_empty

    @property
    def corpus(self) -> Corpus:
        """What the whole vault says about terms; gathered on first use."""
        if self._corpus is None:
            self._corpus = Corpus(self._counts(lambda: gather(list(self.links), self._read_once)))
        return self._corpus

    def reading(self, path: str) -> NoteFeatures | None:
        """The note at `path`, read once."""
        if path in self._readings:
            self._readings.move_to_end(path)
            return self._readings[path]
        reading = self._readings[path] = self._read_once(path)
        if len(self._readings) > _KEPT_READINGS:
            self._readings.popitem(last=False)
        return reading

    def _read_once(self, path: str) -> NoteFeatures | None:
        note = self._read(path)
        return None if note is None else read_note(note)

    def query(self, text: str) -> Query:
        """A paragraph, read."""
        query = read_query(text)
        if self.has_vectors:
            query.vector = self._embedder.embed([text])[0]
        return query

    def vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float32] | None:
        """One unit vector a text; None where there are no embeddings."""
        return self._embedder.embed(list(texts)) if self.has_vectors and texts else None

    def cover(self, text: str, reading: NoteFeatures) -> DuplicateMatch | None:
        """The part of a note that already says what `text` says, in words or by other names of the vault's notes."""
        if self._names is None:
            self._names = Names(self._names_kept(), self._links_resolved, self.corpus.is_common)
        return find_cover(text, reading.note, self._names)

    def covering(self, text: str) -> str | None:
        """The best note that already says what `text` says."""
        key = content_hash(text)
        if key not in self._covering:
            readings = (self.reading(match.path) for match in self.rank(text))
            found = (reading.path for reading in readings if reading is not None and self.cover(text, reading))
            self._covering[key] = next(found, None)
        return self._covering[key]

    def suggest(self, texts: Sequence[str], limit: int) -> list[str]:
        """The notes that paragraphs most belong in, taken in turn: what joins AVAILABLE beside the links."""
        ranks = [[match.path for match in self.rank(text)] for text in texts]
        turns = [path for turn in zip_longest(*ranks) for path in turn if path is not None]
        return list(dict.fromkeys(turns))[: max(0, limit)]

    def candidates(self, text: str) -> list[str]:
        """Notes from the whole vault that may have to do with `text`, most promising first."""
        if self._search is None:
            return sorted(self.links)
        text = without_runs(text)
        found = [hit.path for hit in self._search.keyword(text, MOST_HITS)]
        meant = [hit.path for hit in self._search.dense(text, MOST_HITS // 3)] if self.has_vectors else []
        merged = list(dict.fromkeys(found))[: READ_NOTES - 6]
        merged += [path for path in dict.fromkeys(meant) if path not in merged][:6]
        return merged

    def rank(self, text: str) -> list[NoteMatch]:
        """The notes of the whole vault that `text` most belongs in, best first."""
        key = content_hash(text)
        if key not in self._ranked:
            query = self.query(text)
            readings = self.around(query)
            self._ranked[key] = self.weigh(query, readings)
        return self._ranked[key]

    def around(self, query: Query) -> list[NoteFeatures]:
        """The notes of the whole vault that may have to do with a paragraph: found by search, or linked."""
        paths = dict.fromkeys([*self.candidates(query.text), *self.linked_notes(query)])
        return [reading for path in paths if (reading := self.reading(path)) is not None]

    def weigh(self, query: Query, readings: Sequence[NoteFeatures]) -> list[NoteMatch]:
        """These notes, best first. Only the best by words are compared in every respect."""
        compared, table = self.compare(query, readings)
        if not compared:
            return []
        scores = table @ weights.vector(weights.NOTE, FIGURES)
        scores += standard_scores(table) @ weights.vector(weights.NOTE_STANDARD, FIGURES)
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        likely = chances >= self.least_chance
        matches = [
            NoteMatch(reading.path, float(score), float(chance), self._is_related(row), bool(is_likely))
            for reading, score, chance, row, is_likely in zip(compared, scores, chances, table, likely, strict=True)
        ]
        return sorted(matches, key=lambda match: (-match.score, match.path))

    def _is_related(self, row: npt.NDArray[np.float64]) -> bool:
        return is_fit(row, has_vectors=self.has_vectors)

    def compare(
        self, query: Query, readings: Sequence[NoteFeatures]
    ) -> tuple[list[NoteFeatures], npt.NDArray[np.float64]]:
        """The notes that are best by words, and one row of FIGURES for each."""
        if not readings or not query.terms:
            return [], np.zeros((0, len(FIGURES)))
        words = [word_figures(query, reading, self.corpus) for reading in readings]
        order = sorted(
            range(len(readings)), key=lambda i: (-words[i]["whole"] - words[i]["best_pieces"], readings[i].path)
        )
        kept = order[:COMPARED_NOTES]
        compared = [readings[i] for i in kept]
        return compared, self.figures(query, compared, [words[i] for i in kept])

    def figures(
        self,
        query: Query,
        readings: Sequence[NoteFeatures],
        words: Sequence[Mapping[str, float]],
    ) -> npt.NDArray[np.float64]:
        """One row of FIGURES a note."""
        self._lay_out(readings)
        layouts = [self._layouts[reading] for reading in readings]
        centres = [layout.centre for layout in layouts]
        present = [centre for centre in centres if centre is not None]
        shared: Vector = np.mean(present, axis=0) if present else np.zeros(1, dtype=np.float32)
        targets = set(self.linked_notes(query))
        rows = []
        shares = explained(query, readings, self.corpus)
        for reading, own, layout, share in zip(readings, words, layouts, shares, strict=True):
            row = dict.fromkeys(FIGURES, 0.0) | dict(own) | {"explained": float(share)}
            centre, vectors = layout.centre, layout.pieces
            if query.vector is not None and centre is not None and vectors is not None:
                row["centre_meaning"] = float(centre @ query.vector)
                row["centre_own_meaning"] = _cosine(centre - shared, query.vector - shared)
                row["piece_meaning"] = float((vectors @ query.vector).max())
            row["is_linked"] = float(reading.path in targets)
            row["shared_links"] = float(min(3, len(query.links & reading.links)))
            row["has_anchors"] = len(query.anchors & reading.anchors) / max(1, len(query.anchors))
            row["place"] = place_figure(self.section_scores(query, reading))
            rows.append([row[name] for name in FIGURES])
        return np.array(rows)

    def section_figures(self, query: Query, reading: NoteFeatures) -> npt.NDArray[np.float64]:
        """One row of `sections.FIGURES` a section of the note."""
        self._lay_out([reading])
        pieces = sections.piece_scores(query, reading, self.corpus)
        return sections.describe(query, reading, self._layouts[reading], self.corpus, pieces)

    def section_scores(self, query: Query, reading: NoteFeatures) -> npt.NDArray[np.float64]:
        """How well each section of the note takes the paragraph."""
        return self.section_figures(query, reading) @ weights.vector(weights.SECTION, sections.FIGURES)

    def likings(self, query: Query, reading: NoteFeatures) -> list[float]:
        """How near each piece of the note is to the paragraph, in words and in meaning."""
        self._lay_out([reading])
        scores = np.array(sections.piece_scores(query, reading, self.corpus))
        vectors = self._layouts[reading].pieces
        if query.vector is not None and vectors is not None and len(scores):
            scores += _NEARNESS * (vectors @ query.vector)
        return [float(score) for score in scores]

    def linked_notes(self, query: Query) -> list[str]:
        """The notes that a paragraph links to."""
        if not query.links:
            return []
        found = (self._links_resolved().resolve(target, "") for target in sorted(query.links))
        return [path for path in found if path]

    def backlinks(self, path: str) -> Sequence[str]:
        """The notes that link to `path`."""
        if self._backlinks is None:
            self._backlinks = {}
            for source, targets in self.links.items():
                for target in targets:
                    self._backlinks.setdefault(target, []).append(source)
        return self._backlinks.get(path, ())

    def _links_resolved(self) -> LinkResolver:
        if self._resolver is None:
            self._resolver = LinkResolver(self.links, {})
        return self._resolver

    def _lay_out(self, readings: Sequence[NoteFeatures]) -> None:
        new = [reading for reading in readings if reading not in self._layouts]
        if not new:
            return
        texts = [text for reading in new for text in _texts(reading)]
        vectors = self._embedder.embed(texts) if self.has_vectors else None
        at = 0
        for reading in new:
            count = len(_texts(reading))
            own = None if vectors is None else vectors[at : at + count]
            self._layouts[reading] = Layout(reading, own)
            at += count


def _texts(reading: NoteFeatures) -> list[str]:
    """What has a vector: the pieces, then the headings (the title, above the first)."""
    headings = [section.trail[-1] if section.trail else reading.note.title for section in reading.sections]
    return [piece.text for piece in reading.pieces] + headings


def _cosine(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> float:
    return float(one @ other) / (float(np.linalg.norm(one) * np.linalg.norm(other)) + 1e-9)
