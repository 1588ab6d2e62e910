"""`infold new`, `rename`, `delete` and `restore`: notes made, moved, taken away and back, each with one undo."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from infold.cli import suggestions
from infold.cli.options import Call, command
from infold.cli.outcome import command_line
from infold.cli.text_input import FileOption, TextArgument, text_input
from infold.operations.notes import (
    KnowledgeCreateAnswer,
    KnowledgeCreateRequest,
    KnowledgeDeleteRequest,
    KnowledgeRenameRequest,
    NoteCategory,
    knowledge_create,
    knowledge_delete,
    knowledge_rename,
)
from infold.operations.restoring import KnowledgeRestoreAnswer, KnowledgeRestoreRequest, knowledge_restore

_SHOWN = 20
DryRunOption = Annotated[bool, typer.Option("--dry-run", metavar="", help="Only say what would be done.")]


@command
def new(
    call: Call,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Its title; the file is named after it.")],
    text: TextArgument = None,
    *,
    file: FileOption = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.")] = None,
    related: Annotated[
        list[str] | None, typer.Option("--related", metavar="NOTE", help="A note to link to; may be repeated.")
    ] = None,
    category: Annotated[NoteCategory, typer.Option("--category", help="Which folder it goes to.")] = "inbox",
    link_back: Annotated[
        bool, typer.Option("--link-back", metavar="", help="Also link from the related notes to it.")
    ] = False,
    always_load: Annotated[
        bool, typer.Option("--always-load", metavar="", help="Put it where every agent always has it.")
    ] = False,
    dry_run: DryRunOption = False,
) -> int:
    """Make a new note with front matter, tags and links.

    A note that is there already, by its name or by what it says, is named instead. `infold undo` takes it back.
    """
    request = KnowledgeCreateRequest(
        title=title,
        content=text_input(text, file),
        tags=tuple(tag or ()),
        related_notes=tuple(related or ()),
        category=category,
        link_back=link_back,
        always_load=always_load,
        dry_run=dry_run,
    )
    with call.vault() as vault:
        done = knowledge_create(vault, request)
    return _told(call, done)


@command
def rename(
    call: Call,
    note: Annotated[
        str, typer.Argument(metavar="NOTE", help="The note, by name or path.", autocompletion=suggestions.notes)
    ],
    new_name: Annotated[str, typer.Argument(metavar="NEW", help="Its new name or path; a folder ends with /.")],
    *,
    dry_run: DryRunOption = False,
) -> int:
    """Rename a note, or move it to a folder; every link that led to it leads to it still.

    Links that led nowhere and would lead to it now are named. `infold undo` takes all of it back.
    """
    with call.vault() as vault:
        done = knowledge_rename(vault, KnowledgeRenameRequest(note=note, new=new_name, dry_run=dry_run))
    if call.terminal.is_json:
        return call.terminal.answer(done)
    sys.stdout.write("".join(done.diffs.values()))
    call.terminal.say(done.message)
    for link in done.caught[:_SHOWN]:
        call.terminal.say(f"now leads here  {link.path}:{link.line}  {link.raw}")
    for link in done.unkept[:_SHOWN]:
        call.terminal.say(f"cannot be kept  {link.path}:{link.line}  {link.raw}")
    for path in done.lost:
        call.terminal.say(f"left as it is   {path}: somebody changed it meanwhile")
    _undo(call, done.change)
    return 1 if done.unkept or done.lost else 0


@command
def delete(
    call: Call,
    note: Annotated[
        str, typer.Argument(metavar="NOTE", help="The note, by name or path.", autocompletion=suggestions.notes)
    ],
    *,
    dry_run: DryRunOption = False,
) -> int:
    """Delete a note. Its bytes are kept, `infold undo` brings it back; links that break are named."""
    with call.vault() as vault:
        done = knowledge_delete(vault, KnowledgeDeleteRequest(note=note, dry_run=dry_run))
    if call.terminal.is_json:
        return call.terminal.answer(done)
    call.terminal.say(done.message)
    for link in done.breaks[:_SHOWN]:
        call.terminal.say(f"  {link.path}:{link.line}  {link.raw}")
    if len(done.breaks) > _SHOWN:
        call.terminal.say(f"  … {len(done.breaks) - _SHOWN} more")
    _undo(call, done.change)
    return 0


@command
def restore(
    call: Call,
    change: Annotated[
        str,
        typer.Argument(metavar="CHANGE", help="Its id, as `infold runs` has it.", autocompletion=suggestions.runs),
    ],
    note: Annotated[
        str | None, typer.Argument(metavar="NOTE", help="The note; may be left out where the change had only one.")
    ] = None,
    *,
    to: Annotated[
        str | None, typer.Option("--to", metavar="PATH", help="Bring it back here, and not in its own place.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", metavar="", help="In place of a note that is there now.")
    ] = False,
    dry_run: DryRunOption = False,
) -> int:
    """Bring back what a note was before a change: a deleted note, or an earlier version of one.

    `infold undo` takes a whole change back; this is for one note of it, or where its name is taken by now.
    """
    request = KnowledgeRestoreRequest(change=change, note=note, to=to, replace=replace, dry_run=dry_run)
    with call.vault() as vault:
        done = knowledge_restore(vault, request)
    return _told(call, done)


def _told(call: Call, done: KnowledgeCreateAnswer | KnowledgeRestoreAnswer) -> int:
    if call.terminal.is_json:
        return call.terminal.answer(done)
    sys.stdout.write("".join(done.diffs.values()))
    call.terminal.say(done.message)
    _undo(call, done.change)
    return 0


def _undo(call: Call, change: str | None) -> None:
    if change is not None:
        call.terminal.say(f"undo    {command_line('undo', change, call.wanted)}")
