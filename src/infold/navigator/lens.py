"""A semantic lens: what is looked at counts more where it is like the lens, and the lens says why (spec 5, Filter).

A lens is a few words, example notes, tags, or a stretch of time. Words and examples are a direction among the vectors;
tags and times are conditions that raise what fulfils them. Nothing is left out by a lens: it re-weights likeness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from infold.navigator.clusters import Matrix, unit

WEIGHT: Final = 0.35  # of the lens beside the likeness itself; bench/navigator.py shows what it does
HALF_LIFE_DAYS: Final = 90.0


class Lens(BaseModel):
    """A saved way of looking. Given none of its parts it changes nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=60)
    words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    recent: bool = False
    weight: float = Field(default=WEIGHT, ge=0, le=1)


BUILT_IN: Final[Mapping[str, Lens]] = {
    "technical": Lens(
        name="technical",
        words=(
            "software program code function algorithm data system server protocol engineering implementation",
            "configuration command parameter error interface architecture performance measurement",
        ),
    ),
    "personal": Lens(
        name="personal",
        words=(
            "I feel my life family friends home health childhood memory diary worry gratitude",
            "today I went, we talked, I thought about myself and what I want",
        ),
    ),
    "recent": Lens(name="recent", recent=True),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What a lens needs to know of something besides its vector."""

    tags: tuple[str, ...] = ()
    day: date | None = None


def direction(vectors: Matrix) -> NDArray[np.float32] | None:
    """The unit vector that words and examples of a lens point to; None where there are none."""
    if not len(vectors):
        return None
    mean: NDArray[np.float32] = unit(vectors.mean(axis=0, keepdims=True))[0]
    return mean if mean.any() else None


def raised(
    likeness: NDArray[np.float32],
    vectors: Matrix,
    subjects: Sequence[Subject],
    lens: Lens,
    towards: NDArray[np.float32] | None,
    today: date,
) -> NDArray[np.float32]:
    """The likeness of each thing through `lens`; the order is what counts, the scale stays about the same.

    The part of the lens is standardised over the things given, so that a direction in which all are alike (a vault
    about software, seen as "technical") cannot drown the question.
    """
    parts = [part for part in (_by_direction(vectors, towards), _by_facts(subjects, lens, today)) if part is not None]
    if not parts or not len(likeness):
        return likeness
    spread = float(likeness.std()) or 0.1
    through = np.mean(parts, axis=0)
    seen: NDArray[np.float32] = (likeness + np.float32(2 * lens.weight * spread) * through).astype(np.float32)
    return seen


def _by_direction(vectors: Matrix, towards: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
    if towards is None:
        return None
    return standing(vectors, towards)


def standing(vectors: Matrix, towards: NDArray[np.float32]) -> NDArray[np.float32]:
    """How far in a direction each row lies among all: 0 is the middle, 1 the spread, at most 2 either way."""
    return _standardised(vectors @ towards)


def _by_facts(subjects: Sequence[Subject], lens: Lens, today: date) -> NDArray[np.float32] | None:
    if not (lens.tags or lens.since or lens.until or lens.recent):
        return None
    return np.array([_fact(subject, lens, today) for subject in subjects], dtype=np.float32)


def _fact(subject: Subject, lens: Lens, today: date) -> float:
    """From -1 (nothing of the lens) to 1 (all of it)."""
    scores: list[float] = []
    if lens.tags:
        scores.append(1.0 if any(_is_below(tag, wanted) for tag in subject.tags for wanted in lens.tags) else -1.0)
    if lens.since or lens.until:
        day = subject.day
        is_in = day is not None and (lens.since or day) <= day <= (lens.until or day)
        scores.append(1.0 if is_in else -1.0)
    if lens.recent:
        age = max(0, (today - subject.day).days) if subject.day is not None else None
        scores.append(-1.0 if age is None else 2.0 * 0.5 ** (age / HALF_LIFE_DAYS) - 1.0)
    return sum(scores) / len(scores)


def _is_below(tag: str, wanted: str) -> bool:
    tag, wanted = tag.casefold(), wanted.casefold().lstrip("#")
    return tag == wanted or tag.startswith(f"{wanted}/")


def _standardised(values: NDArray[np.float32]) -> NDArray[np.float32]:
    spread = float(values.std())
    if spread < 1e-9:
        return np.zeros_like(values)
    scaled: NDArray[np.float32] = np.clip((values - values.mean()) / spread, -2.0, 2.0).astype(np.float32)
    return scaled
