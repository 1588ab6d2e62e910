"""What carries a lens: how much each of its words, notes, tags and times does to the order (spec 5, Filter).

A word or a note is taken out of the lens, and how much that changes what the lens says of the imported notes is its
weight: so it holds for any embedding, and a word that says nothing here weighs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from infold.navigator.clusters import Matrix
from infold.navigator.lens import Lens, direction, standing
from infold.text import words

MOST_WORDS: Final = 60  # of a lens that are weighed

LensPart = Literal["word", "note", "tag", "time"]


@dataclass(frozen=True, slots=True)
class LensShare:
    """A part of a lens, and how much of what the lens does it does; the shares of a lens add up to 1."""

    kind: LensPart
    what: str
    share: float


def lens_shares(
    lens: Lens, embed: Callable[[Sequence[str]], Matrix], examples: Mapping[str, Matrix], seen: Matrix
) -> tuple[LensShare, ...]:
    """What carries `lens`, the most first.

    `examples` are the vectors of its notes by name, `seen` those of what is looked at. A direction and conditions (tags
    and times) carry half each where a lens has both, as in `lens.raised`; conditions share theirs evenly.
    """
    facts = _facts(lens)
    direct = _direct(lens, embed, examples, seen)
    weights = [(direct, 1.0 if not facts else 0.5), (facts, 1.0 if not direct else 0.5)]
    found = [LensShare(each.kind, each.what, each.share * weight) for some, weight in weights for each in some]
    return tuple(sorted(found, key=lambda each: -each.share))


def _direct(
    lens: Lens, embed: Callable[[Sequence[str]], Matrix], examples: Mapping[str, Matrix], seen: Matrix
) -> list[LensShare]:
    singles = list(dict.fromkeys(word.casefold() for phrase in lens.words for word in words(phrase)))[:MOST_WORDS]
    without = {word: [rest for phrase in lens.words if words(rest := _without(phrase, word))] for word in singles}
    texts = list(dict.fromkeys([*lens.words, *(text for some in without.values() for text in some)]))
    row_of = dict(zip(texts, embed(texts), strict=True)) if texts else {}

    def says(phrases: Sequence[str], left_out: str | None = None) -> NDArray[np.float32]:
        rows = [row_of[phrase] for phrase in phrases]
        rows += [row for name, some in examples.items() if name != left_out for row in some]
        towards = direction(np.array(rows, dtype=np.float32))
        return standing(seen, towards) if towards is not None else np.zeros(len(seen), dtype=np.float32)

    whole = says(lens.words)
    parts: list[tuple[LensPart, str, NDArray[np.float32]]] = [("word", word, says(without[word])) for word in singles]
    parts += [("note", name, says(lens.words, name)) for name in examples]
    changes = [float(np.linalg.norm(whole - each)) for _, _, each in parts]
    total = sum(changes)
    return [
        LensShare(kind, what, change / total if total else 1 / len(parts))
        for (kind, what, _), change in zip(parts, changes, strict=True)
    ]


def _facts(lens: Lens) -> list[LensShare]:
    """Conditions: one is all tags together, one the days, one what is recent."""
    tags: list[tuple[LensPart, str]] = [("tag", f"#{tag.lstrip('#')}") for tag in lens.tags]
    times: list[tuple[LensPart, str]] = []
    if lens.since or lens.until:
        times.append(("time", f"{lens.since or 'any day'} to {lens.until or 'today'}"))
    if lens.recent:
        times.append(("time", "recent"))
    conditions = [each for each in (tags, *([time] for time in times)) if each]
    return [LensShare(kind, what, 1 / len(conditions) / len(some)) for some in conditions for kind, what in some]


def _without(phrase: str, word: str) -> str:
    """The phrase without a word, whatever its case, wherever it stands by itself."""
    return re.sub(
        rf"(?<!\w){re.escape(word)}(?!\w)" if word.isascii() else re.escape(word), "", phrase, flags=re.IGNORECASE
    )
