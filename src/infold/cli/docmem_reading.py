"""`infold docmem`: trees read, as an outline, as a document, by their parts, within a budget; and searched."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final, get_args

import typer

from infold import lazy
from infold.cli.docmem_shared import (
    NodeArgument,
    choice,
    show_node,
    show_nodes,
    show_text,
    tell_notices,
)
from infold.cli.docmem_summaries import first_line
from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.operations import docmem as operations
from infold.operations.contract import Nothing
from infold.operations.docmem_search import (
    DocmemExpandRequest,
    DocmemSearchRequest,
    DocmemTagsRequest,
    docmem_expand_to_length,
    docmem_search,
    docmem_tags,
)
from infold.text import counted

if TYPE_CHECKING:
    from rich.tree import Tree

    from infold.cli.terminal import Terminal
    from infold.operations.docmem import MemoryNode
    from infold.operations.docmem_search import FoundMemory

WithinOption = Annotated[
    str | None, typer.Option("--in", metavar="NODE", help="Only from this node down: a tree, or a part of one.")
]
_DEEPEST_DRAWN: Final = 20  # levels: below that, lines of a terminal hold nothing but the drawing
_SHORT_HASH: Final = 12  # characters, enough for --hash


@command
def roots(call: Call) -> int:
    """List the trees, oldest first: the root of each, and how many nodes there are in it."""
    with call.vault() as vault:
        answer = operations.docmem_roots(vault, Nothing())
    if not answer.trees and not call.terminal.is_json:
        call.terminal.notice("There are no trees. `infold docmem create` begins one, `infold docmem import` reads one.")
    return call.terminal.answer(answer, *(f"{tree.root}  {counted(tree.nodes, 'node')}" for tree in answer.trees))


@command
def show(
    call: Call,
    node: NodeArgument,
    *,
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="N", min=0, help="At most so many levels below the node.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", metavar="", help="Texts whole, not their first line.")] = False,
) -> int:
    """Show a node and what is below it, with texts: as a tree on a terminal, as plain lines in a pipe.

    A summary that no longer says what is below it is marked as stale.
    """
    with call.vault() as vault:
        answer = operations.docmem_show(vault, operations.DocmemShowRequest(node=node, depth=depth))
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    else:
        show_tree(call.terminal, answer.nodes, whole=whole)
        if answer.marks:
            call.terminal.say("marks: " + _pairs(answer.marks), style="dim")
    return 0


@command
def structure(call: Call, node: NodeArgument) -> int:
    """Print the tree from a node down without its texts: a line a node, two spaces of indent a level."""
    with call.vault() as vault:
        answer = operations.docmem_structure(vault, operations.DocmemNodeRequest(node=node))
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    else:
        sys.stdout.write(f"{answer.structure}\n")
    return 0


@command
def text(
    call: Call,
    node: NodeArgument,
    *,
    mode: Annotated[
        str,
        typer.Option(
            "--mode", metavar="MODE", help="Summaries: `with` their memories, `without`, or `instead` of them."
        ),
    ] = "with",
) -> int:
    """Print the texts below a node as one document, in reading order. The node's own text is not part of it."""
    request = operations.DocmemSerializeRequest(
        node=node, summaries=choice(mode, get_args(lazy.docmem.budgeted_expansion.SummaryUse), "mode")
    )
    with call.vault() as vault:
        answer = operations.docmem_serialize(vault, request)
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    if answer.text:
        sys.stdout.write(f"{call.terminal.safe(answer.text)}\n")
    if answer.stale:
        call.terminal.notice(
            f"Stale summaries: {', '.join(answer.stale)}. `infold docmem condense` renews those of the librarian."
        )
    return 0


@command
def expand(
    call: Call,
    node: NodeArgument,
    *,
    tokens: Annotated[int, typer.Option("--tokens", metavar="N", min=0, help="How much there is room for.")],
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="What answers this comes first, with what is above.")
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="Summaries: `with` their memories, `without`, `instead` of them, or `mixed`: where they do not fit.",
        ),
    ] = "with",
    text: Annotated[bool, typer.Option("--text", metavar="", help="Their texts alone, as one document.")] = False,
) -> int:
    """Show a node and as much below it as fits a number of tokens, in reading order.

    Nodes marked with a priority come first, then what answers the query; then upper levels before lower ones, and
    within a level later nodes before earlier ones. What is marked to stick together comes whole.
    """
    request = DocmemExpandRequest(
        node=node,
        budget_tokens=tokens,
        query=query,
        summaries=choice(mode, lazy.docmem.budgeted_expansion.RESOLUTIONS, "mode"),
    )
    with call.vault() as vault:
        answer = docmem_expand_to_length(vault, request)
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    elif text:
        call.terminal.say("\n\n".join(found.text for found in answer.nodes if found.text.strip()))
    else:
        show_tree(call.terminal, answer.nodes, whole=True)
        call.terminal.notice(f"{len(answer.nodes)} nodes, {answer.tokens} of {tokens} tokens")
    return 0


