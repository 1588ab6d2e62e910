"""`infold init`: look at a vault once, write down what was found, remember the vault."""

from __future__ import annotations

from typing import Annotated

import typer

from infold.cli.options import Call, command


@command
def init(
    call: Call,
    *,
    root: Annotated[
        str | None, typer.Option(metavar="NOTE", help="The note that exploration starts from. Else it is found.")
    ] = None,
    inbox: Annotated[
        str | None, typer.Option(metavar="FILE", help="The file that new text is dropped in. Else it is found.")
    ] = None,
    create_inbox: Annotated[
        bool, typer.Option("--create-inbox", metavar="", help="Create the inbox where it is missing.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", metavar="", help="Write the settings anew where there are some.")
    ] = False,
) -> int:
    """Find the root note and the inbox of a vault, and remember the vault. Writes nothing into it."""
    return 0
