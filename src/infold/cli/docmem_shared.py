"""What every `infold docmem` command shares: how nodes, hashes and places are named, and how answers are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from infold import lazy
from infold.errors import UsageError

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.cli.options import Call
    from infold.cli.terminal import Terminal
    from infold.docmem.place import Side
    from infold.operations.contract import Message
    from infold.operations.docmem import MemoryNode
    from infold.operations.docmem_writing import MadeSummary

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
        help="The hash that you read, or its first 12 characters: the change fails where the node is another by now. "
        "Without it the present hash is read in the same call.",
    ),
]
ToOption = Annotated[str | None, typer.Option("--to", metavar="PARENT", help="As the last child of this node.")]
BeforeOption = Annotated[str | None, typer.Option("--before", metavar="NODE", help="Right before this node.")]
AfterOption = Annotated[str | None, typer.Option("--after", metavar="NODE", help="Right after this node.")]
ReadonlyOption = Annotated[
    bool, typer.Option("--readonly", metavar="", help="Its text and context shall never change.")
]

_SUMMARIES_NAMED: Final = 3
_SHOWN_CHARACTERS: Final = 200


def hash_of(vault: OpenVault, node_id: str, given: str | None) -> str:
    """The hash that a change expects: the one given, else the present one. Raises NodeNotFound."""
    return vault.docmem.get(node_id).hash if given is None else given


def context_fields(written: str) -> dict[str, str]:
    """The context of a request, from TYPE:NAME:VALUE. Raises ContextFieldMissing, ContextFieldTooLong."""
    context = lazy.docmem.node.Context.parse(written)
    return {"context_type": context.type, "context_name": context.name, "context_value": context.value}


def one_place(to: str | None, before: str | None, after: str | None) -> tuple[Side, str]:
    """The side and the target that exactly one of three options names. Raises UsageError."""
    named: list[tuple[Side, str | None]] = [("child", to), ("before", before), ("after", after)]
    given = [(side, target) for side, target in named if target is not None]
    if len(given) != 1:
        raise UsageError(
            f"{'No place was' if not given else 'Several places were'} given.",
            hint="Give one of the options that name a place: --before, --after or, where --help has it, --to.",
        )
    return given[0]


def choice(given: str, known: Sequence[str], what: str) -> Any:
    """The word that was given, where it is one of those known. Raises UsageError."""
    if given not in known:
        raise UsageError(f"There is no {what} {given!r}.", hint=f"Take one of {', '.join(known)}.")
    return given


def show_node(call: Call, node: MemoryNode, *, did: str = "", summaries: Iterable[MadeSummary] = ()) -> int:
    """One node: its full metadata; with `--json` the answer. Says what was summarised. Gives the exit code."""
    call.terminal.answer(node, f"{did} {node}" if did else str(node))
    tell_summaries(call.terminal, summaries)
    return 0


def show_nodes(call: Call, answer: Message, nodes: Iterable[MemoryNode]) -> int:
    """Nodes, a line each; with `--json` the answer. Gives the exit code."""
    return call.terminal.answer(answer, *(str(node) for node in nodes))


def show_text(terminal: Terminal, node: MemoryNode, indent: str = "") -> None:
    """A node in two lines: its full metadata, the beginning of its text."""
    terminal.say(f"{indent}{node}", style="cyan")
    text = " ".join(node.text.split())
    if text:
        terminal.say(f"{indent}  {text[:_SHOWN_CHARACTERS]}{' …' if len(text) > _SHOWN_CHARACTERS else ''}")


def tell_summaries(terminal: Terminal, summaries: Iterable[MadeSummary]) -> None:
    """Says on stderr which summaries were made by themselves, and how they are taken back."""
    made = [summary for summary in summaries if not summary.renewed]
    for summary in made[:_SUMMARIES_NAMED]:
        back = f"`infold docmem unsummarise {summary.id}` takes it back"
        terminal.notice(f"{len(summary.nodes)} older memories are summarised; {back}.")
    if len(made) > _SUMMARIES_NAMED:
        terminal.notice(f"{len(made) - _SUMMARIES_NAMED} more summaries were made likewise.")


def tell_notices(terminal: Terminal, notices: Iterable[str]) -> None:
    """Says on stderr how far an answer can be relied on."""
    for notice in notices:
        terminal.notice(notice)
