"""Communities: groups of notes that link to each other more than to the rest, by modularity (the Louvain method).

The same graph always gives the same groups: notes are visited in the order of their paths, and ties go to the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from infold.knowledge.graph import Graph

_ROUNDS = 32
_LEVELS = 16

_Weights = list[dict[int, float]]  # for each vertex its neighbours with the weight between them; itself never


def communities(graph: Graph, fewest: int = 2) -> list[tuple[str, ...]]:
    """Groups of at least `fewest` notes, largest first, each sorted by path. An orphan is in none."""
    paths = sorted(graph.notes)
    numbers = {path: number for number, path in enumerate(paths)}
    weights: _Weights = [{numbers[other]: 1.0 for other in graph.joined(path)} for path in paths]
    groups: dict[int, list[str]] = {}
    for number, label in enumerate(_louvain(weights)):
        groups.setdefault(label, []).append(paths[number])
    found = [tuple(group) for group in groups.values() if len(group) >= fewest]
    return sorted(found, key=lambda group: (-len(group), group[0]))


def _louvain(weights: _Weights) -> list[int]:
    """For each vertex the number of its community."""
    label = list(range(len(weights)))
    own = [0.0] * len(weights)  # twice the weight within what a vertex of this level stands for
    for _ in range(_LEVELS):
        moved = _settle(weights, own)
        names = {group: number for number, group in enumerate(dict.fromkeys(moved))}
        if len(names) == len(weights):
            break
        moved = [names[group] for group in moved]
        label = [moved[group] for group in label]
        weights, own = _folded_graph(weights, own, moved, len(names))
    return label


def _settle(weights: _Weights, own: Sequence[float]) -> list[int]:
    """Moves each vertex to the neighbouring group that gains most, until none moves; the group of each vertex."""
    group = list(range(len(weights)))
    degree = [sum(near.values()) + inner for near, inner in zip(weights, own, strict=True)]
    total = degree.copy()  # of each group
    whole = sum(degree) or 1.0
    for _ in range(_ROUNDS):
        moves = 0
        for vertex, near in enumerate(weights):
            if not near:
                continue
            links: dict[int, float] = {}
            for other, weight in near.items():
                links[group[other]] = links.get(group[other], 0.0) + weight
            at = group[vertex]
            share = degree[vertex] / whole
            total[at] -= degree[vertex]
            best, most = at, links.get(at, 0.0) - total[at] * share
            for candidate, weight in links.items():
                gain = weight - total[candidate] * share
                if gain > most + 1e-12:
                    best, most = candidate, gain
            total[best] += degree[vertex]
            if best != at:
                group[vertex] = best
                moves += 1
        if not moves:
            break
    return group


def _folded_graph(
    weights: _Weights, own: Sequence[float], group: Sequence[int], size: int
) -> tuple[_Weights, list[float]]:
    """The graph whose vertices are the groups."""
    folded: _Weights = [{} for _ in range(size)]
    inner = [0.0] * size
    for vertex, near in enumerate(weights):
        at = group[vertex]
        inner[at] += own[vertex]
        links = folded[at]
        for other, weight in near.items():
            if group[other] == at:
                inner[at] += weight
            else:
                links[group[other]] = links.get(group[other], 0.0) + weight
    return folded, inner
