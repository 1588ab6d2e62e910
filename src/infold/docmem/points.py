"""Memory nodes as the search index takes them, and back: a hit's node, and the text behind it.

Found by keyword are the title of a node's tree, the sections above it, its text and what it is named; by meaning its
text alone, so that a node keeps its vector wherever it is moved. When nodes are sent belongs to `feed`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final
from uuid import UUID

from infold.docmem import marks
from infold.docmem.chats import SESSION, TURN
from infold.docmem.tags import names_of, tags_in
from infold.errors import NodeNotFound
from infold.search.index.contract import Hit, IndexPoint, PointGroup
from infold.search.languages import AUTO, detect_language
from infold.search.query.excerpts import Excerpt
from infold.search.terms import document_words
from infold.text import content_hash

if TYPE_CHECKING:
    from infold.docmem.lookup import Lookup
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node

PREFIX: Final = "memory/"  # of every tree's path in the index
TRUST: Final = "trust"  # the mark that says where what is below a node is from, in a word
NODE_LEVEL: Final = "node"
SUMMARY_LEVEL: Final = "summary"
_MEMORY_TRUST: Final = "memory"
_LABEL_WORDS: Final = 8
_SIGN: Final = b"memnode:"  # of the ids of points: the other half is the id of the node
_ABOVE: Final = frozenset({"section", "summary", "user"})
_HEADING_MARK: Final = re.compile(r"^#{1,6}\s+")


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """A node ready for the index: the point without its vector, the text to embed, the key of its vector."""

    point: IndexPoint
    text: str
    key: str


def path_of(root_id: str) -> str:
    """The path of a tree in the index."""
    return PREFIX + root_id


def point_id(node_id: str, root_id: str) -> str:
    """The id of a node's point, from which `node_id_of` reads it again."""
    if node_id == root_id:
        return str(UUID(bytes=blake2b(f"{PREFIX}{root_id}".encode(), digest_size=16).digest()))
    return str(UUID(bytes=_SIGN + node_id.encode("ascii")))


def node_id_of(hit: Hit) -> str:
    """The node that a hit is of."""
    return node_id_of_point(hit.id) or hit.path.removeprefix(PREFIX)


def node_id_of_point(point: str) -> str:
    """The node of a point by its id alone; "" where it is a root's, which tells nothing."""
    value = UUID(point).bytes
    return value[len(_SIGN) :].decode("ascii", "replace") if value.startswith(_SIGN) else ""


def entry_of(
    rows: Lookup, node_id: str, language: str, known: dict[str, Node], sessions: Mapping[str, bool]
) -> MemoryPoint | None:
    """The node as the index takes it; None where there is nothing to find, or its session is found itself.

    `known` are nodes read before within the same transaction, `sessions` whether a transcript is searched as it is.
    Raises NodeNotFound.
    """
    chain = [_known(rows, above, known) for above in rows.ancestor_ids(node_id)]
    node, root = chain[0], chain[-1]
    flags = [marks.marks_of(rows, above.id) for above in chain]
    if _is_view(flags, sessions):
        return None
    names = names_of(node)
    if not node.text.strip() and not names:
        return None
    title = label_of(root) or root.id
    trail = tuple(label for above in reversed(chain[1:-1]) if (label := label_of(above)))
    # A summary's words are not its children's: a question that it answers finds it, not all that stands below it.
    headings = (label_of(above) for above in reversed(chain[1:-1]) if not above.is_summary)
    said = "\n".join((title, *headings, " ".join(names), node.text))
    spoken = detect_language(said) if language == AUTO else language
    words, written = document_words(said, spoken)
    point = IndexPoint(
        id=point_id(node.id, root.id),
        path=path_of(root.id),
        start_line=0,
        end_line=0,
        title=title,
        trail=trail,
        kind=node.context_type,
        group=PointGroup.MEMORY,
        words=words,
        written=written,
        date=node.created_at[:10],
        tags=tuple(dict.fromkeys((*tags_in(node.text), *names))),
        level=SUMMARY_LEVEL if node.is_summary else NODE_LEVEL,
        trust=_trust(flags),
        parent=node.parent_id or "",
        within=tuple(above.id for above in chain),
    )
    return MemoryPoint(point, node.text, content_hash(node.text))


def label_of(node: Node) -> str:
    """A few words that stand for a node above others; "" where it says nothing of them."""
    if node.parent_id is not None and node.context_type not in _ABOVE:
        return ""
    words = _HEADING_MARK.sub("", node.text.strip()).split()
    if words:
        return " ".join(words[:_LABEL_WORDS]) + (" …" if len(words) > _LABEL_WORDS else "")
    return node.id if node.parent_id is None else node.context_value


class MemoryTexts:
    """The texts of the memory nodes that a search found, as they are now. Implements `search.query.excerpts.Texts`."""

    def __init__(self, memory: Docmem) -> None:
        self._memory = memory

    def stretch(self, hit: Hit) -> Excerpt | None:
        """The text of a node, and its full metadata in place of a heading; None where it is gone."""
        node = self._memory.find(node_id_of(hit))
        if node is None:
            return None
        try:
            root = self._memory.get_root(node.id)
        except NodeNotFound:
            return None
        return Excerpt(node.text, 0, 0, str(node)) if path_of(root.id) == hit.path else None


def _known(rows: Lookup, node_id: str, known: dict[str, Node]) -> Node:
    if node_id not in known:
        known[node_id] = rows.get(node_id)
    return known[node_id]


def _is_view(flags: list[dict[str, str]], sessions: Mapping[str, bool]) -> bool:
    """Whether a node is a message, or the root, of a tree that shows a session which is searched itself."""
    session = flags[-1].get(SESSION)
    return session is not None and sessions.get(session, False) and (TURN in flags[0] or len(flags) == 1)


def _trust(flags: list[dict[str, str]]) -> str:
    """Where a node is from, by the nearest mark that says so."""
    for of_node in flags:
        if TRUST in of_node:
            return of_node[TRUST]
        if SESSION in of_node or TURN in of_node:
            return "session"
        if "source" in of_node:
            origin = of_node["source"].partition(":")[0]
            return origin if origin in {"vault", "file"} else _MEMORY_TRUST
    return _MEMORY_TRUST
