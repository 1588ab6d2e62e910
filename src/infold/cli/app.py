"""The `infold` command: which commands there are, and what becomes of errors.

A command parses, calls one function, prints its result and returns its exit code: 0 done (also when there was nothing
to do), 1 some work is left and the output says why, 2 wrong use, 3 the environment (key, endpoint, disk). What is heavy
is imported inside the commands, so that `infold --help` answers at once.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from infold import __version__
from infold.cli import demo, doctor, flows, index, init, integrate, runs
from infold.cli.terminal import Terminal
from infold.errors import InfoldError, UsageError

EXIT_CODES = (
    "Exit codes: 0 done, also when there was nothing to do; 1 some work is left, with reasons; "
    "2 wrong use; 3 the environment (key, endpoint, disk)."
)
_INTERRUPTED = 130


_WrongUse: type[Any] = typer.BadParameter.__mro__[1]  # click's UsageError, wherever this typer keeps click


class _Plain:
    """Shows `--help` like any other flag, without a type."""

    def get_help_option(self, ctx: Any) -> Any:
        """The `--help` option."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option


class _Command(_Plain, TyperCommand):
    """One command."""


class _Face(_Plain, TyperGroup):
    """Turns what commands return into exit codes, and errors into two lines that a person can act on."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command. The `--json` and `--debug` of a command that could not even be parsed are honoured too."""
        words = [*ctx.args, *getattr(ctx, "_protected_args", [])]
        terminal = Terminal(is_json="--json" in words)
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except InfoldError as error:
            if "--debug" in words:
                raise
            code = terminal.fail(error)
        except _WrongUse as error:
            if not terminal.is_json:
                raise
            code = terminal.fail(
                UsageError(
                    error.format_message(), hint=f"See `{error.ctx.command_path if error.ctx else 'infold'} --help`."
                )
            )
        except KeyboardInterrupt:
            terminal.notice(
                "\nInterrupted. Every note is as it was or wholly changed, never in between; run the command again."
            )
            code = _INTERRUPTED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except Exception as error:
            if "--debug" in words:
                raise
            code = terminal.fail(_unexpected(error))
        raise typer.Exit(code or 0)


def _unexpected(error: Exception) -> InfoldError:
    message = " ".join(str(error).split()) or "no message"
    return InfoldError(
        f"Something unexpected happened: {type(error).__name__}: {message[:300]}",
        hint="No note is half written. Add --debug to see the traceback; please report it.",
    )


app = typer.Typer(
    name="infold",
    cls=_Face,
    help="infold folds new text into the notes you already have.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"infold {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Infold folds new text into the notes you already have."""


_flows = typer.Typer(
    cls=_Face, no_args_is_help=True, help="Run the steps as Prefect flows: schedule, retries, a UI.", epilog=EXIT_CODES
)


def _add(to: typer.Typer, panel: str | None, *commands: Callable[..., int]) -> None:
    """Each function is the command of its name; its docstring is the help, each paragraph on one line."""
    for command in commands:
        paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        to.command(command.__name__, cls=_Command, help=text, rich_help_panel=panel)(command)


_add(app, "The job", demo.demo, init.init, integrate.integrate)
_add(app, "What was done", runs.runs, runs.show, runs.diff, runs.apply, runs.undo)
_add(app, "The vault", index.index, index.status, doctor.doctor)
_add(_flows, None, flows.up)
app.add_typer(_flows, name="flows", rich_help_panel="The vault")


def main() -> None:
    """The entry point."""
    app()
