"""Which section of a note a paragraph belongs under: what speaks for each, as figures.

Terms count by how few sections of the same note hold them: what the whole note is about tells no section from another,
so the terms of the title are left out. What each figure is worth stands in `weights`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.librarian.offline.corpus import Corpus
from infold.librarian.offline.layout import Layout
from infold.librarian.offline.reading import NoteFeatures, NoteSection, Query, opening

Figures = npt.NDArray[np.float64]

FIGURES: Final = (
    "own_terms",  # terms that tell this section, found in its text
    "likelihood",  # how much better the section's words explain the paragraph than the note's do
    "likelihood_gap",  # the same, against the best section
    "best_piece",  # BM25 of the best piece
    "heading_terms",  # telling terms of the heading that the paragraph has
    "heading_first",  # the same, among the paragraph's first terms
    "around",  # own_terms of the sections before and after
    "own_key_terms",  # terms that tell this section, of what the paragraph emphasises, links and names
    "meaning",  # cosine, less what all sections share
    "piece_meaning",  # mean cosine of the pieces
    "heading_own_meaning",  # the same, less what all sections share
    "empty_leaf",  # a heading with nothing below it
    "empty_parent",
    "lead",  # before the first heading, or right below the title
    "lead_titled",  # the same, and the paragraph begins with the title's words
    "empty_lead_titled",
    "lead_defined",  # before the first heading, and the paragraph says what the note's subject is
    "bare_lead_defined",  # the same, and no prose stands there yet
    "no_prose",  # lists, code or quotes without a paragraph
    "heading_subject",  # the paragraph says what the heading's subject is
    "last_defined",
    "last_title_share",
    "length",
    "only_items",
    "announced",  # the paragraph announces, and something here stands unannounced
    "siblings_begin_with_prose",  # and this one does not
    "depth",
    "is_linked",  # the paragraph links to its heading: then it does not stand below it
)
_SMOOTHING: Final = 25.0
_MOST_TIMES: Final = 2  # that a term counts
_LENGTH: Final = 80.0
_PIECE_LENGTH: Final = 30.0  # the usual length of a piece in terms: fixed, so that pieces of all notes compare
K1: Final = 1.2


def piece_scores(query: Query, reading: NoteFeatures, corpus: Corpus) -> list[float]:
    """BM25 of each piece of a note, as a share of all the paragraph's term weight."""
    query = query.read_in(reading.language)
    weights = query.weights(corpus.weight)
    total = query.total_weight(corpus.weight)
    sought = {term: weight for term, weight in weights.items() if term in reading.terms}
    any_sought = sought.keys()
    scores = []
    for piece in reading.pieces:
        if any_sought.isdisjoint(piece.terms):
            scores.append(0.0)
            continue
        norm = K1 * (0.5 + 0.5 * piece.length / _PIECE_LENGTH)
        held: dict[str, int] = {}
        for term in filter(sought.__contains__, piece.terms):
            held[term] = held.get(term, 0) + 1
        scores.append(sum([sought[t] * held[t] * (K1 + 1) / (held[t] + norm) for t in sought if t in held]) / total)
    return scores


@dataclass(frozen=True, slots=True)
class _Telling:
    """What tells the sections of one note apart for one paragraph."""

    local: Mapping[str, float]  # weight by how few sections hold the term
    all_local: float
    rest: int  # how many terms the paragraph has less the title's
    counted: int  # the same, each term twice at most
    background: Mapping[str, tuple[int, float]]  # of those the note has: times that count, and how often it uses it
    weight: Mapping[str, float]
    first: frozenset[str]


def describe(query: Query, reading: NoteFeatures, layout: Layout, corpus: Corpus, pieces: Sequence[float]) -> Figures:
    """One row of FIGURES a section of the note. `pieces`: BM25 of each piece."""
    query = query.read_in(reading.language)
    sections = reading.sections
    words = _words(query, reading, corpus, pieces)
    meanings = layout.meanings(query.vector) if query.vector is not None else np.zeros((len(sections), 3))
    weight = corpus.weight
    title_weight = sum(weight(term) for term in reading.title_terms) + 1e-9
    begins = opening(query, max(4, len(reading.title_terms) + 2))
    titled = sum(weight(term) for term in reading.title_terms if term in begins) / title_weight
    is_titled = float(titled > 0.99)
    defined = sum(weight(term) for term in reading.title_terms if term in query.subject) / title_weight
    says = layout.standing
    standing = np.column_stack(
        [
            says["empty_leaf"],
            says["empty_parent"],
            says["lead"],
            says["lead"] * (1 - says["empty_top"]) * is_titled,
            says["empty_top"] * is_titled,
            says["lead"] * (1 - says["bare_top"]) * defined,
            says["bare_top"] * defined,
            says["no_prose"],
            np.array([_subject_share(section, query, reading, corpus) for section in reading.sections]),
            says["last"] * defined,
            says["last"] * titled,
            says["length"],
            says["only_items"],
            says["unannounced"] * query.signs.announces,
            says["siblings_begin_with_prose"],
            says["depth"],
            np.array([float(section.anchor in query.anchors) for section in reading.sections]),
        ]
    )
    return np.hstack([words, meanings, standing])


