"""`infold get`: some lines of a note, as search results name them."""

from __future__ import annotations

from typing import Annotated

import typer

from infold.cli import suggestions
from infold.cli.options import Call, command
from infold.operations.memory import MemoryGetRequest, memory_get


@command
def get(
    call: Call,
    name: Annotated[
        str,
        typer.Argument(
            metavar="PATH[:LINE[:COUNT]]",
            help="A note, by its path or name.",
            show_default=False,
            autocompletion=suggestions.notes,
        ),
    ],
) -> int:
    """Print a note, or some lines of it.

    The path is as search shows it, such as `notes/bread.md:12-20`; `notes/bread:12:9` is the same. The folders and
    the `.md` may be left out where only one note has the name. A note that is not there is no error: nothing is
    printed, and names that come near are on stderr. Of a session (`sessions/talk.jsonl:3-7`) what was said is printed.
    """
    with call.reading() as vault:
        found = memory_get(vault, MemoryGetRequest(path=name))
    if call.terminal.is_json:
        call.terminal.emit(found.as_json())
    else:
        text = found.text.removeprefix("\ufeff")
        call.terminal.write(text if not text or text.endswith(("\n", "\r")) else text + "\n")
    if found.hint:
        call.terminal.aside(found.hint)
    return 0
