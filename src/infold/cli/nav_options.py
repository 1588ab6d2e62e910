"""What the commands of `infold nav` share: whose steps they are, and what they show indented."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from infold.cli.terminal import Terminal

NAVIGATOR_CALLER = "person"

NavigatorFolderOption = Annotated[str, typer.Option("--folder", metavar="FOLDER", help="Only notes in it.")]


def show_indented(terminal: Terminal, text: str, by: int = 10, style: str = "") -> None:
    """A text of notes, wrapped to the terminal, each of its lines so many columns from the left."""
    from rich.padding import Padding
    from rich.text import Text

    terminal.show(Padding(Text(terminal.safe(text), style=style), (0, 0, 0, by)))
