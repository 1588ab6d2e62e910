"""A part of a tree in the vault's inbox, as paragraphs below a line that says where they are from.

What was said is sent, not what stands for it: summaries are left out where their memories are there, and so is front
matter. The line is a comment of Markdown: no run takes it for text. The same subtree with the same texts goes once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from infold.docmem.memory import Docmem
from infold.docmem.node import Node
from infold.durable.change import ChangeKind
from infold.errors import ImportRefused
from infold.inbox.paragraphs import number_paragraphs
from infold.text import content_hash
from infold.vault.files import decode
from infold.vault.writing import note_writer, on_what_stands
from infold.workspace import Workspace

SENT: Final = "sent_to_inbox"  # the mark of a node that was sent: the hash of the texts, and the day
_HASH_CHARACTERS: Final = 16
_COMMENT: Final = "%%"
_METADATA: Final = "metadata"
_LINE_END: Final = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of it. Not new: these texts were sent on `day` before, and the inbox is as it was."""

    node: Node
    inbox: str
    paragraphs: int
    day: str
    is_new: bool = True


def send_to_inbox(memory: Docmem, workspace: Workspace, node_id: str, *, again: bool = False) -> Sent:
    """Puts the texts of a node and of what is below it at the end of the inbox, which is made where there is none.

    Raises NodeNotFound; ImportRefused where there is no text, or the inbox ends in a code block or comment that is
    never closed; NoteUnreadable, NoteChanged, VaultBusy, StateUnwritable.
    """
    tree = memory.subtree(node_id)
    node = tree[0][0]
    texts = list(_texts(tree))
    if not texts:
        raise ImportRefused(f"There is no text in {node_id!r} or below it.", hint="Name a node that has some.")
    body = "\n\n".join(texts)
    digest = content_hash(body)[:_HASH_CHARACTERS]
    root = memory.get_root(node_id)
    today = datetime.now(UTC).astimezone().date().isoformat()
    name = workspace.inbox_path
    with note_writer(workspace) as writer:

        def attempt() -> Sent:
            before = writer.read(name)
            text = decode(before or b"", name)
            day = None if again else _sent_before(memory, node, digest, text)
            if day is not None:
                return Sent(node, name, 0, day, is_new=False)
            origin = f"From the memory tree {root.id}, node {node.id} {node.context}, {today}, text {digest}"
            after = _appended(text, f"{_COMMENT} {origin.replace(_COMMENT, '%')} {_COMMENT}\n\n{body}")
            there, found = _paragraphs(text, name), _paragraphs(after, name)
            if found[: len(there)] != there or len(found) == len(there):
                raise ImportRefused(
                    f"{name} ends in a code block or comment that is never closed: what follows would be part of it.",
                    hint="Close it, then send the node again.",
                )
            writer.write(name, before, after.encode(), ChangeKind.WRITE, f"{name} got {root.id}, node {node.id}.")
            memory.mark(node.id, SENT, f"{digest} {today}")
            return Sent(node, name, len(found) - len(there), today)

        return on_what_stands(attempt)


def _paragraphs(text: str, name: str) -> list[str]:
    return [found.paragraph.text for found in number_paragraphs(text, name)]


def _texts(tree: Iterable[tuple[Node, int]]) -> Iterator[str]:
    """The texts to be sent, in reading order. The root's own text is the name of the tree, if anything."""
    nodes = [node for node, _ in tree]
    parents = {node.parent_id for node in nodes}
    for node in nodes:
        stands_for_others = node.id in parents and (node.is_summary or node.parent_id is None)
        if node.text.strip() and node.context_type != _METADATA and not stands_for_others:
            yield _LINE_END.sub("\n", node.text).strip("\n")


def _sent_before(memory: Docmem, node: Node, digest: str, inbox: str) -> str | None:
    """The day on which these texts were sent. The inbox knows too: the store may have been restored since."""
    sent, _, day = memory.marks_of(node.id).get(SENT, "").partition(" ")
    if sent == digest:
        return day
    above = rf"From the memory tree .*, node {re.escape(node.id)} .*, (\S+), text {digest}"
    line = re.search(rf"^{_COMMENT} {above} {_COMMENT}", inbox, re.MULTILINE)
    return line[1] if line else None


def _appended(text: str, addition: str) -> str:
    """`text` with the addition below a blank line, in its own line ends."""
    first = _LINE_END.search(text)
    line_end = first[0] if first else "\n"
    if not text.strip("\ufeff \t\r\n"):
        gap = ""
    else:
        gap = line_end * max(0, 2 - len(_LINE_END.findall(text[len(text.rstrip(" \t\r\n")) :])))
    return text + gap + addition.replace("\n", line_end) + line_end
