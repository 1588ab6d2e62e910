"""A memory tree in plain lists and dictionaries: what the store has to agree with.

Written from the specification and without a line of the store's: children are lists in reading order, numbers are not used to
sort, walks are recursive.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field


@dataclass
class Plain:
    """A node: its parent, its children in order, and its fields."""

    id: str
    parent: Plain | None
    text: str
    context: tuple[str, str, str]
    readonly: int
    order: float = 1.0
    children: list[Plain] = field(default_factory=list)

    def walk(self, depth=0):
        """Preorder, with depths."""
        yield self, depth
        for child in self.children:
            yield from child.walk(depth + 1)

    def root(self):
        return self if self.parent is None else self.parent.root()

    @property
    def tokens(self):
        return -(-len(self.text) // 4)

    @property
    def hash(self):
        fields = [self.parent.id if self.parent else "", *self.context, self.text, repr(self.order)]
        return base64.b64encode(hashlib.sha512("|".join(fields).encode()).digest()).decode()

    def serialise(self):
        return "\n\n".join(node.text for node, depth in self.walk() if depth and node.text.strip())

    def attach(self, parent, side, target):
        """Puts the node among its new siblings; numbers are the store's to say."""
        self.parent = parent
        at = len(parent.children) if side == "child" else parent.children.index(target) + (side == "after")
        parent.children.insert(at, self)

    def detach(self):
        self.parent.children.remove(self)
