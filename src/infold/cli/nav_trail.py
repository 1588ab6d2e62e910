"""`infold nav save-trail`: where one went, as a note."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from infold.cli.nav_options import NAVIGATOR_CALLER
from infold.cli.options import Call, command
from infold.cli.outcome import command_line
from infold.operations.navigator_trail import TrailSaveRequest, trail_save
from infold.operations.notes import NoteCategory


@command
def save_trail(
    call: Call,
    title: Annotated[list[str] | None, typer.Argument(metavar="[TITLE]", help="Its title; else day and way.")] = None,
    *,
    category: Annotated[NoteCategory, typer.Option("--category", help="Which folder it goes to.")] = "inbox",
    dry_run: Annotated[bool, typer.Option("--dry-run", metavar="", help="Only say what would be written.")] = False,
) -> int:
    """Save where you went as a note of links. `infold undo` takes it back."""
    request = TrailSaveRequest(title=" ".join(title or ()), category=category, dry_run=dry_run, caller=NAVIGATOR_CALLER)
    with call.vault() as vault:
        done = trail_save(vault, request)
    if call.terminal.is_json:
        return call.terminal.answer(done)
    sys.stdout.write("".join(done.diffs.values()))
    call.terminal.say(done.message)
    if done.gone:
        call.terminal.notice(f"{done.gone} steps lead to what is there no more, and are left out.")
    if done.change is not None:
        call.terminal.say(f"undo    {command_line('undo', done.change, call.wanted)}")
    return 0
