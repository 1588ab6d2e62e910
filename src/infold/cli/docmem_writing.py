"""`infold docmem`: nodes made, changed, moved, copied, deleted and flagged."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from infold import lazy
from infold.cli.docmem_shared import (
    AfterOption,
    BeforeOption,
    ContextOption,
    HashOption,
    NodeArgument,
    ReadonlyOption,
    ToOption,
    context_fields,
    hash_of,
    one_place,
    show_node,
    tell_summaries,
)
from infold.cli.options import Call, command
from infold.cli.text_input import FileOption, TextArgument, line_input, text_input
from infold.errors import UsageError
from infold.operations import docmem_marks
from infold.operations import docmem_writing as operations
from infold.text import counted

ParentArgument = Annotated[str, typer.Argument(metavar="PARENT", help="The id of a node.", show_default=False)]
_FLAG = "The flag: priority (a number, higher is earlier), sticky (the name of a group), or one of your own."
_JSONL_HINT = 'Each line is {"text": "…", "context": "memory:source:walk"}; the context may come from --context.'


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
    request = operations.DocmemCreateRequest(root=tree, text=text, readonly=readonly, **context_fields(context))
    with call.vault() as vault:
        return show_node(call, operations.docmem_create(vault, request), did="created")


@command
def append(
    call: Call,
    parent: ParentArgument,
    text: TextArgument = None,
    *,
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="TYPE:NAME:VALUE",
            help="What the node is for: three fields of at most 24 characters, such as memory:source:walk.",
        ),
    ] = None,
    file: FileOption = None,
    readonly: ReadonlyOption = False,
    lines: Annotated[bool, typer.Option("--lines", metavar="", help="Each line of the text is a node.")] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", metavar="", help="Each line is a JSON object with text, context, readonly.")
    ] = False,
) -> int:
    """Add a node as the last child of another; with --lines or --jsonl many, all of them or none.

    Where memories have gathered, older ones may be folded under a summary: their texts stay, their hashes, which name
    the parent, are new ones. The JSON answer has them.
    """
    if not (lines or jsonl):
        if context is None:
            raise UsageError("There is no context.", hint="Add --context TYPE:NAME:VALUE.")
        fields = context_fields(context)
        one = operations.DocmemAppendRequest(parent=parent, text=line_input(text, file), readonly=readonly, **fields)
        with call.vault() as vault:
            added = operations.docmem_append(vault, one)
        return show_node(call, added, did="added", summaries=added.summaries)
    given = text_input(text, file).splitlines() if jsonl else text_input(text, file).split("\n")
    wanted = [_of_json(line, number, context) if jsonl else _of_line(line, context)
              for number, line in enumerate(given, start=1) if line.strip()]  # fmt: skip
    many = operations.DocmemAppendAllRequest(
        parent=parent,
        nodes=tuple(operations.NodeToAdd(**{"readonly": readonly, **node}) for node in wanted),
    )
    with call.vault() as vault:
        done = operations.docmem_append_all(vault, many)
    call.terminal.answer(done, *(f"added {node}" for node in done.nodes))
    tell_summaries(call.terminal, done.summaries)
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
    side, target = one_place(None, before, after)
    put = operations.docmem_insert_before if side == "before" else operations.docmem_insert_after
    request = operations.DocmemInsertRequest(
        target=target, text=line_input(text, file), readonly=readonly, **context_fields(context)
    )
    with call.vault() as vault:
        added = put(vault, request)
    return show_node(call, added, did="added", summaries=added.summaries)


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

    It comes after the node, behind the notes that it has already, and goes where the node goes.
    """
    request = operations.DocmemNoteRequest(node=node, text=line_input(text, file), name=name, value=value)
    with call.vault() as vault:
        return show_node(call, operations.docmem_note(vault, request), did="noted")


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
    words = line_input(text, file)
    with call.vault() as vault:
        request = operations.DocmemUpdateContentRequest(
            node=node, text=words, expected_hash=hash_of(vault, node, expected)
        )
        changed = operations.docmem_update_content(vault, request)
    return show_node(call, changed, did="changed", summaries=changed.summaries)


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
    if context is None:
        raise UsageError("There is no context to give.", hint="Write it as TYPE:NAME:VALUE; a field may be empty.")
    with call.vault() as vault:
        request = operations.DocmemUpdateContextRequest(
            node=node, expected_hash=hash_of(vault, node, expected), **context_fields(context)
        )
        return show_node(call, operations.docmem_update_context(vault, request), did="changed")


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
    """Move a node, with all below it and its notes, within its tree: --to, --before or --after another."""
    side, target = one_place(to, before, after)
    with call.vault() as vault:
        request = operations.DocmemMoveRequest(
            node=node, side=side, target=target, expected_hash=hash_of(vault, node, expected)
        )
        moved = operations.docmem_move(vault, request)
    return show_node(call, moved, did="moved", summaries=moved.summaries)


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
    side, target = one_place(to, before, after)
    with call.vault() as vault:
        request = operations.DocmemCopyRequest(node=node, side=side, target=target)
        made = operations.docmem_copy(vault, request)
    return show_node(call, made, did="copied", summaries=made.summaries)


