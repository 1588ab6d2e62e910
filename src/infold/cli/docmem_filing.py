"""`infold docmem`: what the librarian does for memory (summaries, the place of a document), and flags of nodes."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.docmem_memory import searching, show_text
from infold.cli.docmem_place import NodeArgument, memory_of
from infold.cli.options import Call, command
from infold.errors import UsageError

if TYPE_CHECKING:
    from infold.docmem.classifying import Proposal
    from infold.docmem.condensing import Condensed, Planned
    from infold.docmem.filing import Document
    from infold.docmem.memory import Docmem
    from infold.librarian.spend import Usage
    from infold.locate import LocatedWorkspace
    from infold.search.query.searcher import Searcher

_FLAG = "The flag: priority (a number, higher is earlier), sticky (the name of a group), or one of your own."


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
    from infold.docmem.condensing import plan

    place = call.place()
    with memory_of(call) as memory:
        if dry_run:
            return _show_plan(call, place, plan(memory, place.params, root))
        done, usage = asyncio.run(_condensed(call, place, memory, root))
    if call.terminal.is_json:
        made, renewed = ([node.as_dict() for node in nodes] for nodes in (done.made, done.renewed))
        usage_json = usage.model_dump()
        call.terminal.emit({"made": [*made], "renewed": [*renewed], "left": done.left, "usage": usage_json})
        return 0
    for node in (*done.made, *done.renewed):
        show_text(call, node)
    for node_id, reason in done.left.items():
        call.terminal.notice(f"! {node_id}: {reason}", style="yellow")
    call.terminal.notice(f"{len(done.made)} summaries made, {len(done.renewed)} renewed; {usage}.")
    return 0


@command
def place(
    call: Call,
    file: Annotated[
        Path, typer.Argument(metavar="FILE|-", help="A document or a transcript; - reads stdin.", show_default=False)
    ],
    *,
    apply: Annotated[bool, typer.Option("--apply", metavar="", help="Import it there.")] = False,
) -> int:
    """Say which tree, and which part of it, a document or thread belongs to; or that it needs a new one.

    The librarian decides, by what a search finds of it in each tree and by what the trees are about.
    """
    from infold.docmem.filing import import_document

    where = call.place()
    document = _document(file)
    with memory_of(call) as memory:
        with searching(call) as searcher:
            proposal = asyncio.run(_proposed(where, memory, searcher, document))
        node = import_document(memory, where.workspace, document, proposal.target) if apply else None
    if call.terminal.is_json:
        call.terminal.emit({**proposal.as_json(), "imported": node.as_dict() if node is not None else None})
        return 0
    said = f"below {proposal.target}" if proposal.target is not None else "in a new tree"
    call.terminal.say(f"{proposal.home.score:.2f}  {said}")
    call.terminal.say(f"      {proposal.home.reason}", style="dim")
    if node is not None:
        call.terminal.say(f"imported {node}")
    return 0


@command
def mark(
    call: Call,
    node: NodeArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help=_FLAG, show_default=False)],
    value: Annotated[str, typer.Argument(metavar="[VALUE]", help="Its value.")] = "1",
) -> int:
    """Flag a node: what comes first in an expansion, what sticks together, or what you like."""
    from infold.docmem.focus import PRIORITY

    if name == PRIORITY and not _is_number(value):
        raise UsageError(f"A priority is a number, not {value!r}.", hint="A node without the flag counts as 0.")
    with memory_of(call) as memory:
        memory.mark(node, name, value)
        return _show_marks(call, node, memory.marks_of(node))


@command
def unmark(
    call: Call,
    node: NodeArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The flag.", show_default=False)],
) -> int:
    """Take a flag away from a node; one that is not there is fine."""
    with memory_of(call) as memory:
        memory.unmark(node, name)
        return _show_marks(call, node, memory.marks_of(node))


async def _condensed(call: Call, place: LocatedWorkspace, memory: Docmem, root: str | None) -> tuple[Condensed, Usage]:
    from infold.cli.progress import Stages
    from infold.docmem.condensing import condense as condense_memory
    from infold.environment import Environment
    from infold.inbox.steps import open_steps

    with Stages(call.terminal) as stages:
        async with open_steps(place.workspace, Environment()) as steps:
            done = await condense_memory(memory, steps.librarian, place.params, root, stages)
            return done, steps.usage


async def _proposed(place: LocatedWorkspace, memory: Docmem, searcher: Searcher, document: Document) -> Proposal:
    from infold.docmem.classifying import propose
    from infold.environment import Environment
    from infold.inbox.steps import open_steps

    async with open_steps(place.workspace, Environment()) as steps:
        return await propose(memory, steps.librarian, searcher, document.name, document.text)


def _document(file: Path) -> Document:
    from infold.docmem.filing import Document, read_document

    if str(file) != "-":
        return read_document(file)
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UsageError("What came on stdin is not UTF-8.") from error
    if not text.strip():
        raise UsageError("There is no text on stdin.", hint="Name a file, or give the text in a pipe.")
    return Document("stdin", text)


def _show_plan(call: Call, place: LocatedWorkspace, planned: Planned) -> int:
    from infold.librarian.estimate import estimate

    runs = [
        {
            "parent": due.parent_id,
            "summary": due.summary.id if due.summary else None,
            "nodes": [node.id for node in due.nodes],
        }
        for due in planned.due
    ]
    is_paid = place.params.librarian.kind == "model"
    cost = estimate((), planned.texts_to_read(), place.params) if is_paid else None
    if call.terminal.is_json:
        call.terminal.emit({"due": runs, "estimate": cost.model_dump(mode="json") if cost else None})
        return 0
    for due in planned.due:
        what = f"renew {due.summary.id}" if due.summary else f"{len(due.nodes)} below {due.parent_id}"
        call.terminal.say(f"{what}: {due.nodes[0].id} … {due.nodes[-1].id}")
    call.terminal.notice(f"{len(planned.due)} summaries are due" + (f"; {cost}." if cost else "."))
    return 0


def _show_marks(call: Call, node_id: str, flags: dict[str, str]) -> int:
    if call.terminal.is_json:
        call.terminal.emit({"node": node_id, "marks": flags})
    else:
        call.terminal.say(", ".join(f"{name}={value}" for name, value in flags.items()) or "no marks")
    return 0


def _is_number(value: str) -> bool:
    try:
        return float(value) == float(value)
    except ValueError:
        return False
