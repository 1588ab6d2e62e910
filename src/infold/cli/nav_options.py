"""What the commands of `infold nav` share: whose steps they are, their options, and how a price is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from infold.cli.terminal import Terminal
    from infold.operations.spending import Quote

NAVIGATOR_CALLER = "person"

NavigatorFolderOption = Annotated[str, typer.Option("--folder", metavar="FOLDER", help="Only notes in it.")]
NavigatorTokenOption = Annotated[
    str | None, typer.Option("--token", metavar="TOKEN", help="Agree to the estimate with it.")
]
NavigatorUsdOption = Annotated[
    float | None, typer.Option("--max-usd", metavar="USD", min=0, help="Spend at most so much.")
]


def show_indented(terminal: Terminal, text: str, by: int = 10, style: str = "") -> None:
    """A text of notes, wrapped to the terminal, each of its lines so many columns from the left."""
    from rich.padding import Padding
    from rich.text import Text

    terminal.show(Padding(Text(terminal.safe(text), style=style), (0, 0, 0, by)))


def show_quote(terminal: Terminal, quote: Quote) -> None:
    """Says what a request would take, and how to agree to it."""
    price = f", ${quote.usd[0]:.2f} to ${quote.usd[1]:.2f}" if quote.usd else ""
    tokens = f"{quote.tokens[0]:,} to {quote.tokens[1]:,} tokens"
    terminal.say(f"In all {quote.calls[0]} to {quote.calls[1]} calls, {tokens}{price}.")
    terminal.say(f"Nothing was spent. Add --token {quote.token} to go on, or --max-usd to set a cap.")
