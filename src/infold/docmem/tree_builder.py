"""Trees that are read from elsewhere, before they are in the store, and how they get there: whole or not at all.

What a Markdown file, a text, a TOML file becomes is decided in modules of their own; here it is planted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from infold.docmem import marks, queries
from infold.docmem.ids import ALPHABET, LENGTH, checked_root_id
from infold.docmem.node import CONTEXT_CHARACTERS, Context, Node, checked_text
from infold.docmem.order import FIRST, STEP
from infold.docmem.place import Place, parent_and_order
from infold.docmem.rows import Rows
from infold.errors import NodeExists

_RANDOM_ID: Final = re.compile(f"[{ALPHABET}]{{{LENGTH}}}")
_MORE: Final = "…"


@dataclass(slots=True)
class TreeDraft:
    """A node to be, with those below it. `order` and `id` are wishes: None is the next number, a random id."""

    context: Context
    text: str = ""
    children: list[TreeDraft] = field(default_factory=list)
    is_readonly: bool = False
    order: float | None = None
    id: str | None = None
    marks: dict[str, str] = field(default_factory=dict)
    created_at: str | None = None
    versions: list[tuple[object, ...]] = field(default_factory=list)  # what it was, as `history` has it after its id

    def add(self, context: Context, text: str = "") -> TreeDraft:
        """A new last child, as readonly as this."""
        child = TreeDraft(context, text, is_readonly=self.is_readonly)
        self.children.append(child)
        return child

    def walk(self) -> Iterator[TreeDraft]:
        """This and all below it, parents first."""
        waiting = [self]
        while waiting:
            draft = waiting.pop()
            yield draft
            waiting.extend(reversed(draft.children))


def plant(rows: Rows, draft: TreeDraft, place: Place | None = None, *, root_id: str | None = None) -> Node:
    """Makes nodes of a draft: a tree of its own, with a name where one is given, or a part of one at `place`.

    An id that the draft wishes for is kept where no node has it and it is one that a node may have. Gives the upmost
    node. Raises NodeExists, NodeIdInvalid, NodeNotFound, NoParent, TextNotStorable.
    """
    parent, order_value = (None, FIRST) if place is None else parent_and_order(rows, place)
    upmost = put_draft(rows, draft, parent, order_value, _top_id(rows, draft, place, root_id))
    waiting = [(draft, upmost.id)]
    while waiting:
        above, parent_id = waiting.pop()
        order_value = FIRST - STEP
        for child in above.children:
            order_value = order_value + STEP if child.order is None else child.order
            wished = child.id if child.id is not None and _is_free(rows, child.id) else None
            node = put_draft(rows, child, parent_id, order_value, wished)
            if child.children:
                waiting.append((child, node.id))
    return upmost


def put_draft(rows: Rows, draft: TreeDraft, parent: str | None, order_value: float, node_id: str | None = None) -> Node:
    """One node of a draft, without those below it, at a place that is free."""
    node = rows.add(
        parent,
        checked_text(draft.text),
        draft.context,
        order_value,
        readonly=int(draft.is_readonly),
        node_id=node_id,
        created_at=draft.created_at,
    )
    for name, value in draft.marks.items():
        marks.mark(rows, node.id, name, value)
    for number, version in enumerate(draft.versions, start=1):
        rows.connection.execute(queries.WAS, (node.id, number, *version))
    return node


def shortened(text: str) -> str:
    """`text` on one line, cut at a word where it is longer than a context field may be."""
    line = " ".join(text.split())
    if len(line) <= CONTEXT_CHARACTERS:
        return line
    start = line[: CONTEXT_CHARACTERS - len(_MORE)]
    at_word = start.rpartition(" ")[0] if line[len(start)] != " " else start
    return (at_word if len(at_word) > CONTEXT_CHARACTERS // 3 else start).rstrip() + _MORE


def _top_id(rows: Rows, draft: TreeDraft, place: Place | None, root_id: str | None) -> str | None:
    if root_id is not None:
        root_id = checked_root_id(root_id)
        if rows.has(root_id):
            raise NodeExists(f"There is a memory node {root_id!r} already.", hint="Choose another name for the tree.")
        return root_id
    if draft.id is None or rows.has(draft.id):
        return None
    return checked_root_id(draft.id) if place is None else (draft.id if _is_free(rows, draft.id) else None)


def _is_free(rows: Rows, node_id: str) -> bool:
    return _RANDOM_ID.fullmatch(node_id) is not None and not rows.has(node_id)
