"""`infold docmem`: between trees and files, notes, sessions and the inbox."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from infold import lazy
from infold.cli.docmem_shared import (
    AfterOption,
    BeforeOption,
    NodeArgument,
    choice,
    one_place,
    tell_summaries,
)
from infold.cli.options import Call, command
from infold.errors import UsageError
from infold.operations import docmem_exchange as operations
from infold.operations.docmem_search import DocmemPlaceRequest, place_document
from infold.text import counted

if TYPE_CHECKING:
    from infold.docmem.import_routing import Document
    from infold.workspace import Workspace


@command
def import_(
    call: Call,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A file, a note of the vault, or a session (sessions/NAME).", show_default=False
        ),
    ],
    *,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="markdown, text, toml or transcript; else by the file's name."),
    ] = None,
    tree: Annotated[str | None, typer.Option("--as", metavar="NAME", help="The id of the new root.")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="PARENT", help="Below this node, not as a tree.")] = None,
    before: BeforeOption = None,
    after: AfterOption = None,
    again: Annotated[
        bool, typer.Option("--again", metavar="", help="A second tree, where the document was imported before.")
    ] = False,
) -> int:
    """Read a document into a tree: Markdown by headings, lists and sentences, text by sentences, TOML as exported.

    A document that was imported before and has changed since is brought up to date: nodes whose text is the same stay,
    with their notes, marks and summaries. All nodes are readonly, but those of TOML. A transcript (*.jsonl) becomes one
    of the notebook's sessions, and the tree a view of it; with an option it becomes a thread by itself. One import is
    one step: all of it, or nothing.
    """
    place = one_place(to, before, after) if to or before or after else None
    has_options = bool(tree or place or again or form)
    with call.vault() as vault:
        if _is_session(vault.workspace, source) and not (has_options and Path(source).is_file()):
            if has_options:
                raise UsageError(f"{source} is a conversation: its tree stands alone.", hint="Give no options.")
            session = operations.DocmemImportSessionRequest(source=source)
            return _tell_session(call, operations.docmem_import_session(vault, session))
        request = operations.DocmemImportRequest(
            source=source,
            form=None if form is None else choice(form, lazy.docmem.importing.FORMS, "format"),
            root=tree,
            side=place[0] if place else "child",
            target=place[1] if place else None,
            again=again,
        )
        done = operations.docmem_import(vault, request)
    changes = f"{done.nodes:,} new, {done.removed:,} gone, {done.kept:,} as they were"
    if done.new:
        said = f"imported {counted(done.nodes, 'node')}: {done.node}"
    elif done.nodes or done.removed:
        said = f"brought up to date, {changes}: {done.node}"
    else:
        said = f"imported before, nothing done: {done.node}"
    call.terminal.answer(done, said)
    tell_summaries(call.terminal, done.summaries)
    return 0


@command
def export(
    call: Call,
    node: NodeArgument,
    *,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="markdown, toml or jsonl; else by the file's name."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it there, not to stdout.")] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Write over a file that is there.")] = False,
) -> int:
    """Write a tree, or a part of one: as the document it reads as, as TOML, as a line of JSON a node.

    Markdown is what is below the node. TOML is the node too, with all that makes an equal tree when it is imported.
    """
    wanted = choice(
        form or lazy.docmem.exporting.form_of(out.name if out else ""),
        get_args(lazy.docmem.exporting.ExportForm),
        "format",
    )
    with call.vault() as vault:
        answer = operations.docmem_export(vault, operations.DocmemExportRequest(node=node, form=wanted))
    most = lazy.docmem.importing.MAX_BYTES
    if wanted == "toml" and len(answer.text.encode()) > most:
        call.terminal.notice(
            f"! more than the {most:,} bytes that `infold docmem import` reads at once: export its parts, or keep it "
            "by `infold docmem backup`",
            style="yellow",
        )
    if out is not None:
        _write(out, answer.text, force=force)
    if call.terminal.is_json:
        written = {"file": str(out.absolute())} if out else {"text": answer.text}
        call.terminal.emit({"node": node, "format": wanted, **written})
    elif out is not None:
        call.terminal.say(f"wrote {out}")
    else:
        sys.stdout.write(answer.text)
    return 0


@command
def to_inbox(
    call: Call,
    node: NodeArgument,
    *,
    again: Annotated[
        bool, typer.Option("--again", metavar="", help="Also where the same texts were sent before.")
    ] = False,
) -> int:
    """Send a node and what is below it to the vault's inbox, as paragraphs, for `infold integrate` to fold in.

    A comment above them says which node they are from. Summaries are left out where their memories are sent. The same
    texts of the same node are sent once.
    """
    with call.vault() as vault:
        sent = operations.docmem_to_inbox(vault, operations.DocmemToInboxRequest(node=node, again=again))
    if sent.sent:
        said = f"{counted(sent.paragraphs, 'paragraph')} in {sent.inbox}, from {sent.node}"
    else:
        said = f"sent on {sent.day} already, nothing done: {sent.node}"
        call.terminal.notice("--again sends it once more.")
    return call.terminal.answer(sent, said)


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
    document = _document(file)
    with call.vault() as vault:
        answer = place_document(vault, document, DocmemPlaceRequest(text=document.text, apply=apply))
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    said = f"below {answer.target}" if answer.target is not None else "in a new tree"
    call.terminal.say(f"{answer.score:.2f}  {said}")
    call.terminal.say(f"      {answer.reason}", style="dim")
    if answer.imported is not None:
        call.terminal.say(f"imported {answer.imported}")
    return 0


def _is_session(workspace: Workspace, source: str) -> bool:
    """Whether a transcript is meant: by its suffix, or by a name as sessions have it; a note of that name is none."""
    if source.endswith(".jsonl"):
        return True
    is_file = Path(source).is_file() or lazy.docmem.importing.note_named(workspace, source) is not None
    return source.startswith("sessions/") and not is_file


def _tell_session(call: Call, tree: operations.DocmemImportSessionAnswer) -> int:
    call.terminal.answer(tree, f"{tree.added} of {tree.turns} turns are new: {tree.node}")
    if tree.malformed:
        call.terminal.notice(
            f"! {tree.session}: lines that cannot be read: {len(tree.malformed)}, the first is {tree.malformed[0]}",
            style="yellow",
        )
    return 0


def _write(file: Path, text: str, *, force: bool) -> None:
    if file.exists() and not force:
        raise UsageError(f"{file} is there already.", hint="Name another file, or add --force to write over it.")
    lazy.durable.files.Disk().write_whole(file, text.encode(), lazy.durable.files.SHARED)


def _document(file: Path) -> Document:
    if str(file) != "-":
        return lazy.docmem.import_routing.read_document(file)
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UsageError("What came on stdin is not UTF-8.") from error
    if not text.strip():
        raise UsageError("There is no text on stdin.", hint="Name a file, or give the text in a pipe.")
    return lazy.docmem.import_routing.Document("stdin", text)
