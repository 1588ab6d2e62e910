"""Moving through imported notes: explore, zoom, move, follow links, look through a lens (spec 5, Operations).

Every answer is of nodes as they are stored; where a caller stands is read and kept by `navigator.places`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray

from infold.errors import NodeUnknown, UsageError
from infold.navigator.lens import BUILT_IN, Lens, Subject, direction, raised
from infold.navigator.lens_shares import LensShare, lens_shares
from infold.navigator.node_ranking import OTHER_LEVEL, NodeFilter, highest, likenesses, passes
from infold.navigator.nodes import NodeType
from infold.navigator.places import NavigatorPlace, means_centre
from infold.navigator.proximity import NodeVectors, VectorCache
from infold.navigator.records import Edge, StoredNode
from infold.navigator.store import NavigatorStore
from infold.vault.names import folded, stem

Keywords = Callable[[str], Sequence[tuple[str, int, int, float]]]  # path, first and last line, score from 0 to 1

LIMIT: Final = 10
RADIUS: Final = 0.75  # largest cosine distance: holds 97 % of known answers, see docs/navigator.md
_KEYWORD_WEIGHT: Final = 0.5
_CENTRE_WEIGHT: Final = 0.35  # of the centre's vector in a question that is asked from there
_POOL: Final = 400  # nodes that a lens looks at
_A_NOTE: Final = 3  # nodes of one note among the results
_LOOKED_UP: Final = 40  # nodes that are asked of the store at once
MOST_BESIDE: Final = 100  # articles of a folder that zooming out shows


@dataclass(frozen=True, slots=True)
class NodeMatch:
    """A node that was found, and how near it is: 1 is the same direction, and a lens may change that."""

    node: StoredNode
    likeness: float
    reason: str = ""


class Navigator:
    """The navigator of one caller over a store."""

    def __init__(
        self,
        store: NavigatorStore,
        vectors: VectorCache,
        caller: str,
        *,
        keywords: Keywords | None = None,
        today: date | None = None,
    ) -> None:
        self._store, self._cache, self._caller = store, vectors, caller
        self._keywords = keywords
        self._today = today or date.today()  # noqa: DTZ011 - the person's day

    # where the caller is

    @property
    def place(self) -> NavigatorPlace:
        """Where this caller is."""
        return NavigatorPlace.of(self._store.choices.place(self._caller))

    def go(self, place: NavigatorPlace) -> None:
        """Keeps where this caller is now."""
        self._store.choices.go(self._caller, place.as_json())

    def node(self, node_id: str | None) -> StoredNode:
        """The node of that id; "this one", or nothing, means the centre. Raises NodeUnknown."""
        if means_centre(node_id):
            node_id = self.place.centre
            if node_id is None:
                raise NodeUnknown("There is no centre yet.", hint="explore finds nodes; zoom_in and move go to one.")
        found = self._store.node(node_id or "")
        if found is None:
            raise NodeUnknown(f"There is no node {node_id!r} (any more).", hint="explore finds nodes as they are now.")
        return found

    def breadcrumbs(self, node: StoredNode) -> list[StoredNode]:
        """The nodes from the article down to `node`, itself last."""
        chain = [node]
        while chain[-1].parent_id is not None and (above := self._store.node(chain[-1].parent_id)) is not None:
            chain.append(above)
        return chain[::-1]

    def back(self) -> StoredNode:
        """To where this caller was before. Raises NodeUnknown where that is nowhere."""
        before = self.place.back()
        node = self.node(before.centre or "")
        self.go(before)
        return node

    # moving

    def explore(
        self,
        query: str,
        centre: str | None = None,
        radius: float | None = None,
        where: NodeFilter | None = None,
        limit: int = LIMIT,
    ) -> list[NodeMatch]:
        """The nodes nearest to a question, at all levels; with a `centre` those near both. Nearest first.

        `radius` is the largest cosine distance. The best becomes the caller's centre.
        """
        vectors = self._cache.vectors()
        asked = self._cache.query(query)
        if centre is not None:
            row = vectors.row_of(self.node(centre).id)
            if row is not None:
                asked = _unit((1 - _CENTRE_WEIGHT) * asked + _CENTRE_WEIGHT * row)
        where = where or NodeFilter()
        likeness = likenesses(vectors, asked, where.types)
        within = likeness >= 1 - (RADIUS if radius is None else radius)
        scores = likeness + self._by_keyword(query, vectors)
        within |= scores > likeness  # what holds the words is not too far
        found = self._best(vectors, scores, within, where, limit)
        if found:
            self.go(self.place.at(found[0].node.id))
        return found

    def move(
        self, node_id: str | None = None, where: NodeFilter | None = None, *, across: bool = False, limit: int = LIMIT
    ) -> list[NodeMatch]:
        """The nodes nearest to one, of its own level, or `across` all levels; none of them above or below it.

        The node becomes the caller's centre.
        """
        node = self.node(node_id)
        vectors = self._cache.vectors()
        row = vectors.row_of(node.id)
        if row is None:
            return []
        where = where or NodeFilter()
        if not across and not where.types:
            where = replace(where, types=(node.type,))
        likeness = likenesses(vectors, row, where.types)
        within = np.ones(len(vectors.ids), dtype=np.bool_)
        for kin in (*(each.id for each in self.breadcrumbs(node)), *self._store.below(node)):
            if (place := vectors.places.get(kin)) is not None:
                within[place] = False
        found = self._best(vectors, likeness, within, where, limit)
        self.go(self.place.at(node.id))
        return found

    def zoom_in(self, node_id: str | None = None) -> tuple[StoredNode, list[StoredNode]]:
        """A node, and what it is made of, in reading order. It becomes the caller's centre."""
        node = self.node(node_id)
        self.go(self.place.at(node.id))
        return node, self._store.children(node.id)

    def zoom_out(self, node_id: str | None = None) -> tuple[StoredNode, list[StoredNode]]:
        """What a node is part of, with its kept summary, and the parts beside it; of an article itself, and its folder.

        Of a folder with more than `MOST_BESIDE` articles those that stand next to it. It becomes the caller's centre.
        """
        node = self.node(node_id)
        if node.parent_id is None:
            self.go(self.place.at(node.id))
            beside = self.in_folder_of(node)
            at = max(0, min(beside.index(node.path) - MOST_BESIDE // 2, len(beside) - MOST_BESIDE))
            return node, self._store.articles_of(beside[at : at + MOST_BESIDE])
        above = self.node(node.parent_id)
        self.go(self.place.at(above.id))
        return above, self._store.children(above.id)

    def in_folder_of(self, node: StoredNode) -> list[str]:
        """The imported notes right in the folder of a node's note, sorted."""
        folder = node.path.rpartition("/")[0]
        start = len(folder) + 1 if folder else 0
        inside = f"{folder}/" if folder else ""
        paths = self._store.article_facts()
        return sorted(path for path in paths if path.startswith(inside) and "/" not in path[start:])

    def follow(self, node_id: str | None, link_type: str) -> list[NodeMatch]:
        """Where links of a node lead, or what links to it. Raises UsageError for a kind of link there is not.

        `backlink`: the nodes that link to its note, and those that it links to itself, each with the line of the link.
        `containment`: what it is a part of, and what is part of it.
        """
        node = self.node(node_id)
        match link_type:
            case "containment":
                above = self.breadcrumbs(node)[:-1]
                found = [NodeMatch(each, 1.0, "holds it") for each in reversed(above)]
                found += [NodeMatch(each, 1.0, "part of it") for each in self._store.children(node.id)]
            case "backlink":
                found = self._linked(node)
            case _:
                raise UsageError(
                    f"There is no kind of link {link_type!r}.", hint="The kinds are backlink and containment."
                )
        self.go(self.place.at(node.id))
        return found

    # lenses

    def lens(self, name: str) -> Lens:
        """The lens of that name: saved, or one that comes with infold; else one made of these very words.

        Raises UsageError for an empty name.
        """
        wanted = name.strip()
        if not wanted:
            raise UsageError("A lens needs a name or a few words.", hint=f"Such as {', '.join(BUILT_IN)}.")
        known = {**BUILT_IN, **self._store.choices.lenses()}
        return known.get(wanted.casefold()) or known.get(wanted) or Lens(name=wanted[:60], words=(wanted,))

    def look_through(self, name: str | None) -> Lens | None:
        """Puts a lens before this caller's eyes, or takes it away."""
        lens = self.lens(name) if name is not None else None
        if lens is not None and lens.name not in BUILT_IN:
            self._store.choices.save_lens(lens)
        self.go(self.place.through(lens.name if lens is not None else None))
        return lens

    def current_lens(self) -> Lens | None:
        """The lens that this caller looks through."""
        name = self.place.lens
        return self.lens(name) if name else None

    # how

    def _by_keyword(self, query: str, vectors: NodeVectors) -> NDArray[np.float32]:
        """What each node gets for standing where the words of the question were found."""
        scores = np.zeros(len(vectors.ids), dtype=np.float32)
        if self._keywords is None:
            return scores
        found = self._keywords(query)
        lines = self._store.lines([path for path, _, _, _ in found])
        places = vectors.places
        for path, first, last, score in found:
            for node_id, line, end_line in lines.get(path, ()):
                shared = min(last, end_line) - max(first, line) + 1
                place = places.get(node_id) if shared > 0 else None
                if place is None:
                    continue
                share = shared / (last - first + end_line - line + 2 - shared)
                scores[place] = max(scores[place], _KEYWORD_WEIGHT * score * (0.4 + 0.6 * share))
        return scores

    def _best(
        self,
        vectors: NodeVectors,
        scores: NDArray[np.float32],
        within: NDArray[np.bool_],
        where: NodeFilter,
        limit: int,
    ) -> list[NodeMatch]:
        allowed = self._allowed(where)
        if allowed is not None:
            within = within & vectors.of_paths(allowed)
        within = within & (scores > OTHER_LEVEL / 2)
        rows = np.flatnonzero(within)
        lens = self.current_lens()
        if lens is not None:
            rows = highest(scores, rows, _POOL)
            scores = scores.copy()
            scores[rows] = self._seen(vectors, rows, scores[rows], lens)
        top = highest(scores, rows, limit * _A_NOTE * 4)
        return self._told_apart([(vectors.ids[row], float(scores[row]), vectors.paths[row]) for row in top], limit)

    def _told_apart(self, ranked: Iterable[tuple[str, float, str]], limit: int) -> list[NodeMatch]:
        """The best nodes, few of each note, none that only holds, or is held by, one that is better."""
        ranked = list(ranked)
        nodes: dict[str, StoredNode] = {}
        found: list[NodeMatch] = []
        counts: dict[str, int] = {}
        for number, (node_id, score, path) in enumerate(ranked):
            if number % _LOOKED_UP == 0:
                nodes = self._store.nodes([each for each, _, _ in ranked[number : number + _LOOKED_UP]])
            node = nodes.get(node_id)
            if node is None or counts.get(path, 0) >= _A_NOTE or any(_overlap(node, each.node) for each in found):
                continue
            counts[path] = counts.get(path, 0) + 1
            found.append(NodeMatch(node, round(score, 4)))
            if len(found) == limit:
                break
        return found

    def _allowed(self, where: NodeFilter) -> Collection[str] | None:
        """The notes that a filter lets through; None where it lets all."""
        if where.is_open:
            return None
        facts = self._store.article_facts().items()
        wanted = where.folded()
        return {path for path, (_, day, tags) in facts if passes(wanted, path, day, tags)}

    def _seen(
        self, vectors: NodeVectors, rows: NDArray[np.int64], scores: NDArray[np.float32], lens: Lens
    ) -> NDArray[np.float32]:
        facts = self._store.article_facts()
        subjects = [_subject(facts.get(vectors.paths[row])) for row in rows]
        towards = direction(self.lens_vectors(lens, vectors))
        return raised(scores, vectors.rows[rows], subjects, lens, towards, self._today)

    def lens_vectors(self, lens: Lens, vectors: NodeVectors) -> NDArray[np.float32]:
        """The vectors of a lens's words and of its example notes."""
        parts = [self._cache.of_texts(lens.words)] if lens.words else []
        parts += self._examples(lens, vectors).values()
        return np.concatenate(parts) if parts else np.zeros((0, vectors.rows.shape[1]), dtype=np.float32)

    def lens_shares(self, lens: Lens) -> tuple[LensShare, ...]:
        """What carries a lens over the imported notes, the most first; nothing where none is imported."""
        vectors = self._cache.vectors()
        articles = vectors.rows[vectors.stretch(NodeType.ARTICLE)]
        if not len(articles):
            return ()
        return lens_shares(lens, self._cache.of_texts, self._examples(lens, vectors), articles)

    def _examples(self, lens: Lens, vectors: NodeVectors) -> dict[str, NDArray[np.float32]]:
        """The vectors of the notes that each name of a lens means, of names that mean any."""
        found: dict[str, NDArray[np.float32]] = {}
        stretch = vectors.stretch(NodeType.ARTICLE)
        for name in dict.fromkeys(lens.notes):
            wanted = folded(name)
            own = [
                row
                for row in range(*stretch.indices(len(vectors.ids)))
                if wanted in (folded(vectors.paths[row]), folded(stem(vectors.paths[row])))
            ]
            if own:
                found[name] = vectors.rows[own]
        return found

    def _linked(self, node: StoredNode) -> list[NodeMatch]:
        incoming = [
            edge
            for edge in self._store.links_to(node.path)
            if edge.path != node.path and self._is_meant(edge.anchor, node)
        ]
        sources = self._store.nodes([edge.source_id for edge in incoming])
        found = [
            NodeMatch(sources[edge.source_id], 1.0, edge.context) for edge in incoming if edge.source_id in sources
        ]
        outgoing = [
            e for e in self._store.links_from([node.id, *self._store.below(node)]) if e.target_path != node.path
        ]
        targets = self._targets(outgoing)
        found += [NodeMatch(target, 1.0, edge.context) for edge in outgoing if (target := targets.get(edge))]
        return list({each.node.id: each for each in found}.values())

    def _is_meant(self, anchor: str, node: StoredNode) -> bool:
        """Whether a link to the note, to that heading of it, leads to `node`; every one leads to the article."""
        if node.type is NodeType.ARTICLE:
            return True
        return bool(anchor) and folded(anchor.rpartition("#")[2]) in map(folded, (*node.trail, node.title))

    def _targets(self, edges: Sequence[Edge]) -> dict[Edge, StoredNode]:
        """The node that each link leads to: the section of its heading, else the article."""
        articles = {node.path: node for node in self._store.articles_of([edge.target_path for edge in edges])}
        sections = self._store.sections_of([edge.target_path for edge in edges if edge.anchor])
        named: dict[Edge, str] = {}
        for edge in edges:
            heading = folded(edge.anchor.rpartition("#")[2])
            titled = (
                each for each, title in sections.get(edge.target_path, ()) if heading and folded(title) == heading
            )
            if (found := next(titled, None)) is not None:
                named[edge] = found
        nodes = self._store.nodes(list(named.values()))
        chosen = {edge: nodes.get(named.get(edge, ""), articles.get(edge.target_path)) for edge in edges}
        return {edge: node for edge, node in chosen.items() if node is not None}


def _unit(row: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(row)) or 1.0
    return (row / length).astype(np.float32)


def _overlap(one: StoredNode, other: StoredNode) -> bool:
    return one.path == other.path and one.start < other.end and other.start < one.end


def _subject(facts: tuple[str, str | None, tuple[str, ...]] | None) -> Subject:
    if facts is None:
        return Subject()
    return Subject(facts[2], date.fromisoformat(facts[1]) if facts[1] else None)
