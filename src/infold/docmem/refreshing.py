"""A document that was imported before and has changed: its tree follows it, node by node.

Nodes whose text is the same stay: their ids, flags, versions, the notes beside them, the summaries above them. What is
new is added where it stands in the document, what is gone is deleted (`history` keeps it), and what others put below
that is not: it moves up. Which nodes are the document's is told by their being readonly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from infold.docmem import notes
from infold.docmem.lookup import Lookup
from infold.docmem.moving import move
from infold.docmem.node import Node
from infold.docmem.place import Place, after, before, child_of, parent_and_order
from infold.docmem.rows import Rows
from infold.docmem.tree_builder import TreeDraft, put_draft
from infold.docmem.writing import delete


@dataclass(frozen=True, slots=True)
class RefreshedTree:
    """How many nodes came, went, and stayed."""

    added: int
    removed: int
    kept: int


def refresh(rows: Rows, top: Node, draft: TreeDraft) -> RefreshedTree:
    """Brings what is below `top` in step with the draft of its document."""
    old = [node for node, depth in rows.tree(top.id) if depth and _is_of_document(node)]
    new = [part for part in draft.walk() if part is not draft]
    below = {node.id: list(rows.children(node.id)) for node in old if not node.text}
    keys = [(node.context_type, node.text or _first(below[node.id])) for node in old]
    wanted = [(part.context.type, part.text or _first(part.children)) for part in new]
    kept: dict[int, Node] = {}
    for block in SequenceMatcher(None, keys, wanted, autojunk=False).get_matching_blocks():
        for at in range(block.size):
            kept[id(new[block.b + at])] = old[block.a + at]
    elsewhere = _elsewhere(zip(keys, old, strict=True), zip(wanted, new, strict=True), kept)
    added = _placed(rows, top, draft, kept, elsewhere)
    staying = {node.id for node in (*kept.values(), *elsewhere.values())}
    gone = [node.id for node in old if node.id not in staying]
    for node_id in reversed(gone):  # children first: what others put there moves up step by step
        _remove(rows, node_id)
    return RefreshedTree(added, len(gone), len(staying))


def _elsewhere(
    old: Iterable[tuple[tuple[str, str], Node]],
    new: Iterable[tuple[tuple[str, str], TreeDraft]],
    kept: Mapping[int, Node],
) -> dict[int, Node]:
    """Of what is not in step the nodes that stand in another place of the document now."""
    in_step = {node.id for node in kept.values()}
    left: dict[tuple[str, str], list[Node]] = {}
    for key, node in old:
        if node.id not in in_step:
            left.setdefault(key, []).append(node)
    return {id(part): left[key].pop(0) for key, part in new if id(part) not in kept and left.get(key)}


def _placed(rows: Rows, top: Node, draft: TreeDraft, kept: Mapping[int, Node], elsewhere: dict[int, Node]) -> int:
    """Makes what is new and moves what stands elsewhere by now; gives how many are new."""
    waiting = [(draft, top.id)]
    added = 0
    while waiting:
        above, parent_id = waiting.pop()
        previous: str | None = None
        for at, part in enumerate(above.children):
            if id(part) in elsewhere and elsewhere[id(part)].id in rows.ancestor_ids(parent_id):
                del elsewhere[id(part)]  # it would come below itself: one like it is made
            node = kept.get(id(part))
            if node is None or _home(rows, node.id) != parent_id:
                place = _place_after(rows, previous, parent_id, above.children[at + 1 :], kept)
                node = node or elsewhere.get(id(part))
                added += node is None
                node = _put(rows, part, node, place)
            if node.context != part.context:
                rows.change(rows.get(node.id), "import", context=part.context)
            previous = node.id
            waiting.append((part, node.id))
    return added


def _put(rows: Rows, part: TreeDraft, node: Node | None, place: Place) -> Node:
    """A part of the document at its place: the node that it is, with its notes, or a new one."""
    if node is None:
        return put_draft(rows, part, *parent_and_order(rows, place))
    return node if place.target == node.id else move(rows, node.id, place, rows.get(node.id).hash)


def _place_after(
    rows: Lookup, previous: str | None, parent_id: str, following: Sequence[TreeDraft], kept: Mapping[int, Node]
) -> Place:
    """Right behind the node before it, with its notes; within a summary where what follows stands in it too."""
    if previous is None:
        first = next(rows.children(parent_id), None)
        return child_of(parent_id) if first is None else before(first.id)
    node = rows.get(previous)
    if node.parent_id != parent_id:
        later = next((kept[id(part)] for part in following if id(part) in kept), None)
        if later is None or rows.get(later.id).parent_id != node.parent_id:
            node = next(above for above in _above(rows, node) if above.parent_id == parent_id)
    return after(next(reversed(notes.beside(rows, node)), node).id)


def _remove(rows: Rows, node_id: str) -> None:
    """Deletes a node of the document; what others put below it stands in its place instead."""
    node = rows.find(node_id)
    if node is None or node.parent_id is None:
        return
    last = node
    for child in list(rows.children(node_id)):
        if not _is_of_document(child):
            last = rows.change(child, "move", place=parent_and_order(rows, after(last.id)))
    delete(rows, node_id)


def _is_of_document(node: Node) -> bool:
    return bool(node.readonly) and not node.is_summary and not node.is_note


def _first(children: Sequence[Node] | Sequence[TreeDraft]) -> str:
    """What tells nodes without a text of their own apart."""
    return children[0].text if children else ""


def _home(rows: Lookup, node_id: str) -> str | None:
    """The node of the document that a node stands below, summaries aside."""
    return next((above.id for above in _above(rows, rows.get(node_id)) if not above.is_summary), None)


def _above(rows: Lookup, node: Node) -> Iterator[Node]:
    while node.parent_id is not None:
        node = rows.get(node.parent_id)
        yield node
