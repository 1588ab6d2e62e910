"""Hits in a tree as results: a summary that matches covers what is below it, several hits raise their parent. Pure.

For every tree whose hits can be traced up by parents: memory trees, nodes of articles. Three rules:

- *Covered*: where something that sums up what is below it matches too, it is the result and names what it covers; the
  upmost, where several do.
- *Raised*: `RAISING_HITS` of the best hits that are children of one parent, and `RAISING_SHARE` of its children at
  least, make the parent the result: the whole of it is meant. A root is never raised. (Two hits are too few: measured,
  they hide what was asked for.)
- A raised parent scores as the best of them, and `RAISE_SHARE` more for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

LOOKED_AT: Final = 12  # the best hits, among which several below one parent raise it
RAISING_HITS: Final = 3  # children of one parent
RAISING_SHARE: Final = 0.2  # of all its children
RAISE_SHARE: Final = 0.1  # of the best score, for each other child


@dataclass(slots=True)
class Traced:
    """A result: the node that stands for itself, or for those it covers, which match too."""

    id: str
    score: float
    covered: list[str] = field(default_factory=list)
    is_raised: bool = False  # it is here for its children


def trace_up(
    scores: Mapping[str, float],
    chains: Mapping[str, Sequence[str]],
    is_summary: Callable[[str], bool],
    children: Callable[[str], int] | None = None,
) -> list[Traced]:
    """The results of these hits, best first. `chains` gives for each hit its id and those above it, the root last.

    `is_summary` says whether a node sums up what is below it, `children` how many a node has; without that none is
    raised.
    """
    found = _covered(scores, chains, is_summary)
    if children is not None:
        found = _raised(found, chains, children)
    return _best_first(found)


def _best_first(found: Sequence[Traced]) -> list[Traced]:
    return sorted(found, key=lambda one: (-one.score, one.id))


def _covered(
    scores: Mapping[str, float], chains: Mapping[str, Sequence[str]], is_summary: Callable[[str], bool]
) -> list[Traced]:
    """One result a hit; those below a summary that matches are in that summary's."""
    found: dict[str, Traced] = {}
    for hit, score in scores.items():
        top = next((above for above in reversed(chains[hit][1:]) if above in scores and is_summary(above)), hit)
        one = found.setdefault(top, Traced(top, 0.0))
        one.score = max(one.score, score)
        if top != hit:
            one.covered.append(hit)
    return list(found.values())


def _raised(
    found: Sequence[Traced], chains: Mapping[str, Sequence[str]], children: Callable[[str], int]
) -> list[Traced]:
    """The results, those of one parent as one where there are enough of them among the best."""
    below: dict[str, list[Traced]] = {}
    for one in _best_first(found)[:LOOKED_AT]:
        chain = chains[one.id]
        if len(chain) > 2:
            below.setdefault(chain[1], []).append(one)
    kept = {one.id: one for one in found}
    for parent, some in below.items():
        if len(some) < RAISING_HITS or len(some) < RAISING_SHARE * children(parent):
            continue
        own = kept.get(parent) or Traced(parent, 0.0)
        score = some[0].score * (1 + RAISE_SHARE * (len(some) - 1))
        raised = Traced(parent, min(1.0, max(own.score, score)), list(own.covered), is_raised=True)
        for one in some:
            raised.covered += [one.id, *one.covered]
            kept.pop(one.id, None)
        kept[parent] = raised
    return list(kept.values())
