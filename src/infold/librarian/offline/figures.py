"""What speaks for a note as the home of a paragraph, as figures. What each is worth stands in `weights`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.librarian.offline import sections, weights
from infold.librarian.offline.corpus import Corpus
from infold.librarian.offline.reading import NoteFeatures, Query, opening

FIGURES: Final = (
    "whole",  # BM25 of the whole note
    "coverage",  # the share of the paragraph's terms that it has at all
    "title",
    "title_first",  # the title's terms among the paragraph's first
    "headings",
    "key_terms",  # BM25 of what the paragraph emphasises, links and names
    "title_held",  # the share of its title that the paragraph says outside of links
    "title_whole",  # all of it
    "likelihood",  # how much better the note's words explain the paragraph than the vault's do
    "explained",  # the share of the paragraph's terms that it explains, beside the others
    "centre_meaning",  # cosine with the mean of its pieces
    "centre_own_meaning",  # the same, less what all candidates share
    "piece_meaning",  # cosine with its best piece
    "is_linked",  # the paragraph links to it: then it rarely stands in it
    "shared_links",
    "has_anchors",  # the share of the headings of its own note that the paragraph links to, which are here
    "length",
    "paragraphs",
    "sections",
    "variety",  # how many different terms it has
    "place",  # how well its best section takes the paragraph
)
_SMOOTHING: Final = 150.0
_EXPLAINED_SMOOTHING: Final = 100.0
K1: Final = 1.2
B: Final = 0.75


def word_figures(query: Query, reading: NoteFeatures, corpus: Corpus) -> dict[str, float]:
    """The figures of FIGURES that words alone give, and `best_pieces`: BM25 of the three best pieces together."""
    query = query.read_in(reading.language)
    held = reading.terms
    weight = query.weights(corpus.weight)
    total = query.total_weight(corpus.weight)
    shared = [term for term in weight if term in held]
    norm = K1 * (1 - B + B * reading.length / corpus.mean_length)
    scores = sorted(sections.piece_scores(query, reading, corpus), reverse=True)
    title_weight = sum(corpus.weight(term) for term in reading.title_terms) + 1e-9
    first = opening(query, 8)
    called = {term: corpus.weight(term) for term in reading.called}
    said = sum(weight for term, weight in called.items() if term in query.unlinked)
    keys = {term: corpus.weight(term) for term in query.key_terms}
    held_keys = [term for term in keys if term in held]
    return {
        "whole": sum(weight[t] * held[t] * (K1 + 1) / (held[t] + norm) for t in shared) / total,
        "best_pieces": sum(scores[:3]),
        "coverage": sum(weight[t] for t in shared) / total,
        "title": sum(weight[t] for t in shared if t in reading.title_terms) / total,
        "title_first": sum(corpus.weight(t) for t in reading.title_terms if t in first) / title_weight,
        "title_held": said / (sum(called.values()) + 1e-9),
        "title_whole": float(bool(called) and called.keys() <= query.unlinked),
        "headings": sum(weight[t] for t in shared if t in reading.heading_terms) / total,
        "key_terms": sum(keys[t] * held[t] * (K1 + 1) / (held[t] + norm) for t in held_keys)
        / (sum(keys.values()) + 1e-9),
        "likelihood": _likelihood(query, reading, corpus),
        "length": math.log(1 + reading.length),
        "paragraphs": math.log(1 + reading.paragraphs),
        "sections": math.log(1 + len(reading.sections)),
        "variety": math.log(1 + len(held)),
    }


def explained(query: Query, readings: Sequence[NoteFeatures], corpus: Corpus) -> npt.NDArray[np.float64]:
    """The share of a paragraph's weight that each of some notes explains: of a term, by how much likelier it is there.

    What one note alone uses counts for that note; what all of them use tells nothing.
    """
    languages = Counter(reading.language for reading in readings)
    query = query.read_in(max(languages, key=languages.__getitem__))
    weight = query.weights(corpus.weight)
    forms = {language: query.terms_in(language) for language in languages}
    own = {language: [known.get(term, term) for term in weight] for language, known in forms.items()}
    shares = {language: [corpus.share(term) for term in terms] for language, terms in own.items()}
    usual = np.array([shares[reading.language] for reading in readings])
    times = np.array([[reading.terms.get(term, 0) for term in own[reading.language]] for reading in readings])
    lengths = np.array([[reading.length] for reading in readings])
    likelier = (times / usual + _EXPLAINED_SMOOTHING) / (lengths + _EXPLAINED_SMOOTHING)
    explain = likelier**2 / (likelier**2).sum(axis=0)
    found: npt.NDArray[np.float64] = explain @ np.array(list(weight.values())) / query.total_weight(corpus.weight)
    return found


def standard_scores(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Each figure of some notes as so many standard deviations above their mean.

    How far cosines spread hangs on the language, how far BM25 does on the paragraph.
    """
    scores: npt.NDArray[np.float64] = (table - table.mean(axis=0)) / (table.std(axis=0) + 1e-6)
    return scores


def is_fit(row: npt.NDArray[np.float64], *, has_vectors: bool) -> bool:
    """Whether a note with this row of FIGURES speaks enough of what the paragraph says to take it in."""
    words, meaning = float(row[FIGURES.index("whole")]), float(row[FIGURES.index("centre_meaning")])
    return words + meaning >= weights.FLOOR if has_vectors else words >= weights.FLOOR_OF_WORDS


def place_figure(scores: npt.NDArray[np.float64]) -> float:
    """How well a note's sections take a paragraph, the best counting most."""
    most = float(scores.max())
    return most + math.log(float(np.exp(scores - most).sum()) / len(scores))


def _likelihood(query: Query, reading: NoteFeatures, corpus: Corpus) -> float:
    total = 0.0
    for term, count in query.terms.items():
        share = corpus.share(term)
        seen = (reading.terms.get(term, 0) + _SMOOTHING * share) / (reading.length + _SMOOTHING)
        total += count * math.log(seen / share)
    return total / query.terms.total()
