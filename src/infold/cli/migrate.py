"""`infold migrate`: the notebook's folders made, and the notes of an older layout moved into them."""

from __future__ import annotations

from typing import Annotated

import typer

from infold.cli.options import Call, command
from infold.cli.outcome import command_line
from infold.operations.migration import NotebookMigrateRequest, notebook_migrate


@command
def migrate(
    call: Call,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", metavar="", help="Only say what would be done.")] = False,
) -> int:
    """Make the notebook's folders, and move the notes of an older layout into them; links follow.

    brain/memory/core and runtime are looked at. What has a note in its new place already stays, and is named.
    """
    with call.vault() as vault:
        done = notebook_migrate(vault, NotebookMigrateRequest(dry_run=dry_run))
    if call.terminal.is_json:
        return call.terminal.answer(done)
    for note in done.moved:
        call.terminal.say(f"moved    {note.path} → {note.new}")
    for note in done.left:
        call.terminal.say(f"left     {note.path}: there is a {note.new} already")
    for path in done.retired:
        call.terminal.say(f"retired  {path} stays where it is")
    call.terminal.say(done.message)
    if done.change is not None:
        call.terminal.say(f"undo     {command_line('undo', done.change, call.wanted)}")
    return 1 if done.left else 0
