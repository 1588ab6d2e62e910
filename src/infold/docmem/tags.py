"""`@tags`: relations between nodes that stand in their text, and in nothing else (spec 2, Linking).

`@anna` in a text means every node that says `@anna` too, and every node that is named so: a tree, or a node whose
context has it as its value. Pure functions over texts; who is meant is asked of the index at query time (`recall`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from infold.docmem.node import Node

# Not within a word, so that an address of mail is none; dots and slashes only between letters, so that a sentence ends.
_TAG: Final = re.compile(r"(?<![\w@./-])@([^\W\d_](?:[\w-]|[./](?=\w))*)")
_LINES: Final = re.compile(r"L\d+(?:-\d+)?")
_NAME: Final = re.compile(r"[^\W\d_][\w.-]*(?: [\w.-]+)*")


def tags_in(text: str) -> tuple[str, ...]:
    """The tags in a text in lower case without their sign, each once."""
    if "@" not in text:
        return ()
    return tuple(dict.fromkeys(found[1].rstrip("-_").casefold() for found in _TAG.finditer(text)))


def names_of(node: Node) -> tuple[str, ...]:
    """What a node may be called by in a tag: its id where it is a tree, else the value of its context."""
    name = node.id if node.parent_id is None else node.context_value
    if not _NAME.fullmatch(name) or _LINES.fullmatch(name):
        return ()
    return (name.casefold().replace(" ", "-"),)
