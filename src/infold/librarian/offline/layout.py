"""What stands where in a note, and what its parts mean: all that can be known before a paragraph is looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from infold.librarian.offline.reading import NoteFeatures, NoteSection, Vector
from infold.vault.records import BlockKind

Column = npt.NDArray[np.float64]
LayoutVectors = npt.NDArray[np.float32]

_MOST_COUNTED: Final = 60  # terms of a piece: a long one does not drown the others


class Layout:
    """The standing of each section of a note, and vectors of the note, its pieces and its headings.

    `vectors` are those of the pieces, then those of the sections' headings (of the title, where there is none); None
    where there are no embeddings.
    """

    def __init__(self, reading: NoteFeatures, vectors: LayoutVectors | None) -> None:
        self.standing = _standing(reading.sections)
        self.pieces: LayoutVectors | None = None
        self.centre: Vector | None = None
        self._has_vectors = vectors is not None
        if vectors is not None:
            self._take_vectors(reading, vectors)

    def meanings(self, query: Vector) -> npt.NDArray[np.float64]:
        """Three cosines a section: less what all share, of its pieces, of its heading less what all share."""
        if not self._has_vectors:
            return np.zeros((len(self.standing["depth"]), 3))
        apart = query
        if self.centre is not None:
            apart = query - self.centre * float(query @ self.centre)
            apart = apart / (float(np.linalg.norm(apart)) + 1e-9)
        rows = np.column_stack([self._means_apart @ apart, self._means @ query, self._headings_apart @ apart])
        return rows.astype(np.float64)

    def _take_vectors(self, reading: NoteFeatures, vectors: LayoutVectors) -> None:
        count = len(reading.pieces)
        self.pieces, headings = vectors[:count], vectors[count:]
        if count:
            counted = np.array([[min(_MOST_COUNTED, piece.length)] for piece in reading.pieces], dtype=np.float32)
            total = (self.pieces * counted).sum(axis=0)
            self.centre = total / (float(np.linalg.norm(total)) + 1e-9)
        self._means = np.zeros((len(reading.sections), vectors.shape[1]), dtype=np.float32)
        at = 0
        for position, section in enumerate(reading.sections):
            if section.pieces:
                self._means[position] = self.pieces[at : at + len(section.pieces)].mean(axis=0)
            at += len(section.pieces)
        self._means_apart = _unit_rows(self._apart(self._means))
        self._headings_apart = self._apart(headings)

    def _apart(self, rows: LayoutVectors) -> LayoutVectors:
        """Rows less their part in the direction of the note's centre."""
        if self.centre is None:
            return rows
        apart: LayoutVectors = rows - np.outer(rows @ self.centre, self.centre)
        return apart


def _unit_rows(rows: LayoutVectors) -> LayoutVectors:
    unit: LayoutVectors = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)
    return unit


def _standing(sections: list[NoteSection]) -> Mapping[str, Column]:
    many = len(sections)
    has_title_heading = many > 1 and sections[1].level == 1
    rows = []
    for position, section in enumerate(sections):
        kinds = {piece.block.kind for piece in section.pieces}
        is_empty = not section.pieces
        rows.append(
            {
                "empty_leaf": is_empty and not section.has_children and position > 0,
                "empty_parent": is_empty and section.has_children and section.level > 1,
                "lead": position == 0 or section.level == 1,
                "empty_top": is_empty and (section.level == 1 or (position == 0 and not has_title_heading)),
                "bare_top": (section.level == 1 or position == 0) and BlockKind.PARAGRAPH not in kinds,
                "no_prose": not is_empty and BlockKind.PARAGRAPH not in kinds,
                "last": position == many - 1,
                "length": math.log(1 + section.length),
                "only_items": kinds == {BlockKind.LIST_ITEM},
                "unannounced": min(2, len(section.unannounced)),
                "depth": len(section.trail),
            }
        )
    table = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    table["siblings_begin_with_prose"] = _sibling_prose(sections)
    return table


def _sibling_prose(sections: list[NoteSection]) -> Column:
    """For a section that does not begin with prose, the share of its siblings that do."""
    counts: dict[tuple[tuple[str, ...], int], list[int]] = {}
    keys = [(section.trail[:-1], section.level) for section in sections]
    for key, section in zip(keys, sections, strict=True):
        counts.setdefault(key, []).append(section.begins_with_prose)
    shares = [
        0.0 if section.begins_with_prose or len(counts[key]) < 2 else sum(counts[key]) / (len(counts[key]) - 1)
        for key, section in zip(keys, sections, strict=True)
    ]
    return np.array(shares)