@command
def delete(
    call: Call,
    node: NodeArgument,
    *,
    expected: HashOption = None,
    for_good: Annotated[
        bool, typer.Option("--for-good", metavar="", help="Keep nothing of it: it cannot be restored.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask, however many nodes go.")] = False,
) -> int:
    """Delete a node with all that is below it. `infold docmem restore` brings it back, unless it went --for-good.

    Summaries that the librarian made of it lose those words. More than one node, and what goes for good, is asked about
    on a terminal, and needs --yes elsewhere.
    """
    with call.vault() as vault:
        seen = vault.docmem.get(node)
        size = vault.docmem.size(node)
        what = f"{counted(size, 'node')}{' for good' * for_good}: {seen}"
        is_much = size > 1 or for_good
        if is_much and not call.terminal.agrees(f"This would delete {what}", f"Delete {what}?", yes=yes):
            return 1
        request = operations.DocmemDeleteRequest(node=node, expected_hash=expected or seen.hash, for_good=for_good)
        done = operations.docmem_delete(vault, request)
    return call.terminal.answer(done, f"deleted {counted(done.deleted, 'node')}: {seen}")


@command
def mark(
    call: Call,
    node: NodeArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help=_FLAG, show_default=False)],
    value: Annotated[str, typer.Argument(metavar="[VALUE]", help="Its value.")] = "1",
) -> int:
    """Flag a node: what comes first in an expansion, what sticks together, or what you like."""
    if name == lazy.docmem.budgeted_expansion.PRIORITY and not _is_number(value):
        raise UsageError(f"A priority is a number, not {value!r}.", hint="A node without the flag counts as 0.")
    with call.vault() as vault:
        request = docmem_marks.DocmemMarkRequest(node=node, name=name, value=value)
        return _show_marks(call, docmem_marks.docmem_mark(vault, request))


@command
def unmark(
    call: Call,
    node: NodeArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The flag.", show_default=False)],
) -> int:
    """Take a flag away from a node; one that is not there is fine."""
    with call.vault() as vault:
        request = docmem_marks.DocmemUnmarkRequest(node=node, name=name)
        return _show_marks(call, docmem_marks.docmem_unmark(vault, request))


def _of_line(line: str, context: str | None) -> dict[str, Any]:
    if context is None:
        raise UsageError("There is no context for the lines.", hint="Add --context TYPE:NAME:VALUE.")
    return {"text": line.rstrip("\r"), **context_fields(context)}


def _of_json(line: str, number: int, context: str | None) -> dict[str, Any]:
    """What a line of JSON says of a node. Raises UsageError naming the line."""
    try:
        values = json.loads(line)
    except ValueError as error:
        raise UsageError(f"Line {number} is no JSON: {error}.", hint=_JSONL_HINT) from error
    if not isinstance(values, dict) or not isinstance(values.get("text"), str):
        raise UsageError(f"Line {number} has no text.", hint=_JSONL_HINT)
    if more := sorted(values.keys() - {"text", "context", "readonly"}):
        raise UsageError(f"Line {number} has {more[0]!r}, which is none of a node.", hint=_JSONL_HINT)
    written, readonly = values.get("context", context), values.get("readonly", 0)
    if not isinstance(written, str) or readonly not in (0, 1):
        raise UsageError(f"Line {number} has no context, or one that is none.", hint=_JSONL_HINT)
    kept = {"readonly": bool(readonly)} if "readonly" in values else {}
    return {"text": values["text"], **context_fields(written), **kept}


def _show_marks(call: Call, answer: docmem_marks.DocmemMarksAnswer) -> int:
    return call.terminal.answer(
        answer, ", ".join(f"{name}={value}" for name, value in answer.marks.items()) or "no marks"
    )


def _is_number(value: str) -> bool:
    try:
        return float(value) == float(value)
    except ValueError:
        return False
