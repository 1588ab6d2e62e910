"""Which section of a note a paragraph belongs under: what speaks for each, as figures.

Terms count by how few sections of the same note hold them: what the whole note is about tells no section from another, so
the terms of the title are left out. What each figure is worth stands in `weights`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.librarian.offline.corpus import Corpus
from infold.librarian.offline.reading import Piece, Query, Reading, Section, Vector, continues, opening
from infold.vault.records import BlockKind

Figures = npt.NDArray[np.float64]

FIGURES: Final = (
    "own_terms",  # terms that tell this section, found in its text
    "likelihood",  # how much better the section's words explain the paragraph than the note's do
    "likelihood_gap",  # the same, against the best section
    "best_piece",  # BM25 of the best piece
    "meaning",  # cosine, less what all sections share
    "piece_meaning",  # mean cosine of the pieces
    "heading_terms",  # telling terms of the heading that the paragraph has
    "heading_share",
    "heading_first",  # the same, among the paragraph's first terms
    "heading_meaning",
    "heading_own_meaning",
    "around",  # own_terms of the sections before and after
    "empty_leaf",  # a heading with nothing below it
    "empty_parent",
    "lead",  # before the first heading, or right below the title
    "lead_titled",  # the same, and the paragraph begins with the title's words
    "empty_lead_titled",
    "lead_title_share",
    "last_title_share",
    "length",
    "only_items",
    "only_code",
    "announced",  # the paragraph announces, and something here stands unannounced
    "unannounced",
    "siblings_begin_with_prose",  # and this one does not
    "goes_on",  # the paragraph continues, and there is one to continue
    "same_form",
    "ends_announcing",
    "depth",
)
_SMOOTHING: Final = 25.0
_LENGTH: Final = 80.0
K1: Final = 1.2


def piece_scores(query: Query, pieces: list[Piece], corpus: Corpus, mean_length: float) -> list[float]:
    """BM25 of each piece, as a share of all the paragraph's term weight."""
    scores = []
    total = total_weight(query, corpus)
    for piece in pieces:
        norm = K1 * (0.5 + 0.5 * piece.length / mean_length)
        found = query.terms.keys() & piece.terms.keys()
        held = piece.terms
        scores.append(sum(corpus.weight(t) * held[t] * (K1 + 1) / (held[t] + norm) for t in sorted(found)) / total)
    return scores


def total_weight(query: Query, corpus: Corpus) -> float:
    """The weight of all terms of a paragraph together; never 0."""
    return sum(corpus.weight(term) for term in query.terms) + 1e-9


def describe(query: Query, reading: Reading, corpus: Corpus, pieces: Mapping[int, float]) -> Figures:
    """One row of FIGURES a section of the note. `pieces`: BM25 by `id` of piece."""
    sections = reading.sections
    many = len(sections)
    weight = corpus.weight
    local = {
        term: math.log(1 + (many + 0.5) / (reading.spread[term] + 0.5)) / math.log(2 + many)
        for term in query.terms
        if reading.spread[term]
    }
    all_local = sum(weight(term) * share for term, share in sorted(local.items())) + 1e-9
    rest = {term: count for term, count in query.terms.items() if term not in reading.title_terms}
    background = {
        term: (reading.terms.get(term, 0) + 20 * corpus.share(term)) / (reading.length + 20) for term in rest
    }
    title_weight = sum(weight(term) for term in reading.title_terms) + 1e-9
    begins = opening(query, max(4, len(reading.title_terms) + 2))
    early = opening(query, 8)
    first_ten = opening(query, 10)
    titled = sum(weight(term) for term in reading.title_terms if term in begins) / title_weight
    title_share = sum(weight(term) for term in reading.title_terms if term in early) / title_weight
    is_going_on = continues(query.text)
    has_title_heading = many > 1 and sections[1].level == 1
    centre = _centre(sections)

    rows = []
    for position, section in enumerate(sections):
        row = dict.fromkeys(FIGURES, 0.0)
        held = section.terms
        norm = K1 * (0.4 + 0.6 * section.length / _LENGTH)
        own = sum(weight(t) * share * held[t] * 2.2 / (held[t] + norm) for t, share in sorted(local.items()) if held[t])
        row["own_terms"] = own / all_local
        row["likelihood"] = _likelihood(rest, section, background)
        if section.pieces:
            row["best_piece"] = max(pieces[id(piece)] for piece in section.pieces)
        _meanings(row, query, section, centre)
        shared = [term for term in section.heading_terms if term in query.terms]
        heading_weight = sum(weight(term) for term in section.heading_terms) + 1e-9
        row["heading_terms"] = sum(weight(term) * local.get(term, 0.0) for term in shared) / heading_weight
        row["heading_share"] = sum(weight(term) for term in shared) / heading_weight
        telling = [term for term in section.heading_terms if term not in reading.title_terms]
        if telling:
            found = sum(weight(term) for term in telling if term in first_ten)
            row["heading_first"] = found / (sum(weight(term) for term in telling) + 1e-9)
        is_empty = not section.pieces
        is_lead = position == 0 or section.level == 1
        is_top = is_empty and (section.level == 1 or (position == 0 and not has_title_heading))
        row["empty_leaf"] = float(is_empty and not section.has_children and position > 0)
        row["empty_parent"] = float(is_empty and section.has_children and section.level > 1)
        row["lead"] = float(is_lead)
        row["lead_titled"] = float(is_lead and titled > 0.99 and not is_top)
        row["empty_lead_titled"] = float(is_top and titled > 0.99)
        row["lead_title_share"] = float(is_lead) * title_share
        row["last_title_share"] = float(position == many - 1) * titled
        row["length"] = math.log(1 + section.length)
        kinds = {piece.block.kind for piece in section.pieces}
        row["only_items"] = float(kinds == {BlockKind.LIST_ITEM})
        row["only_code"] = float(bool(kinds) and kinds <= {BlockKind.CODE, BlockKind.TABLE})
        lonely = min(2, len(section.unannounced))
        row["announced"] = float(lonely * query.signs.announces)
        row["unannounced"] = float(lonely * (not query.signs.announces))
        row["siblings_begin_with_prose"] = _sibling_prose(section, sections)
        row["goes_on"] = float(is_going_on and BlockKind.PARAGRAPH in kinds)
        row["same_form"] = _same_form(query, section)
        row["ends_announcing"] = float(bool(section.pieces) and section.pieces[-1].signs.announces)
        row["depth"] = float(len(section.trail))
        rows.append(row)
    best = max(row["likelihood"] for row in rows)
    for position, row in enumerate(rows):
        row["likelihood_gap"] = row["likelihood"] - best
        before = rows[position - 1]["own_terms"] if position else 0.0
        after = rows[position + 1]["own_terms"] if position + 1 < many else 0.0
        row["around"] = (before + after) / 2
    return np.array([[row[name] for name in FIGURES] for row in rows])