def _words(query: Query, reading: NoteFeatures, corpus: Corpus, pieces: Sequence[float]) -> Figures:
    many = len(reading.sections)
    weight = query.weights(corpus.weight)
    spread = reading.spread
    local = {
        term: weight[term] * math.log(1 + (many + 0.5) / (spread[term] + 0.5)) / math.log(2 + many)
        for term in weight
        if term in spread
    }
    rest = {term: count for term, count in query.terms.items() if term not in reading.title_terms}
    times = {term: min(count, _MOST_TIMES) for term, count in rest.items()}
    background = {
        term: (many_times, _SMOOTHING * (reading.terms[term] + 20 * corpus.share(term)) / (reading.length + 20))
        for term, many_times in times.items()
        if term in spread
    }
    all_local = sum(local.values()) + 1e-9
    counts = sum(rest.values()), sum(times.values())
    telling = _Telling(local, all_local, *counts, background, weight, opening(query, 10))
    keys = [term for term in query.key_terms if term in local]
    all_keys = sum(local[term] for term in keys) + 1e-9
    rows = np.zeros((many, 8))
    at = 0
    for position, section in enumerate(reading.sections):
        own = pieces[at : at + len(section.pieces)]
        at += len(section.pieces)
        rows[position, 0] = _own_terms(section, telling)
        rows[position, 1] = _likelihood(section, telling)
        rows[position, 3] = max(own, default=0.0)
        if section.heading_terms:
            rows[position, 4:6] = _heading(section, telling, reading, corpus)
        if keys:
            rows[position, 7] = (
                sum(local[t] for t in keys if t in section.terms or t in section.heading_terms) / all_keys
            )
    rows[:, 2] = rows[:, 1] - rows[:, 1].max()
    beside = np.concatenate([[0.0], rows[:, 0], [0.0]])
    rows[:, 6] = (beside[:-2] + beside[2:]) / 2
    return rows


def _subject_share(section: NoteSection, query: Query, reading: NoteFeatures, corpus: Corpus) -> float:
    """How much of the heading the paragraph's subject has."""
    own = [term for term in section.heading_terms if term not in reading.title_terms] or list(section.heading_terms)
    weight = sum(corpus.weight(term) for term in own) + 1e-9
    return sum(corpus.weight(term) for term in own if term in query.subject) / weight


def _own_terms(section: NoteSection, telling: _Telling) -> float:
    held, local = section.terms, telling.local
    if held.keys().isdisjoint(local):
        return 0.0
    norm = K1 * (0.4 + 0.6 * section.length / _LENGTH)
    return sum(local[t] * held[t] * (K1 + 1) / (held[t] + norm) for t in local if t in held) / telling.all_local


def _likelihood(section: NoteSection, telling: _Telling) -> float:
    """The mean log ratio of each term's share in the section to that in the note; a term counts at most twice."""
    heading, above, held = section.heading_terms, section.above_terms, section.terms
    room = section.length + 3 * len(heading) + len(above) + _SMOOTHING
    total = math.log(_SMOOTHING / room) * telling.counted
    for term, (times, usual) in telling.background.items():
        if term in held or term in heading or term in above:
            seen = held.get(term, 0) + 3 * (term in heading) + (term in above)
            total += math.log(1 + seen / usual) * times
    return total / (telling.rest + 1e-9)


def _heading(section: NoteSection, telling: _Telling, reading: NoteFeatures, corpus: Corpus) -> tuple[float, float]:
    """How much of the heading the paragraph has: of its telling terms, and of them among its own first terms."""
    terms = section.heading_terms
    weight = sum(corpus.weight(term) for term in terms) + 1e-9
    shared = [term for term in terms if term in telling.weight]
    own = [term for term in terms if term not in reading.title_terms]
    own_weight = sum(corpus.weight(term) for term in own) + 1e-9
    first = sum(corpus.weight(term) for term in own if term in telling.first) / own_weight
    by_telling = sum(telling.local.get(term, 0.0) for term in shared) / weight
    return by_telling, first
