"""What every `infold docmem` command shares: the store, how nodes are named and shown, hashes that were read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from infold.errors import UsageError

if TYPE_CHECKING:
    from infold.cli.options import Call
    from infold.cli.terminal import Terminal
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.docmem.place import Place

NodeArgument = Annotated[str, typer.Argument(metavar="NODE", help="The id of a node.", show_default=False)]
ContextOption = Annotated[
    str,
    typer.Option(
        "--context",
        metavar="TYPE:NAME:VALUE",
        help="What the node is for: three fields of at most 24 characters, such as memory:source:walk.",
        show_default=False,
    ),
]
HashOption = Annotated[
    str | None,
    typer.Option(
        "--hash",
        metavar="HASH",
        help="The hash that you read: the change fails where the node is another by now. "
        "Without it the present hash is read in the same call.",
    ),
]
BeforeOption = Annotated[str | None, typer.Option("--before", metavar="NODE", help="Right before this node.")]
AfterOption = Annotated[str | None, typer.Option("--after", metavar="NODE", help="Right after this node.")]
ReadonlyOption = Annotated[
    bool, typer.Option("--readonly", metavar="", help="Its text and context shall never change.")
]

_SUMMARIES_NAMED = 3


@contextmanager
def memory_of(call: Call) -> Iterator[Docmem]:
    """The memory trees of the place, let go of at the end."""
    from infold.docmem.memory import open_docmem

    with closing(open_docmem(call.place().workspace.docmem)) as memory:
        yield memory


def hash_of(memory: Docmem, node_id: str, given: str | None) -> str:
    """The hash that a change expects: the one given, else the present one. Raises NodeNotFound."""
    return memory.get(node_id).hash if given is None else given


def one_place(to: str | None, before: str | None, after: str | None) -> Place:
    """The place that exactly one of three options names. Raises UsageError."""
    from infold.docmem import place

    makers = ((place.child_of, to), (place.before, before), (place.after, after))
    named = [make(target) for make, target in makers if target is not None]
    if len(named) != 1:
        raise UsageError(
            f"{'No place was' if not named else 'Several places were'} given.",
            hint="Give one of the options that name a place: --before, --after or, where --help has it, --to.",
        )
    return named[0]


def show_node(terminal: Terminal, node: Node, *, did: str = "") -> int:
    """One node: its full metadata; with `--json` all its properties. Gives the exit code."""
    if terminal.is_json:
        terminal.emit(node.as_dict())
    else:
        terminal.say(f"{did} {node}" if did else str(node))
    return 0


def tell_summaries(call: Call, memory: Docmem, added: Node) -> None:
    """Makes the summaries that are due where a node was added, as the settings have it, and says so on stderr."""
    from infold.docmem.automatic import condense_at_once

    done = condense_at_once(memory, call.place().params, added.id)
    made = done.made if done is not None else []
    for summary in made[:_SUMMARIES_NAMED]:
        count = len(memory.children(summary.id))
        call.terminal.notice(
            f"{count} older memories are summarised; `infold docmem unsummarise {summary.id}` takes it back."
        )
    if len(made) > _SUMMARIES_NAMED:
        call.terminal.notice(f"{len(made) - _SUMMARIES_NAMED} more summaries were made likewise.")


def show_nodes(terminal: Terminal, nodes: Sequence[Node]) -> int:
    """Nodes, a line each; with `--json` all their properties. Gives the exit code."""
    if terminal.is_json:
        terminal.emit({"nodes": [node.as_dict() for node in nodes]})
    for node in nodes:
        terminal.say(str(node))
    return 0
