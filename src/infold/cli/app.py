"""The `infold` command: which commands there are, and what becomes of errors.

A command parses, calls one function, prints its result and returns its exit code: 0 done (also when there was nothing
to do), 1 some work is left and the output says why, 2 wrong use, 3 the environment (key, endpoint, disk). The commands
themselves are listed in `cli.commands`; one is loaded when it is called, and what is heavy only inside it.
"""

from __future__ import annotations

import ast
import inspect
import logging
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.util import find_spec
from typing import Annotated, Any, Final

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from infold import __version__
from infold._pipeline import mount
from infold.cli.client import INTERRUPTED, INTERRUPTED_NOTICE, SERVED
from infold.cli.commands import COMMANDS, CommandEntry, CommandGroup
from infold.cli.examples import EXAMPLES
from infold.cli.terminal import Terminal
from infold.durable.files import refused
from infold.errors import InfoldError, UsageError

EXIT_CODES = (
    "Exit codes: 0 done, also when there was nothing to do; 1 some work is left, with reasons; "
    "2 wrong use; 3 the environment (key, endpoint, disk)."
)


_log: Final = logging.getLogger(__name__)
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
    """One command. Text that begins like an item of a list (`- Milk`) is text; other words with a dash are told how."""

    words = ""  # those that call it: `docmem show`

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Its help, which ends with examples."""
        shown = "\n".join(f"  infold {line}" for line in EXAMPLES[self.words])
        self.epilog = f"Examples:\n{shown}".replace("[", r"\[")
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, items of lists last, where nothing is taken for an option."""
        items = [word for word in args if word.startswith(("- ", "---\n"))]
        if items and "--" not in args:
            args = [*(word for word in args if word not in items), "--", *items]
        try:
            parsed: list[str] = super().parse_args(ctx, args)
        except _WrongUse as error:
            unknown = getattr(error, "option_name", "")
            if unknown[:1] == "-" and unknown[:2] != "--" and any(param.nargs == -1 for param in self.params):
                error.message += f". What begins with - and is no option stands after --: infold {self.words} -- …"
            raise
        return parsed


