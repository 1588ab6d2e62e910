"""`infold get`: some lines of a note, as search results name them."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from infold.cli.options import Call, command


@command
def get(
    call: Call,
    name: Annotated[
        str, typer.Argument(metavar="PATH[:LINE[:COUNT]]", help="A note, by its path or name.", show_default=False)
    ],
) -> int:
    """Print a note, or some lines of it.

    The path is as search shows it, such as `notes/bread.md:12-20`; `notes/bread:12:9` is the same. The folders and
    the `.md` may be left out where only one note has the name. A note that is not there is no error: nothing is
    printed, and names that come near are on stderr.
    """
    from infold.vault.portions import read_portion

    place = call.place()
    portion = read_portion(place.vault, place.params.vault, name)
    if call.terminal.is_json:
        call.terminal.emit(
            {
                "path": portion.path or None,
                "text": portion.text,
                "start": portion.start,
                "lines": portion.lines,
                "total": portion.total,
            }
        )
    else:
        text = portion.text.removeprefix("\ufeff")
        sys.stdout.write(text if not text or text.endswith(("\n", "\r")) else text + "\n")
    if not portion.path:
        near = ", ".join(portion.near)
        sys.stderr.write(f"There is no note {name}." + (f" Near it: {near}\n" if near else "\n"))
    elif not portion.lines:
        sys.stderr.write(f"{portion.path} has {portion.total} lines; there is no line {portion.start}.\n")
    return 0
