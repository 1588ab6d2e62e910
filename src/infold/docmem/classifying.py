"""Ingest classification: which tree, and which part of it, an incoming thread or document belongs to.

What is known of each tree is put together here: its title, its summaries, its parts, and how much of the document a
search finds in it. The decision is the librarian's; importing belongs to `importing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from infold.docmem import marks
from infold.docmem.chats import SESSION
from infold.docmem.points import label_of
from infold.docmem.recalling import relevance
from infold.librarian.trees import Home, HomeRequest, PartCard, TreeCard

if TYPE_CHECKING:
    from infold.docmem.lookup import Lookup
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.librarian.base import Librarian
    from infold.search.query.searcher import Searcher

READ_CHARACTERS: Final = 6_000  # of a document
SEARCHED_PARAGRAPHS: Final = 6  # its longest ones
HITS: Final = 8  # that count, for each of them
MOST_TREES: Final = 30  # that are shown: those with most evidence, then the latest
MOST_PARTS: Final = 12
ABOUT_WORDS: Final = 80
NEAREST: Final = 3  # of what was found, shown of each tree
NEAREST_WORDS: Final = 40
_READ_BELOW: Final = 12  # summaries, else memories, that say what a node is about
_BLANK_LINES: Final = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Proposal:
    """Where a document should go: below `target`, or into a new tree where that is None."""

    target: Node | None
    home: Home


async def propose(memory: Docmem, librarian: Librarian, searcher: Searcher | None, name: str, text: str) -> Proposal:
    """Where `text` belongs. Without a searcher its words alone tell. Raises LibrarianFault and what calls may raise."""
    request = request_for(memory, searcher, name, text)
    home = await librarian.find_home(request)
    return Proposal(None if home.is_none else memory.get(home.part or home.tree), home)


def request_for(memory: Docmem, searcher: Searcher | None, name: str, text: str) -> HomeRequest:
    """The document and the trees there are, with what search finds of it in each. Views of sessions are none."""
    excerpt = text[:READ_CHARACTERS]
    found = _found(memory, searcher, excerpt) if searcher is not None else {}
    with memory.store.reading() as rows:
        views = {node_id for node_id in marks.marked(rows, SESSION) if rows.has(node_id)}
        shares, nearest = _shares(rows, found, views)
        roots = [root for root in rows.children(None) if root.id not in views]
        latest_first = sorted(roots, key=lambda root: (root.created_at, root.id), reverse=True)
        shown = sorted(latest_first, key=lambda root: -shares.get(root.id, 0.0))[:MOST_TREES]
        return HomeRequest(name, excerpt, tuple(_card(rows, root, shares, nearest) for root in shown))


def _found(memory: Docmem, searcher: Searcher, text: str) -> dict[str, float]:
    """The nodes that the document's longest paragraphs are near to, with the sum of their scores."""
    paragraphs = sorted((part.strip() for part in _BLANK_LINES.split(text)), key=lambda part: (-len(part), part))
    scores: dict[str, float] = {}
    for paragraph in [part for part in paragraphs if part][:SEARCHED_PARAGRAPHS]:
        best: Mapping[str, float] = relevance(memory, searcher, paragraph, depth=HITS)
        for node_id, score in best.items():
            scores[node_id] = scores.get(node_id, 0.0) + score
    return scores


def _shares(
    rows: Lookup, found: Mapping[str, float], views: Iterable[str]
) -> tuple[dict[str, float], dict[str, tuple[str, ...]]]:
    """How much of all that was found is in each node or below it, from 0 to 1; and the texts of the best of it."""
    left_out = set(views)
    chains = {node_id: rows.ancestor_ids(node_id) for node_id in found if rows.has(node_id)}
    counted = {node_id: chain for node_id, chain in chains.items() if chain[-1] not in left_out}
    total = sum(found[node_id] for node_id in counted)
    shares: dict[str, float] = {}
    nearest: dict[str, tuple[str, ...]] = {}
    for node_id in sorted(counted, key=lambda node_id: (-found[node_id], node_id)):
        text = " ".join(rows.get(node_id).text.split()[:NEAREST_WORDS])
        for above in counted[node_id]:
            shares[above] = shares.get(above, 0.0) + found[node_id] / total
            if text and len(nearest.get(above, ())) < NEAREST:
                nearest[above] = (*nearest.get(above, ()), text)
    return shares, nearest


def _card(rows: Lookup, root: Node, shares: Mapping[str, float], nearest: Mapping[str, tuple[str, ...]]) -> TreeCard:
    below = list(rows.children(root.id))[-500:]
    parts = [child for child in below if not child.is_summary and not child.is_note and rows.has_children(child.id)]
    parts = sorted(parts, key=lambda part: -shares.get(part.id, 0.0))[:MOST_PARTS]
    return TreeCard(
        id=root.id,
        title=label_of(root) or root.id,
        about=_about(rows, root),
        parts=tuple(
            PartCard(
                part.id,
                _title(part),
                _about(rows, part),
                round(shares.get(part.id, 0.0), 4),
                nearest.get(part.id, ()),
            )
            for part in parts
        ),
        evidence=round(shares.get(root.id, 0.0), 4),
        found=nearest.get(root.id, ()),
    )


def _title(part: Node) -> str:
    return label_of(part) or " ".join(part.text.split()[:8]) or str(part.context)


def _about(rows: Lookup, node: Node) -> str:
    """What a node is about in few words: its own text and the latest below it, summaries before memories."""
    children = list(rows.children(node.id, newest_first=True))[:200]
    telling = [child for child in children if child.is_summary and child.text.strip()]
    telling = telling or [child for child in children if child.text.strip()]
    texts = [node.text, *(child.text for child in telling[:_READ_BELOW])]
    each = max(8, ABOUT_WORDS // max(1, len(texts)))
    return " ".join(" ".join(text.split()[:each]) for text in texts if text.strip())
