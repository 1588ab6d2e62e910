"""What the imported notes are about: themes at several zoom levels, how they hang together, how they grow, and a map.

Notes are clustered by their vectors, drawn together by their links; a theme is named by what its notes say more of than
the others do. Everything is computed once for each state of the nodes, and read from the store afterwards.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from infold.navigator.clusters import Clustering, Matrix, smoothed, spherical_k_means, telling_terms, unit
from infold.navigator.layout import lay_out
from infold.navigator.nodes import NodeType
from infold.navigator.proximity import NodeVectors
from infold.navigator.records import StoredNode, content_of
from infold.navigator.store import NavigatorStore
from infold.navigator.theme_connections import connections
from infold.search.languages import is_stop_word
from infold.text import words

_MOST: Final = {1: 8, 2: 24, 3: 64}
_REPRESENTATIVES: Final = 5
_LEAST_NOTES: Final = 3  # a theme, on the average
_SHORTEST_WORD: Final = 3
_NAMING: Final = 3


@dataclass(frozen=True, slots=True)
class ConnectedTheme:
    """A theme near another, by its number: likeness, links between their notes, and notes (ids) that stand between."""

    theme: int
    likeness: float
    links: int
    bridges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """One theme: its words, its notes (ids of article nodes), those that stand for it, and how it changed.

    `years` counts its notes by year; `connected` are the themes nearest to it.
    """

    number: int
    name: str
    terms: tuple[str, ...]
    nodes: tuple[str, ...]
    representatives: tuple[str, ...]
    years: Mapping[str, int]
    trend: str  # growing, fading, steady or '' where too few notes have a day
    connected: tuple[ConnectedTheme, ...]
    content_hash: str  # of what its notes said
    summary: str = ""  # of what they say; '' until it is asked for


@dataclass(frozen=True, slots=True)
class MapPlace:
    """A note on the map, both coordinates from -1 to 1, and the number of its theme."""

    node: str
    path: str
    title: str
    x: float
    y: float
    theme: int


def themes(store: NavigatorStore, vectors: NodeVectors, level: int = 1, folder: str = "") -> tuple[Theme, ...]:
    """The themes of all imported notes, or of those in a folder, the biggest first."""
    key = f"connected-themes/{level}/{folder}"
    kept = _kept(store, key)
    if kept is None:
        kept = [asdict(theme) for theme in _made(store, vectors, level, folder)]
        _keep(store, key, kept)
    return tuple(_theme(each) for each in kept)


def places(store: NavigatorStore, vectors: NodeVectors, level: int = 1) -> tuple[MapPlace, ...]:
    """The map of all imported notes, each with its theme of that level. What was on it stays about where it was."""
    kept = _kept(store, "map")
    if kept is None:
        kept = _laid_out(store, vectors)
        _keep(store, "map", kept)
    theme_of = {node_id: theme.number for theme in themes(store, vectors, level) for node_id in theme.nodes}
    return tuple(MapPlace(**{**each, "theme": theme_of.get(each["node"], 0)}) for each in kept)


def article_vectors(vectors: NodeVectors, articles: Sequence[StoredNode], edges: Sequence[tuple[str, str]]) -> Matrix:
    """A row a note: its summary and its paragraphs together, drawn towards the notes it is linked with."""
    row_of = {node.id: n for n, node in enumerate(articles)}
    number = {node.path: n for n, node in enumerate(articles)}
    sums = np.zeros((len(articles), vectors.rows.shape[1]), dtype=np.float32)
    counts = np.zeros(len(articles), dtype=np.float32)
    for place, (node_id, kind, path) in enumerate(zip(vectors.ids, vectors.types, vectors.paths, strict=True)):
        own = number.get(path)
        if own is None:
            continue
        if kind == NodeType.PARAGRAPH:
            sums[own] += vectors.rows[place]
            counts[own] += 1
        elif node_id in row_of:
            sums[own] += 2 * vectors.rows[place]
            counts[own] += 2
    means = unit((sums / np.maximum(counts, 1)[:, None]).astype(np.float32))
    pairs = [(number[source], number[target]) for source, target in edges if source in number and target in number]
    return smoothed(means, pairs)


def _made(store: NavigatorStore, vectors: NodeVectors, level: int, folder: str) -> list[Theme]:
    articles = [node for node in store.every((NodeType.ARTICLE,)) if not folder or node.path.startswith(f"{folder}/")]
    if not articles:
        return []
    rows = article_vectors(vectors, articles, store.article_links())
    centred = unit((rows - rows.mean(axis=0)).astype(np.float32)) if len(articles) > _LEAST_NOTES else rows
    k = max(1, min(_MOST[level], len(articles) // _LEAST_NOTES, round(math.sqrt(len(articles)) * level)))
    found = spherical_k_means(centred, k)
    facts = store.article_facts()
    terms = telling_terms([_said(node, facts) for node in articles], found.labels.tolist())
    counts = [_years(articles, found, number, facts) for number in range(len(found.centres))]
    number_of = {node.path: n for n, node in enumerate(articles)}
    linked = [(number_of[a], number_of[b]) for a, b in store.article_links() if a in number_of and b in number_of]
    near = connections(found, centred, linked)
    everywhere = sum((Counter(years) for years in counts), Counter[str]())
    return [
        Theme(
            number=number,
            name=" · ".join(terms[number][:_NAMING]) or articles[int(found.members(number)[0])].title,
            terms=tuple(terms[number]),
            nodes=tuple(articles[row].id for row in found.members(number)),
            representatives=tuple(articles[row].id for row in found.representatives(centred, number, _REPRESENTATIVES)),
            years=counts[number],
            trend=_trend(counts[number], everywhere),
            connected=tuple(
                ConnectedTheme(each.theme, each.likeness, each.links, tuple(articles[row].id for row in each.bridges))
                for each in near[number]
            ),
            content_hash=content_of(articles[row] for row in found.members(number)),
        )
        for number in range(len(found.centres))
    ]


def _said(node: StoredNode, facts: Mapping[str, tuple[str, str | None, tuple[str, ...]]]) -> dict[str, int]:
    """The words that a theme is named by: of titles and tags more than once, of the summary once."""
    tags = facts.get(node.path, ("", None, ()))[2]
    counts = Counter(_telling(node.summary))
    for text in (node.title, *tags):
        counts.update(dict.fromkeys(_telling(text), 2))
    return dict(counts)


def _telling(text: str) -> list[str]:
    return [
        word
        for word in words(text.casefold())
        if not word.isdecimal() and not is_stop_word(word) and (len(word) >= _SHORTEST_WORD or not word.isascii())
    ]


def _years(
    articles: Sequence[StoredNode],
    found: Clustering,
    number: int,
    facts: Mapping[str, tuple[str, str | None, tuple[str, ...]]],
) -> dict[str, int]:
    days = (facts.get(articles[row].path, ("", None, ()))[1] for row in found.members(number))
    return dict(sorted(Counter(day[:4] for day in days if day).items()))


def _trend(years: Mapping[str, int], everywhere: Mapping[str, int]) -> str:
    """Whether the theme has a bigger share of the later half of the dated notes than of the earlier."""
    dated = sorted(everywhere)
    if sum(years.values()) < 2 * _LEAST_NOTES or len(dated) < 2:
        return ""
    later = set(dated[len(dated) // 2 :])
    shares = [
        sum(count for year, count in years.items() if (year in later) is is_later)
        / max(1, sum(count for year, count in everywhere.items() if (year in later) is is_later))
        for is_later in (False, True)
    ]
    if shares[1] > 1.5 * shares[0]:
        return "growing"
    return "fading" if shares[1] * 1.5 < shares[0] else "steady"


def _laid_out(store: NavigatorStore, vectors: NodeVectors) -> list[dict[str, Any]]:
    articles = list(store.every((NodeType.ARTICLE,)))
    before = {each["node"]: (each["x"], each["y"]) for each in _kept(store, "map", is_any=True) or ()}
    rows = article_vectors(vectors, articles, store.article_links())
    spots = lay_out([node.id for node in articles], rows, before)
    return [
        {"node": node.id, "path": node.path, "title": node.title, "x": round(float(x), 4), "y": round(float(y), 4)}
        for node, (x, y) in zip(articles, spots, strict=True)
    ]


def _theme(kept: Mapping[str, Any]) -> Theme:
    tuples = {name: tuple(kept[name]) for name in ("terms", "nodes", "representatives")}
    connected = tuple(ConnectedTheme(**{**each, "bridges": tuple(each["bridges"])}) for each in kept["connected"])
    return Theme(**{**kept, **tuples, "connected": connected})


def _kept(store: NavigatorStore, key: str, *, is_any: bool = False) -> list[dict[str, Any]] | None:
    """What was computed of the nodes as they are; with `is_any` of the nodes at any time."""
    found = store.computed(key)
    if found is None:
        return None
    generation, value = found
    return json.loads(value) if is_any or generation == store.generation else None


def _keep(store: NavigatorStore, key: str, value: Sequence[Mapping[str, Any]]) -> None:
    store.keep_computed(key, json.dumps(value, ensure_ascii=False))
