"""`infold write`, `infold log`, `infold context`: the notebook of an agent, or of a person at a prompt."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from infold import lazy
from infold.cli import suggestions
from infold.cli.options import Call, command
from infold.cli.outcome import command_line
from infold.cli.text_input import FileOption, TextArgument, text_input
from infold.errors import UsageError
from infold.operations.contract import Nothing
from infold.operations.notebook import (
    DailyLogRequest,
    NotebookWriteRequest,
    daily_log,
    memory_context,
    notebook_write,
)

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.notebook.daily_summary import DaySummary


@command
def write(
    call: Call,
    page: Annotated[
        str,
        typer.Argument(
            metavar="PAGE", help="A note, such as lists/shopping.", show_default=False, autocompletion=suggestions.notes
        ),
    ],
    text: TextArgument = None,
    *,
    file: FileOption = None,
    section: Annotated[
        str | None,
        typer.Option("--section", metavar="HEADING", help="Write into this section, such as Groceries."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", metavar="", help="Put the text in the place of what is there.")
    ] = False,
) -> int:
    """Add text to a note of the notebook, or to one of its sections.

    Note and section are made where they are missing. --replace puts the text in the place of a section, its
    sub-sections included, or of a whole note, front matter aside. Every byte elsewhere stays, and `infold undo` takes
    a write back.
    """
    request = NotebookWriteRequest(page=page, content=text_input(text, file), section=section, replace=replace)
    with call.vault() as vault:
        done = notebook_write(vault, request)
    if call.terminal.is_json:
        return call.terminal.answer(done)
    call.terminal.say(done.message)
    if done.write:
        call.terminal.say(f"undo    {command_line('undo', done.write, call.wanted)}")
    return 0


@command
def log(
    call: Call,
    text: TextArgument = None,
    *,
    file: FileOption = None,
    summary: Annotated[
        bool, typer.Option("--summary", metavar="", help="Add the summary of the day instead, by the librarian.")
    ] = False,
) -> int:
    """Add an entry to today's log, under the time and its first line.

    The log is the vault's own daily note where Obsidian is set to have one, else daily/YYYY-MM-DD.md. It only grows;
    the same entry again within a minute is one.
    """
    if summary:
        if text is not None or file is not None:
            raise UsageError("--summary makes its own text.", hint="Leave the text out.")
        with call.vault() as vault:
            return _summarise(call, vault)
    with call.vault() as vault:
        done = daily_log(vault, DailyLogRequest(entry=text_input(text, file)))
    return call.terminal.answer(done, done.message)


@command
def context(call: Call) -> int:
    """Print what an agent should always have before it: reference notes, and the logs of today and yesterday.

    Each file is fenced and labelled. At most 8,000 characters of a file and 32,000 of all reference notes are shown;
    what is cut is said, with the command that prints the rest.
    """
    with call.vault() as vault:
        found = memory_context(vault, Nothing())
    if call.terminal.is_json:
        call.terminal.emit(found.as_json())
    elif found.text:
        sys.stdout.write(f"{found.text}\n")
    else:
        call.terminal.notice("There are neither reference notes nor logs of today and yesterday.")
    return 0


def _summarise(call: Call, vault: OpenVault) -> int:
    done = asyncio.run(_summary(vault))
    if call.terminal.is_json:
        call.terminal.emit(done.as_json())
        return 0
    call.terminal.say(done.message)
    if done.text:
        call.terminal.say(done.text)
    return 0


async def _summary(vault: OpenVault) -> DaySummary:
    async with vault.summariser() as librarian:
        return await lazy.notebook.daily_summary.daily_summary(vault.workspace, librarian)