@command
def search(
    call: Call,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for.", show_default=False)],
    *,
    within: WithinOption = None,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, help="Most results.")] = 10,
) -> int:
    """Search memory by words and by meaning, and show where each result stands in its tree.

    A memory whose summary matches too is named under the summary; several memories of one parent make the parent the
    result. What `@tags` in the question and in the results stand for is named after them.
    """
    asked = " ".join(query)
    with Stages(call.terminal) as stages, call.vault(stages) as vault:
        found = docmem_search(vault, DocmemSearchRequest(query=asked, within=within, limit=limit))
    tell_notices(call.terminal, found.notices)
    if call.terminal.is_json:
        return call.terminal.answer(found)
    for result in found.results:
        _show_result(call.terminal, result)
    for tag, nodes in found.linked.items():
        call.terminal.say(f"@{tag}", style="bold")
        for node in nodes:
            show_text(call.terminal, node)
    if not found.results:
        call.terminal.notice(f"Nothing found in memory for {asked!r}.")
    return 0


@command
def tags(
    call: Call,
    tag: Annotated[str, typer.Argument(metavar="TAG", help="With or without the @.", show_default=False)],
    *,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, help="Most nodes.")] = 20,
) -> int:
    """List the nodes that carry a @tag in their text, and those that are named so."""
    with call.vault() as vault:
        answer = docmem_tags(vault, DocmemTagsRequest(tag=tag, limit=limit))
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    for node in answer.nodes:
        show_text(call.terminal, node)
    if not answer.nodes:
        call.terminal.notice(f"Nothing carries @{tag.lstrip('@').casefold()}.")
    return 0


@command
def find(call: Call, node: NodeArgument) -> int:
    """Print one node with its text; exit code 1, and null with --json, where there is none of that id."""
    with call.vault() as vault:
        answer = operations.docmem_find(vault, operations.DocmemNodeRequest(node=node))
    found, terminal = answer.node, call.terminal
    if terminal.is_json:
        terminal.emit(answer.as_json())
        return int(found is None)
    if found is None:
        terminal.notice(f"There is no memory node {node!r}.")
        return 1
    terminal.say(f"{found}{'  stale' * bool(found.stale)}")
    terminal.say(f"hash    {found.hash[:_SHORT_HASH]}", style="dim")
    terminal.say(f"tokens  {found.token_count}{', readonly' * found.readonly}", style="dim")
    if answer.marks:
        terminal.say("marks   " + _pairs(answer.marks), style="dim")
    if found.text:
        terminal.say(found.text)
    for note in answer.notes:
        show_text(terminal, note)
    return 0


@command
def nodes(
    call: Call,
    *,
    type_: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Their role, such as summary.")] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="The name in their context.")] = None,
    value: Annotated[str | None, typer.Option("--value", metavar="VALUE", help="The value in their context.")] = None,
    within: Annotated[str | None, typer.Option("--in", metavar="NODE", help="Only from this node down.")] = None,
) -> int:
    """List nodes by their context: by role, source or purpose, in all trees or in a part of one.

    Each field that is given has to be equal; those left out may be anything.
    """
    request = operations.DocmemNodesRequest(context_type=type_, context_name=name, context_value=value, within=within)
    with call.vault() as vault:
        answer = operations.docmem_nodes(vault, request)
    if not answer.nodes:
        call.terminal.notice("There are no nodes with that context.")
    return show_nodes(call, answer, answer.nodes)


@command
def root(call: Call, node: NodeArgument) -> int:
    """Print the root of the tree that a node belongs to."""
    with call.vault() as vault:
        return show_node(call, operations.docmem_get_root(vault, operations.DocmemNodeRequest(node=node)))


def show_tree(terminal: Terminal, tree: Sequence[MemoryNode], *, whole: bool = False) -> None:
    """Nodes with their depths: drawn where a person looks, else indented lines."""
    if terminal.out.is_terminal and max((node.depth or 0 for node in tree), default=0) <= _DEEPEST_DRAWN:
        terminal.show(_drawn(terminal, tree, whole=whole))
        return
    for line in _lines(tree, whole=whole):
        sys.stdout.write(f"{terminal.safe(line)}\n")


def _lines(tree: Sequence[MemoryNode], *, whole: bool) -> Iterator[str]:
    for node in tree:
        indent = "  " * (node.depth or 0)
        yield f"{indent}- {node}{'  stale' * bool(node.stale)}"
        if node.text.strip():
            said = node.text.split("\n") if whole else [first_line(node.text)]
            yield from (f"{indent}  {line}".rstrip() for line in said)


def _drawn(terminal: Terminal, tree: Sequence[MemoryNode], *, whole: bool) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    branches: list[Tree] = []
    for node in tree:
        level = node.depth or 0
        style = "bold cyan" if level == 0 else "cyan" if node.context_type == "summary" else "dim"
        label = Text(f"{node}{'  stale' * bool(node.stale)}", style=style)
        if node.text.strip():
            said = terminal.safe(node.text if whole else first_line(node.text))
            label.append(f"\n{said}", style="not bold not dim default")
        del branches[level:]
        branches.append(branches[-1].add(label) if branches else Tree(label, guide_style="dim"))
    return branches[0]


def _show_result(terminal: Terminal, result: FoundMemory) -> None:
    where = " > ".join(str(node) for node in reversed(result.above))
    place = f"{where} > {result.position} of {result.siblings}" if where else "a tree"
    terminal.say(f"{result.score:.2f}  {place}", style="dim")
    show_text(terminal, result)
    if result.covered:
        terminal.say(f"  {'raised by' if result.raised else 'covers'}:", style="dim")
        for node in result.covered:
            show_text(terminal, node, "    ")


def _pairs(marks: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in marks.items())