def _likelihood(rest: Mapping[str, int], section: Section, background: Mapping[str, float]) -> float:
    heading, above, held = section.heading_terms, section.above_terms, section.terms
    room = section.length + 3 * len(heading) + len(above) + _SMOOTHING
    total = 0.0
    for term, count in rest.items():
        expected = background[term]
        seen = held.get(term, 0) + 3 * (term in heading) + (term in above) + _SMOOTHING * expected
        total += math.log(seen / room / expected) * min(count, 2)
    return total / (sum(rest.values()) + 1e-9)


def _centre(sections: list[Section]) -> Vector | None:
    """The direction that all pieces share."""
    vectors = [piece.vector * min(60, piece.length) for s in sections for piece in s.pieces if piece.vector is not None]
    if not vectors:
        return None
    total: Vector = np.sum(vectors, axis=0)
    return _unit(total)


def _meanings(row: dict[str, float], query: Query, section: Section, centre: Vector | None) -> None:
    if query.vector is None:
        return
    apart = query.vector if centre is None else _unit(query.vector - centre * float(query.vector @ centre))
    vectors = [piece.vector for piece in section.pieces if piece.vector is not None]
    if vectors:
        mean: Vector = np.mean(vectors, axis=0)
        row["piece_meaning"] = float(mean @ query.vector)
        row["meaning"] = float(_unit(mean if centre is None else mean - centre * float(mean @ centre)) @ apart)
    if section.title_vector is not None:
        row["heading_meaning"] = float(section.title_vector @ query.vector)
        own = section.title_vector if centre is None else section.title_vector - centre * float(section.title_vector @ centre)
        row["heading_own_meaning"] = float(own @ apart)


def _unit(vector: Vector) -> Vector:
    unit: Vector = vector / (np.linalg.norm(vector) + 1e-9)
    return unit


def _sibling_prose(section: Section, sections: list[Section]) -> float:
    """The share of its sibling sections that begin with prose, where it does not."""
    if section.begins_with_prose:
        return 0.0
    siblings = [
        other
        for other in sections
        if other is not section and other.level == section.level and other.trail[:-1] == section.trail[:-1]
    ]
    return sum(other.begins_with_prose for other in siblings) / len(siblings) if siblings else 0.0


def _same_form(query: Query, section: Section) -> float:
    """How many of the section's pieces begin as the paragraph does: bold, or with a link."""
    many = len(section.pieces)
    if not many or not (query.signs.is_bold_led or query.signs.is_link_led):
        return 0.0
    bold = query.signs.is_bold_led and sum(piece.signs.is_bold_led for piece in section.pieces) / many
    link = query.signs.is_link_led and sum(piece.signs.is_link_led for piece in section.pieces) / many
    return float(bold) + float(link)