class _Face(_Plain, TyperGroup):
    """Loads the command that is called; turns what it returns into an exit code, and errors into two lines."""

    entries: tuple[CommandEntry | CommandGroup, ...] = ()
    default: str = ""
    before: str = ""  # the words before the name of a command
    _is_listing = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, with the default command in front where a group has one and none is named."""
        is_alone = not args and not ctx.resilient_parsing  # while a word is being completed, any may follow
        if self.default and (is_alone or (args and args[0].startswith("-") and args[0] not in ("-h", "--help"))):
            args = [self.default, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of `cli.commands`."""
        return [entry.name for entry in self.entries]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help of all commands, none of which is loaded for it."""
        self._is_listing = True
        super().format_help(ctx, formatter)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, loaded; None where there is none."""
        entry = next((entry for entry in self.entries if entry.name == cmd_name), None)
        if entry is not None and self._is_listing:
            return _listed(entry)
        if entry is not None and cmd_name not in self.commands:
            self.commands[cmd_name] = _loaded(entry, self.before)
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """What may stand next, no command loaded for it but the default one, whose options may stand here too."""
        self._is_listing = True
        found: list[Any] = super().shell_complete(ctx, incomplete)
        self._is_listing = False
        if self.default and incomplete.startswith("-"):
            command = self.get_command(ctx, self.default)
            found += command.shell_complete(typer.Context(command, info_name=self.default, parent=ctx), incomplete)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called; a name that is none is told with those that come near, loaded or not."""
        try:
            return super().resolve_command(ctx, args)
        except _WrongUse as error:
            from difflib import get_close_matches

            near = " or ".join(get_close_matches(args[0], self.list_commands(ctx), 2, 0.7))
            error.message = f"No such command {args[0]!r}." + (f" Did you mean {near}?" if near else "")
            raise

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
            _ended_by(error)
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
        except KeyboardInterrupt as error:
            _ended_by(error)
            terminal.notice(INTERRUPTED_NOTICE)
            code = INTERRUPTED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except OSError as error:
            _ended_by(error)
            if "--debug" in words:
                raise
            code = terminal.fail(refused(error) or _unexpected(error))
        except Exception as error:
            _ended_by(error)
            if "--debug" in words:
                raise
            code = terminal.fail(_unexpected(error))
        raise typer.Exit(code or 0)


def _ended_by(error: BaseException) -> None:
    _log.info("ended by %s", error, exc_info=error)


def _unexpected(error: Exception) -> InfoldError:
    message = " ".join(str(error).split()) or "no message"
    return InfoldError(
        f"Something unexpected happened: {type(error).__name__}: {message[:300]}",
        hint="No note is half written. Add --debug to see the traceback; please report it.",
    )


def _typer(
    entries: tuple[CommandEntry | CommandGroup, ...], name: str, text: str, default: str = "", before: str = ""
) -> typer.Typer:
    """A face with these commands, none of them loaded."""
    return typer.Typer(
        name=name,
        cls=type("_Face", (_Face,), {"entries": entries, "default": default, "before": before}),
        help=text,
        epilog=EXIT_CODES,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _loaded(entry: CommandEntry | CommandGroup, before: str = "") -> Any:
    """The command, as click has it; `before` are the words before its name."""
    if isinstance(entry, CommandGroup):
        group = _typer(entry.entries, entry.name, entry.help, entry.default, f"{entry.name} ")
        group.callback()(_nothing_first)
        found = typer.main.get_command(group)
        setattr(found, "rich_help_panel", entry.panel)  # noqa: B010 - typer's own attribute, which click does not know
        return found
    module, _, name = entry.at.partition(":")
    function: Callable[..., int] = getattr(import_module(f"infold.cli.{module}"), name)
    text = "\n\n".join(_paragraphs(function.__doc__ or ""))
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    named = type("_Command", (_Command,), {"words": before + entry.name})
    alone.command(entry.name, cls=named, help=text, rich_help_panel=entry.panel)(function)
    return typer.main.get_command(alone)


def _listed(entry: CommandEntry | CommandGroup) -> Any:
    """The command with its name, its panel and the first paragraph of its help alone, from its source."""
    text = entry.help if isinstance(entry, CommandGroup) else _paragraphs(_docstring(entry.at))[0]
    listed = TyperCommand(entry.name, help=text)
    setattr(listed, "rich_help_panel", entry.panel)  # noqa: B010 - as above
    return listed


def _docstring(at: str) -> str:
    """That of the function `module:function`, read without running the module, which may load what is heavy."""
    module, _, name = at.partition(":")
    for node in _parsed(f"infold.cli.{module}").body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node) or ""
    return ""


@cache
def _parsed(module: str) -> ast.Module:
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and isinstance(spec.loader, InspectLoader) else None
    return ast.parse(source or "")


def _paragraphs(docstring: str) -> list[str]:
    """The paragraphs of a docstring, each on one line."""
    return [" ".join(paragraph.split()) for paragraph in inspect.cleandoc(docstring).split("\n\n")]


def _nothing_first() -> None:
    """What a group does before its command."""


app = _typer(COMMANDS, "infold", "infold folds new text into the notes you already have.")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"infold {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", "-V", metavar="", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Infold folds new text into the notes you already have."""


def run_command(words: list[str]) -> None:
    """Runs a command by its words, for another process of this user. Raises what it does, UsageError for wrong use."""
    try:
        _served(words[0]).main(words[1:], prog_name=f"infold {words[0]}", standalone_mode=False)
    except _WrongUse as error:
        raise UsageError(error.format_message()) from error


@cache
def _served(name: str) -> Any:
    if name not in SERVED:
        raise UsageError(f"{name!r} is not answered by another process.")
    return _loaded(next(entry for entry in COMMANDS if entry.name == name))


def main() -> None:
    """The whole program."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for some takes 20 ms
    mount()
    app()
