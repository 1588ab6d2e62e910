"""`infold docmem`: nodes deleted, moved, copied, folded into a summary and unfolded, and made what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.docmem_place import (
    AfterOption,
    BeforeOption,
    ContextOption,
    HashOption,
    NodeArgument,
    hash_of,
    memory_of,
    one_place,
    show_node,
    show_nodes,
)
from infold.cli.given_text import FileOption, given_line
from infold.cli.options import Call, command
from infold.errors import UsageError

if TYPE_CHECKING:
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node

ToOption = Annotated[str | None, typer.Option("--to", metavar="PARENT", help="As the last child of this node.")]


@command
def delete(
    call: Call,
    node: NodeArgument,
    *,
    expected: HashOption = None,
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask, however many nodes go.")] = False,
) -> int:
    """Delete a node with all that is below it and all of their history. It cannot be taken back.

    More than one node is asked about on a terminal, and needs --yes elsewhere.
    """
    with memory_of(call) as memory:
        seen = memory.get(node)
        size = memory.size(node)
        if size > 1 and not yes:
            what = f"{size:,} nodes: {seen}"
            if call.terminal.is_json or not call.terminal.is_watched:
                raise UsageError(f"This would delete {what}.", hint="Add --yes to do it.")
            if not typer.confirm(f"Delete {what}?", err=True):
                return 1
        gone = memory.delete(node, seen.hash if expected is None else expected)
    if call.terminal.is_json:
        call.terminal.emit({"deleted": gone, "node": seen.as_dict()})
    else:
        call.terminal.say(f"deleted {gone:,} node{'s' * (gone != 1)}: {seen}")
    return 0


@command
def move(
    call: Call,
    node: NodeArgument,
    *,
    to: ToOption = None,
    before: BeforeOption = None,
    after: AfterOption = None,
    expected: HashOption = None,
) -> int:
    """Move a node, with all below it, within its tree: --to, --before or --after another."""
    place = one_place(to, before, after)
    with memory_of(call) as memory:
        moved = memory.move(node, place, hash_of(memory, node, expected))
    return show_node(call.terminal, moved, did="moved")


@command
def copy(
    call: Call,
    node: NodeArgument,
    *,
    to: ToOption = None,
    before: BeforeOption = None,
    after: AfterOption = None,
) -> int:
    """Copy a node, with all below it, to a place of any tree: --to, --before or --after another node."""
    place = one_place(to, before, after)
    with memory_of(call) as memory:
        made = memory.copy(node, place)
    return show_node(call.terminal, made, did="copied")


@command
def summarise(
    call: Call,
    nodes: Annotated[
        list[str], typer.Argument(metavar="NODE...", help="Leaves of one parent, without a gap.", show_default=False)
    ],
    *,
    context: ContextOption,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT|-", help="What the summary says.")] = None,
    file: FileOption = None,
    is_range: Annotated[
        bool, typer.Option("--range", metavar="", help="Two nodes are named: they and all between them.")
    ] = False,
    expected: Annotated[
        list[str] | None,
        typer.Option("--hash", metavar="NODE=HASH", help="The hash that you read of a node; may be repeated."),
    ] = None,
) -> int:
    """Fold neighbouring nodes below a summary of your own words. They stay as they are; `unsummarise` unfolds them.

    The context's type is `summary`, such as summary:by:hand. Without --hash the present hashes are read in the same
    call.
    """
    from infold.docmem.node import Context, expected_hashes

    known = _hashes(expected or [])
    words = given_line(text, file)
    with memory_of(call) as memory:
        chosen = _range(memory, nodes) if is_range else [memory.get(node) for node in nodes]
        made = memory.summarise({**expected_hashes(chosen), **known}, words, Context.parse(context))
    return show_node(call.terminal, made, did="summarised")


@command
def unsummarise(call: Call, node: NodeArgument, *, expected: HashOption = None) -> int:
    """Take a summary back: what it stands for comes into its place, and the summary goes."""
    with memory_of(call) as memory:
        back = memory.unsummarise(node, hash_of(memory, node, expected))
    return show_nodes(call.terminal, back)


@command
def restore(
    call: Call,
    node: NodeArgument,
    version: Annotated[int, typer.Argument(metavar="VERSION", help="A number that `infold docmem history` shows.")],
    *,
    expected: HashOption = None,
) -> int:
    """Give a node the text and context of an earlier version. It stays where it stands; this too is in its history."""
    with memory_of(call) as memory:
        changed = memory.restore_version(node, version, hash_of(memory, node, expected))
    return show_node(call.terminal, changed, did="restored")


def _range(memory: Docmem, nodes: list[str]) -> list[Node]:
    if len(nodes) != 2:
        raise UsageError("--range takes two nodes.", hint="Name the first and the last.")
    first, last = (memory.get(node) for node in nodes)
    if first.parent_id is None:
        return [first, last]
    siblings = memory.children(first.parent_id)
    if last not in siblings:
        return [first, last]
    low, high = sorted((siblings.index(first), siblings.index(last)))
    return siblings[low : high + 1]


def _hashes(given: list[str]) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in given]
    for node, _, found in pairs:
        if not node or not found:
            raise UsageError(f"{node!r} comes without a hash.", hint="Write it as NODE=HASH.")
    return {node: found for node, _, found in pairs}
