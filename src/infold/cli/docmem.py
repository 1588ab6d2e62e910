"""`infold docmem`: trees and nodes made and changed."""

from __future__ import annotations

from typing import Annotated

import typer

from infold.cli.docmem_place import (
    AfterOption,
    BeforeOption,
    ContextOption,
    HashOption,
    NodeArgument,
    ReadonlyOption,
    hash_of,
    memory_of,
    one_place,
    show_node,
    tell_summaries,
)
from infold.cli.given_text import FileOption, TextArgument, given_line
from infold.cli.options import Call, command
from infold.errors import UsageError

ParentArgument = Annotated[str, typer.Argument(metavar="PARENT", help="The id of a node.", show_default=False)]


@command
def create(
    call: Call,
    tree: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The id of the root; else eight random characters.")
    ] = None,
    *,
    context: ContextOption,
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="The text of the root itself.")] = "",
    readonly: ReadonlyOption = False,
) -> int:
    """Begin a tree. Its root stands for one thing: a project, a book, a chat.

    The usual context is root:purpose:project, or what the tree is for in the place of `project`.
    """
    from infold.docmem.node import Context

    with memory_of(call) as memory:
        node = memory.create_root(text, Context.parse(context), root_id=tree, readonly=readonly)
    return show_node(call.terminal, node, did="created")


@command
def append(
    call: Call,
    parent: ParentArgument,
    text: TextArgument = None,
    *,
    context: ContextOption,
    file: FileOption = None,
    readonly: ReadonlyOption = False,
) -> int:
    """Add a node as the last child of another."""
    from infold.docmem.node import Context

    with memory_of(call) as memory:
        node = memory.append(parent, given_line(text, file), Context.parse(context), readonly=readonly)
        show_node(call.terminal, node, did="added")
        tell_summaries(call, memory, node)
    return 0


@command
def insert(
    call: Call,
    text: TextArgument = None,
    *,
    context: ContextOption,
    before: BeforeOption = None,
    after: AfterOption = None,
    file: FileOption = None,
    readonly: ReadonlyOption = False,
) -> int:
    """Add a node right before or right after another, below the same parent."""
    from infold.docmem.node import Context

    place = one_place(None, before, after)
    with memory_of(call) as memory:
        put = memory.insert_before if place.side == "before" else memory.insert_after
        node = put(place.target, given_line(text, file), Context.parse(context), readonly=readonly)
    return show_node(call.terminal, node, did="added")


@command
def note(
    call: Call,
    node: NodeArgument,
    text: TextArgument = None,
    *,
    file: FileOption = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The name in the note's context.")] = "",
    value: Annotated[str, typer.Option("--value", metavar="VALUE", help="The value in the note's context.")] = "",
) -> int:
    """Put a note beside a node: what there is to say about a node that is readonly.

    It comes after the node, behind the notes that it has already.
    """
    with memory_of(call) as memory:
        made = memory.note_beside(node, given_line(text, file), name=name, value=value)
    return show_node(call.terminal, made, did="noted")


@command
def edit(
    call: Call,
    node: NodeArgument,
    text: TextArgument = None,
    *,
    file: FileOption = None,
    expected: HashOption = None,
) -> int:
    """Give a node another text. What it said before stays in its history."""
    with memory_of(call) as memory:
        changed = memory.update_content(node, given_line(text, file), hash_of(memory, node, expected))
    return show_node(call.terminal, changed, did="changed")


@command
def context(
    call: Call,
    node: NodeArgument,
    context: Annotated[
        str | None, typer.Argument(metavar="TYPE:NAME:VALUE", help="All three fields.", show_default=False)
    ] = None,
    *,
    expected: HashOption = None,
) -> int:
    """Give a node another context. What it was before stays in its history."""
    from infold.docmem.node import Context

    if context is None:
        raise UsageError("There is no context to give.", hint="Write it as TYPE:NAME:VALUE; a field may be empty.")
    with memory_of(call) as memory:
        changed = memory.update_context(node, Context.parse(context), hash_of(memory, node, expected))
    return show_node(call.terminal, changed, did="changed")
