"""`infold docmem`: summaries made and taken back, what nodes were, and how it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.docmem_shared import (
    ContextOption,
    HashOption,
    NodeArgument,
    context_fields,
    hash_of,
    show_node,
    show_nodes,
    show_text,
)
from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.cli.text_input import FileOption, line_input
from infold.errors import UsageError
from infold.operations import docmem as reading
from infold.operations import docmem_writing as writing
from infold.operations.docmem_exchange import DocmemCondenseRequest, condense_memory
from infold.text import counted

if TYPE_CHECKING:
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.operations.docmem_exchange import DocmemCondenseAnswer


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
    known = _hashes(expected or [])
    words = line_input(text, file)
    with call.vault() as vault:
        memory = vault.docmem
        chosen = _range(memory, nodes) if is_range else [memory.get(node) for node in nodes]
        hashes = {node.id: node.hash for node in chosen}
        if unknown := sorted(known.keys() - hashes.keys()):
            raise UsageError(
                f"--hash names {unknown[0]!r}, which is none of the nodes to be summarised.",
                hint="Name the node too, or leave its hash out.",
            )
        read = tuple(writing.ReadNode(id=node, hash=given) for node, given in {**hashes, **known}.items())
        request = writing.DocmemSummarizeRequest(expected_hashes=read, text=words, **context_fields(context))
        return show_node(call, writing.docmem_summarize(vault, request), did="summarised")


@command
def unsummarise(call: Call, node: NodeArgument, *, expected: HashOption = None) -> int:
    """Take a summary back: what it stands for comes into its place. `infold docmem restore` folds it again."""
    with call.vault() as vault:
        request = writing.LockedRequest(node=node, expected_hash=hash_of(vault, node, expected))
        answer = writing.docmem_unsummarize(vault, request)
    return show_nodes(call, answer, answer.nodes)


@command
def condense(
    call: Call,
    root: Annotated[str | None, typer.Argument(metavar="[NODE]", help="Only from this node down.")] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", metavar="", help="Say what would be done, and stop.")] = False,
) -> int:
    """Let the librarian summarise memories that have gathered, and renew summaries whose memories changed.

    The settings docmem.* say when. Memories stay as they are, below their summary; `infold docmem unsummarise` takes
    one back. With a model, librarian.max_usd and librarian.max_tokens hold.
    """
    with Stages(call.terminal) as stages, call.vault(stages) as vault:
        done = condense_memory(vault, DocmemCondenseRequest(node=root, dry_run=dry_run))
    if call.terminal.is_json:
        return call.terminal.answer(done)
    if dry_run:
        return _show_plan(call, done)
    for node in (*done.made, *done.renewed):
        show_text(call.terminal, node)
    for node_id, reason in done.left.items():
        call.terminal.notice(f"! {node_id}: {reason}", style="yellow")
    call.terminal.notice(f"{len(done.made)} summaries made, {len(done.renewed)} renewed; {done.usage}.")
    return 0


@command
def history(call: Call, node: NodeArgument) -> int:
    """List what a node was before each change, oldest first. `infold docmem restore` goes back to one."""
    with call.vault() as vault:
        answer = reading.docmem_history(vault, reading.DocmemNodeRequest(node=node))
    lines = [f"{node} was never changed."] if not answer.versions else []
    for version in answer.versions:
        context = f"{version.context_type}:{version.context_name}:{version.context_value}"
        lines += [f"{version.version}  {context} until {version.operation} {version.replaced_at}"]
        lines += [f"   {first_line(version.text)}"]
    return call.terminal.answer(answer, *lines)


@command
def deleted(
    call: Call,
    tree: Annotated[str | None, typer.Argument(metavar="[TREE]", help="Only of this tree: the id of its root.")] = None,
) -> int:
    """List what was deleted or unfolded and can come back, the latest first. `infold docmem restore` brings it back."""
    with call.vault() as vault:
        answer = reading.docmem_deleted(vault, reading.DocmemDeletedRequest(tree=tree))
    lines = []
    for one in answer.deleted:
        lines += [f"{one.node} {one.context} {one.operation} {one.deleted_at}  {counted(one.nodes, 'node')}"]
        lines += [f"   {first_line(one.text)}"]
    return call.terminal.answer(answer, *(lines or ["Nothing was deleted."]))


@command
def restore(
    call: Call,
    node: NodeArgument,
    version: Annotated[
        int | None,
        typer.Argument(
            metavar="[VERSION]", help="A number that `infold docmem history` shows; without it what is gone."
        ),
    ] = None,
    *,
    expected: HashOption = None,
) -> int:
    """Bring back a node that was deleted or unfolded, with all that went with it; or an earlier version of one.

    With VERSION the node has the text and context of that, and stays where it stands; this too is in its history.
    """
    with call.vault() as vault:
        if version is None:
            back = writing.docmem_restore_deleted(vault, reading.DocmemNodeRequest(node=node))
            return show_node(call, back, did="restored")
        request = writing.DocmemRestoreVersionRequest(
            node=node, version=version, expected_hash=hash_of(vault, node, expected)
        )
        changed = writing.docmem_restore_version(vault, request)
    return show_node(call, changed, did="restored", summaries=changed.summaries)


def first_line(text: str) -> str:
    """The first line with something on it, and a sign that there is more."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "" if not lines else f"{lines[0]} …" if len(lines) > 1 else lines[0]


def _show_plan(call: Call, answer: DocmemCondenseAnswer) -> int:
    for due in answer.due:
        call.terminal.say(f"renew {due.summary}" if due.summary else f"{len(due.nodes)} below {due.parent}")
        for node in due.nodes:
            call.terminal.say(f"  {node}")
    call.terminal.notice(f"{len(answer.due)} summaries are due" + (f"; {answer.estimate}." if answer.estimate else "."))
    return 0


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
