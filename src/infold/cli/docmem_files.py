"""`infold docmem import`, `export`, `to-inbox`: between trees and files, notes, sessions and the inbox."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from infold.cli.docmem_place import AfterOption, BeforeOption, NodeArgument, memory_of, one_place, tell_summaries
from infold.cli.options import Call, command
from infold.errors import UsageError

if TYPE_CHECKING:
    from infold.docmem.chats import ChatTree
    from infold.docmem.importing import Imported
    from infold.docmem.memory import Docmem
    from infold.docmem.place import Place
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
        str | None, typer.Option("--format", metavar="FORMAT", help="markdown, text or toml; else by the file's name.")
    ] = None,
    tree: Annotated[str | None, typer.Option("--as", metavar="NAME", help="The id of the new root.")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="PARENT", help="Below this node, not as a tree.")] = None,
    before: BeforeOption = None,
    after: AfterOption = None,
    again: Annotated[
        bool, typer.Option("--again", metavar="", help="Also where the same text was imported from there before.")
    ] = False,
) -> int:
    """Read a document into a tree: Markdown by headings, text by paragraphs and sentences, TOML as it was exported.

    All nodes are readonly, but those of TOML. A transcript (*.jsonl) becomes one of the notebook's sessions, and the
    tree a view of it: imported again, it has what was said since. One import is one step: all of it, or nothing.
    """
    workspace = call.place().workspace
    place = one_place(to, before, after) if to or before or after else None
    if tree is not None and place is not None:
        raise UsageError("--as names a tree of its own.", hint="Leave it out, or leave out the place.")
    with memory_of(call) as memory:
        if _is_session(workspace, source):
            if tree or place or again or form:
                raise UsageError(f"{source} is a conversation: its tree stands alone.", hint="Give no options.")
            return _tell_chat(call, _import_chat(memory, workspace, source))
        done = _import(memory, workspace, source, form, place, tree, again=again)
        if call.terminal.is_json:
            call.terminal.emit({"new": done.is_new, "nodes": done.nodes, "node": done.node.as_dict()})
        elif done.is_new:
            call.terminal.say(f"imported {done.nodes:,} node{'s' * (done.nodes != 1)}: {done.node}")
        else:
            call.terminal.say(f"imported before, nothing done: {done.node}")
            call.terminal.notice("--again imports it once more.")
        if done.is_new:
            tell_summaries(call, memory, done.node)
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
    from infold.docmem import exporting
    from infold.docmem.importing import MAX_BYTES

    wanted = form or exporting.form_of(out.name if out else "")
    if wanted not in get_args(exporting.Form):
        raise UsageError(f"There is no format {wanted!r}.", hint=f"Take one of {', '.join(exporting.FORMS)}.")
    with memory_of(call) as memory:
        text = exporting.export_text(memory, node, wanted)  # type: ignore[arg-type] # checked above
    if wanted == "toml" and len(text.encode()) > MAX_BYTES:
        call.terminal.notice(
            f"! more than the {MAX_BYTES:,} bytes that `infold docmem import` reads at once: export its parts, or keep "
            "it by `infold docmem backup`",
            style="yellow",
        )
    if out is not None:
        _write(out, text, force=force)
    if call.terminal.is_json:
        written = {"file": str(out.absolute())} if out else {"text": text}
        call.terminal.emit({"node": node, "format": wanted, **written})
    elif out is not None:
        call.terminal.say(f"wrote {out}")
    else:
        sys.stdout.write(text)
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
    from infold.docmem.to_inbox import send_to_inbox

    workspace = call.place().workspace
    with memory_of(call) as memory:
        sent = send_to_inbox(memory, workspace, node, again=again)
    if call.terminal.is_json:
        call.terminal.emit(
            {
                "sent": sent.is_new,
                "paragraphs": sent.paragraphs,
                "inbox": sent.inbox,
                "day": sent.day,
                "node": sent.node.as_dict(),
            }
        )
    elif sent.is_new:
        call.terminal.say(
            f"{sent.paragraphs} paragraph{'s' * (sent.paragraphs != 1)} in {sent.inbox}, from {sent.node}"
        )
    else:
        call.terminal.say(f"sent on {sent.day} already, nothing done: {sent.node}")
        call.terminal.notice("--again sends it once more.")
    return 0


def _is_session(workspace: Workspace, source: str) -> bool:
    """Whether a transcript is meant: by its suffix, or by a name as sessions have it; a note of that name is none."""
    from infold.docmem.importing import note_named

    if source.endswith(".jsonl"):
        return True
    is_file = Path(source).is_file() or note_named(workspace, source) is not None
    return source.startswith("sessions/") and not is_file


def _import_chat(memory: Docmem, workspace: Workspace, source: str) -> ChatTree:
    from infold.docmem.chats import import_session, import_transcript

    file = Path(source)
    return import_transcript(memory, workspace, file) if file.is_file() else import_session(memory, workspace, source)


def _import(
    memory: Docmem,
    workspace: Workspace,
    source: str,
    form: str | None,
    place: Place | None,
    tree: str | None,
    *,
    again: bool,
) -> Imported:
    from infold.docmem import importing

    if form is not None and form not in get_args(importing.Form):
        raise UsageError(f"There is no format {form!r}.", hint=f"Take one of {', '.join(importing.FORMS)}.")
    note = importing.note_named(workspace, source)
    if note is not None and form in (None, "markdown"):
        return importing.import_note(memory, workspace, note, place, root_id=tree, again=again)
    if not Path(source).exists():
        raise UsageError(
            f"There is no file and no note {source!r}.", hint="Give a path, or a note's path in the vault."
        )
    return importing.import_file(
        memory,
        Path(source),
        form,  # type: ignore[arg-type] # checked above
        place,
        root_id=tree,
        again=again,
    )


def _tell_chat(call: Call, chat: ChatTree) -> int:
    if call.terminal.is_json:
        call.terminal.emit(
            {
                "session": chat.session,
                "added": chat.added,
                "turns": chat.turns,
                "malformed": list(chat.malformed),
                "node": chat.root.as_dict(),
            }
        )
        return 0
    call.terminal.say(f"{chat.added} of {chat.turns} turns are new: {chat.root}")
    if chat.malformed:
        call.terminal.notice(
            f"! {chat.session}: lines that cannot be read: {len(chat.malformed)}, the first is {chat.malformed[0]}",
            style="yellow",
        )
    return 0


def _write(file: Path, text: str, *, force: bool) -> None:
    from infold.durable.files import Disk

    if file.exists() and not force:
        raise UsageError(f"{file} is there already.", hint="Name another file, or add --force to write over it.")
    Disk().write_whole(file, text.encode())
