"""`infold help`: the help of infold, or of one command."""

from __future__ import annotations

from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from infold.cli import app
from infold.cli.options import Call, placeless_command


@placeless_command
def help_(
    call: Call,  # noqa: ARG001 - every command gets one
    *,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND...]", help="A command, or a group and its command.")
    ] = None,
) -> int:
    """Show the help of infold, or of one command."""
    found: Any = typer.main.get_command(app.app)
    context = found.make_context("infold", [], resilient_parsing=True)
    left = list(words or ())
    while left and isinstance(found, TyperGroup):
        context.resilient_parsing = False  # so that a name that is none is told with what comes near
        name, found, left = found.resolve_command(context, left)
        context = found.make_context(name, [], parent=context, resilient_parsing=True)
    if left:
        context.fail(f"{context.command_path} has no command {left[0]!r}.")
    typer.echo(found.get_help(context), nl=False)
    return 0
