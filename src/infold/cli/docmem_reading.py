"""`infold docmem`: trees read, as an outline, as a document, by their parts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final, get_args

import typer

from infold.cli.docmem_place import NodeArgument, memory_of, show_node, show_nodes
from infold.cli.options import Call, command
from infold.errors import UsageError

if TYPE_CHECKING:
    from rich.tree import Tree

    from infold.cli.terminal import Terminal
    from infold.docmem.node import Node

_DEEPEST_DRAWN: Final = 20  # levels: below that, lines of a terminal hold nothing but the drawing


@command
def roots(call: Call) -> int:
    """List the trees, oldest first: the root of each, and how many nodes are below it."""
    with memory_of(call) as memory:
        found = [(root, memory.size(root.id)) for root in memory.roots()]
    if call.terminal.is_json:
        call.terminal.emit({"roots": [{**root.as_dict(), "nodes": nodes} for root, nodes in found]})
        return 0
    if not found:
        call.terminal.notice("There are no trees. `infold docmem create` begins one, `infold docmem import` reads one.")
    for root, nodes in found:
        call.terminal.say(f"{root}  {nodes:,} node{'s' * (nodes != 1)}")
    return 0


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
    """Show a node and what is below it, with texts: as a tree on a terminal, as plain lines in a pipe."""
    with memory_of(call) as memory:
        tree = memory.subtree(node)
        flags = memory.marks_of(node)
    tree = [(below, level) for below, level in tree if depth is None or level <= depth]
    if call.terminal.is_json:
        nodes = [{**below.as_dict(), "depth": level} for below, level in tree]
        call.terminal.emit({"marks": flags, "nodes": nodes})
        return 0
    show_tree(call.terminal, tree, whole=whole)
    if flags:
        call.terminal.say("marks: " + ", ".join(f"{name}={value}" for name, value in flags.items()), style="dim")
    return 0


@command
def structure(call: Call, node: NodeArgument) -> int:
    """Print the tree from a node down without its texts: a line a node, two spaces of indent a level."""
    with memory_of(call) as memory:
        outline = memory.structure(node)
    if call.terminal.is_json:
        call.terminal.emit({"structure": outline})
    else:
        sys.stdout.write(f"{outline}\n")
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
    from infold.docmem.focus import Summaries

    modes: tuple[Summaries, ...] = get_args(Summaries)
    known = next((name for name in modes if name == mode), None)
    if known is None:
        raise UsageError(f"There is no mode {mode!r}.", hint=f"The modes are {', '.join(modes)}.")
    with memory_of(call) as memory:
        document = memory.serialise(node, known)
    if call.terminal.is_json:
        call.terminal.emit({"text": document})
    elif document:
        sys.stdout.write(f"{call.terminal.safe(document)}\n")
    return 0


@command
def find(call: Call, node: NodeArgument) -> int:
    """Print one node with its text; exit code 1, and null with --json, where there is none of that id."""
    with memory_of(call) as memory:
        found = memory.find(node)
    if found is None:
        if call.terminal.is_json:
            sys.stdout.write("null\n")
        else:
            call.terminal.notice(f"There is no memory node {node!r}.")
        return 1
    if call.terminal.is_json:
        return show_node(call.terminal, found)
    call.terminal.say(str(found))
    call.terminal.say(f"hash    {found.hash}", style="dim")
    call.terminal.say(f"tokens  {found.token_count}{', readonly' if found.readonly else ''}", style="dim")
    if found.text:
        call.terminal.say(found.text)
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
    with memory_of(call) as memory:
        found = memory.with_context(type_, name, value, within=within)
    if not found:
        call.terminal.notice("There are no nodes with that context.")
    return show_nodes(call.terminal, found)


@command
def root(call: Call, node: NodeArgument) -> int:
    """Print the root of the tree that a node belongs to."""
    with memory_of(call) as memory:
        found = memory.get_root(node)
    return show_node(call.terminal, found)


@command
def history(call: Call, node: NodeArgument) -> int:
    """List what a node was before each change, oldest first. `infold docmem restore` goes back to one."""
    with memory_of(call) as memory:
        versions = memory.versions(node)
    if call.terminal.is_json:
        call.terminal.emit({"node": node, "versions": [asdict(version) for version in versions]})
        return 0
    if not versions:
        call.terminal.say(f"{node} was never changed.")
    for version in versions:
        call.terminal.say(f"{version.version}  {version.context} until {version.operation} {version.replaced_at}")
        call.terminal.say(f"   {_first_line(version.text)}", style="dim")
    return 0


def show_tree(terminal: Terminal, tree: Sequence[tuple[Node, int]], *, whole: bool = False) -> None:
    """Nodes with their depths: drawn where a person looks, else indented lines."""
    if terminal.out.is_terminal and max((level for _, level in tree), default=0) <= _DEEPEST_DRAWN:
        terminal.show(_drawn(terminal, tree, whole=whole))
        return
    for line in _lines(tree, whole=whole):
        sys.stdout.write(f"{terminal.safe(line)}\n")


def _lines(tree: Sequence[tuple[Node, int]], *, whole: bool) -> Iterator[str]:
    for node, level in tree:
        yield f"{'  ' * level}- {node}"
        if node.text.strip():
            said = node.text.split("\n") if whole else [_first_line(node.text)]
            yield from (f"{'  ' * level}  {line}".rstrip() for line in said)


def _drawn(terminal: Terminal, tree: Sequence[tuple[Node, int]], *, whole: bool) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    branches: list[Tree] = []
    for node, level in tree:
        label = Text(str(node), style="bold cyan" if level == 0 else "cyan" if node.is_summary else "dim")
        if node.text.strip():
            said = terminal.safe(node.text if whole else _first_line(node.text))
            label.append(f"\n{said}", style="not bold not dim default")
        del branches[level:]
        branches.append(branches[-1].add(label) if branches else Tree(label, guide_style="dim"))
    return branches[0]


def _first_line(text: str) -> str:
    """The first line with something on it, and a sign that there is more."""
    lines = [line.strip() for line in islice((line for line in text.splitlines() if line.strip()), 2)]
    return "" if not lines else f"{lines[0]} …" if len(lines) > 1 else lines[0]
