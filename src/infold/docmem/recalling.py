"""Searching memory by words and by meaning, and what is found put where it stands in its tree (spec 2, Query Pattern).

Found are nodes; each is then traced up by parent pointers alone, so that what costs is the search. What a summary
covers, and what raises its parent, is as `search.query.trace_up` has it. What `@name` in a result's text, or in the
question, means is named beside the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from infold.docmem.points import node_id_of
from infold.docmem.tags import tags_in
from infold.errors import NodeNotFound
from infold.search.index.contract import Filter, PointGroup
from infold.search.query.trace_up import Traced, trace_up

if TYPE_CHECKING:
    from infold.docmem.lookup import Lookup
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.search.query.searcher import Searcher

LIMIT: Final = 10
DEPTH: Final = 60  # hits asked for, at least
TAGS: Final = 8  # that are followed
LINKED: Final = 5  # nodes named for each

MEMORY_ONLY: Final = (PointGroup.MEMORY,)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A node that answers, and where it stands. `covered` are nodes below it that match too, best first."""

    node: Node
    score: float
    above: tuple[Node, ...]  # its parent first, the root last
    position: int  # among its siblings, from 1
    siblings: int  # with itself
    covered: tuple[Node, ...] = ()
    raised: bool = False  # it is here for its children

    @property
    def root(self) -> Node:
        """The root of its tree."""
        return self.above[-1] if self.above else self.node

    @property
    def summary(self) -> Node | None:
        """The nearest summary above it."""
        return next((node for node in self.above if node.is_summary), None)

    @property
    def user(self) -> Node | None:
        """The node right below the root that it stands under: what the tree is divided by."""
        return self.above[-2] if len(self.above) > 1 and not self.above[-2].is_summary else None


@dataclass(frozen=True, slots=True)
class Recall:
    """What was found, best first, and the nodes that each tag in it stands for. `gone`: hits whose node is no more."""

    results: tuple[Recalled, ...]
    linked: dict[str, tuple[Node, ...]] = field(default_factory=dict)
    gone: int = 0


def recall(
    memory: Docmem,
    searcher: Searcher,
    query: str,
    *,
    within: str | None = None,
    limit: int = LIMIT,
    raising: bool = True,
) -> Recall:
    """What memory says about `query`: in all trees, or from the node `within` down. Raises NodeNotFound, IndexFault."""
    scores, gone = _scores(memory, searcher, query, within, max(DEPTH, 5 * limit))
    with memory.store.reading() as rows:
        chains = {node_id: rows.ancestor_ids(node_id) for node_id in scores}
        children = partial(_children, rows) if raising else None
        traced = trace_up(scores, chains, lambda node_id: rows.get(node_id).is_summary, children)
        results = tuple(_recalled(rows, one) for one in traced[: max(limit, 0)])
    return Recall(results, _linked(memory, searcher, query, results), gone)


def relevance(
    memory: Docmem, searcher: Searcher, query: str, *, within: str | None = None, depth: int = 200
) -> dict[str, float]:
    """How well nodes answer `query`, from 0 to 1, best first; what is not among the best `depth` hits is left out.

    Raises NodeNotFound, IndexFault.
    """
    return _scores(memory, searcher, query, within, depth)[0]


def _scores(
    memory: Docmem, searcher: Searcher, query: str, within: str | None, depth: int
) -> tuple[dict[str, float], int]:
    """The scores, and how many hits have no node any more."""
    if within is not None:
        memory.get_root(within)  # raises where there is no such node
    where = Filter(groups=MEMORY_ONLY, within=() if within is None else (within,))
    hits = searcher.hybrid(query, depth, where)
    scores: dict[str, float] = {}
    gone = 0
    with memory.store.reading() as rows:
        for hit in hits:
            node_id = node_id_of(hit)
            try:
                chain = rows.ancestor_ids(node_id)
            except NodeNotFound:
                gone += 1
                continue
            if within is None or within in chain:
                scores[node_id] = hit.score
    return scores, gone


def _children(rows: Lookup, parent_id: str) -> int:
    (count,) = rows.connection.execute("SELECT count(*) FROM nodes WHERE parent_id = ?", (parent_id,)).fetchone()
    return int(count)


def _recalled(rows: Lookup, traced: Traced) -> Recalled:
    node, *above = [rows.get(node_id) for node_id in rows.ancestor_ids(traced.id)]
    position, siblings = 1, 1
    if node.parent_id is not None:
        count = "SELECT count(*), coalesce(sum(order_value <= ?), 0) FROM nodes WHERE parent_id = ?"
        siblings, position = rows.connection.execute(count, (node.order_value, node.parent_id)).fetchone()
    return Recalled(
        node=node,
        score=traced.score,
        above=tuple(above),
        position=position,
        siblings=siblings,
        covered=tuple(rows.get(node_id) for node_id in traced.covered),
        raised=traced.is_raised,
    )


def _linked(memory: Docmem, searcher: Searcher, query: str, results: Sequence[Recalled]) -> dict[str, tuple[Node, ...]]:
    """What the tags of the question and of the results stand for, in other nodes than those that were found."""
    shown = {node.id for result in results for node in (result.node, *result.covered)}
    texts = [query, *(node.text for result in results for node in (result.node, *result.covered))]
    linked: dict[str, tuple[Node, ...]] = {}
    for tag in dict.fromkeys(tag for text in texts for tag in tags_in(text)):
        if len(linked) == TAGS:
            break
        others = tagged(memory, searcher, tag, without=shown)
        if others:
            linked[tag] = tuple(others)
    return linked


def tagged(
    memory: Docmem, searcher: Searcher, tag: str, *, without: Iterable[str] = (), limit: int = LINKED
) -> list[Node]:
    """The nodes that carry a tag, and those that are named so; best first by how much of them it is."""
    name = tag.lstrip("@").casefold()
    shown = set(without)
    where = Filter(groups=MEMORY_ONLY, tags=(name,))
    hits = searcher.keyword(name, limit + len(shown), where)
    found = (memory.find(node_id_of(hit)) for hit in hits)
    return [node for node in found if node is not None and node.id not in shown][:limit]
