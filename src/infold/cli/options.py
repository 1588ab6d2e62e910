"""The options that every command shares, described once and added by `command`."""

from __future__ import annotations

import functools
import inspect
import logging
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, ParamSpec

import typer

from infold import __version__, lazy
from infold.app import OpenVault
from infold.cli import suggestions
from infold.cli.terminal import Terminal
from infold.durable.files import close_to_others
from infold.durable.log_file import LogFile, log_a_command
from infold.durable.unfinished import is_unfinished
from infold.errors import InfoldError, VaultBusy
from infold.locate import LocatedWorkspace, WorkspaceRequest, locate_workspace
from infold.progress import Progress, silent
from infold.workspace import Workspace

P = ParamSpec("P")
_log: Final = logging.getLogger(__name__)
_maker: ContextVar[Callable[[Terminal, WorkspaceRequest], Call] | None] = ContextVar("maker", default=None)

_PLACE, _OUTPUT = "Where", "Output"

VaultOption = Annotated[
    Path | None,
    typer.Option(
        "--vault",
        metavar="DIR",
        help="The folder of notes, or its name of `infold vaults`. Else INFOLD_VAULT, ./params.yaml, or the vault "
        "that `infold init` remembered.",
        autocompletion=suggestions.vaults,
        rich_help_panel=_PLACE,
    ),
]
StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="DIR",
        help="What infold keeps about the vault. Else INFOLD_STATE, or a folder of its own in your data folder.",
        rich_help_panel=_PLACE,
    ),
]
ParamsOption = Annotated[
    Path | None,
    typer.Option(
        "--params",
        metavar="FILE",
        help="Settings as YAML. Else ./params.yaml where it names the vault, or params.yaml in the state folder.",
        rich_help_panel=_PLACE,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.NAME=VALUE",
        help="One setting for this call; may be repeated.",
        autocompletion=suggestions.settings,
        rich_help_panel=_PLACE,
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json", metavar="", help="One JSON object on stdout, everything else on stderr.", rich_help_panel=_OUTPUT
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        metavar="",
        help="No progress and no asides: results, warnings and errors.",
        rich_help_panel=_OUTPUT,
    ),
]
DebugOption = Annotated[
    bool,
    typer.Option("--debug", metavar="", help="Show the traceback of an unexpected error.", rich_help_panel=_OUTPUT),
]
VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", metavar="", help="Show on stderr what is done, in more detail.", rich_help_panel=_OUTPUT),
]
RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The id of a run or other change, a unique beginning of it, or `last`.",
        show_default=False,
        autocompletion=suggestions.runs,
    ),
]
_ACCEPTED = "Accepted figures"
LIBRARIAN = "Librarian"


class LibrarianOption(StrEnum):
    """Who takes the decisions."""

    OFFLINE = "offline"
    MODEL = "model"


WhoDecides = Annotated[
    LibrarianOption | None,
    typer.Option(help="Who decides: offline (no key, no network) or model.", rich_help_panel=LIBRARIAN),
]
ModelName = Annotated[
    str | None, typer.Option(metavar="NAME", help="The model's name at the endpoint.", rich_help_panel=LIBRARIAN)
]
PaidYesOption = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask before a model is paid.")]

AcceptOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the figures as those to hold from now on.", rich_help_panel=_ACCEPTED),
]
CheckOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Exit with 1 where a figure is worse than in FILE by more than evaluate.tolerance.",
        rich_help_panel=_ACCEPTED,
    ),
]
ReportOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where the report goes. Else a folder in the state folder.")
]


@dataclass
class Call:
    """What every command gets: where it writes, and the place that was asked for."""

    terminal: Terminal
    wanted: WorkspaceRequest
    log: LogFile = field(default_factory=LogFile)

    def place(self, *, inbox: Path | None = None, **settings: object) -> LocatedWorkspace:
        """The place, with settings such as `librarian__kind="model"` on top; raises UsageError where there is none."""
        located = locate_workspace(self.wanted.with_changes(**settings), inbox=inbox)
        close_to_others(located.workspace.state)
        self.log.keep_at(located.workspace.log)
        _log.debug("vault %s, state %s", located.vault, located.workspace.state)
        if is_unfinished(located.workspace):
            self._finish(located.workspace)
        return located

    def vault(self, progress: Progress = silent, *, inbox: Path | None = None, **settings: object) -> OpenVault:
        """The vault of that place, opened; to be used in a `with` statement."""
        return OpenVault(self.place(inbox=inbox, **settings), progress)

    def reading(self, progress: Progress = silent, **settings: object) -> AbstractContextManager[OpenVault]:
        """The same, for what only reads; a resident has it open already."""
        return OpenVault(self.place(inbox=None, **settings), progress)

    def afterwards(self, work: Callable[[], None]) -> None:
        """What is left to do once the answer is shown."""
        work()

    def _finish(self, workspace: Workspace) -> None:
        """Brings what a killed process left half written to its end; a process that is at it is left alone."""
        try:
            for sentence in lazy.inbox.runs.recover(workspace, wait_seconds=0):
                self.terminal.notice(sentence, style="yellow")
        except VaultBusy:
            return
        except InfoldError as error:
            self.terminal.notice(f"What was stopped before cannot be finished yet: {error}", style="yellow")


@contextmanager
def calls_made_by(make: Callable[[Terminal, WorkspaceRequest], Call]) -> Iterator[None]:
    """While it lasts, commands that this thread runs get the Call that `make` gives for the options that all have."""
    token = _maker.set(make)
    try:
        yield
    finally:
        _maker.reset(token)


def _placed(
    *,
    vault: VaultOption = None,
    state: StateOption = None,
    params: ParamsOption = None,
    changes: SetOption = None,
    is_json: JsonOption = False,
    is_quiet: QuietOption = False,
    is_verbose: VerboseOption = False,
    debug: DebugOption = False,  # noqa: ARG001 - the app looks for it where errors end
) -> Call:
    terminal = Terminal(is_json=is_json, is_quiet=is_quiet)
    wanted = WorkspaceRequest(vault, state, params, tuple(changes or ()))
    make = _maker.get()
    return Call(terminal, wanted, log_a_command(is_verbose=is_verbose)) if make is None else make(terminal, wanted)


def _placeless(
    *,
    is_json: JsonOption = False,
    is_quiet: QuietOption = False,
    is_verbose: VerboseOption = False,
    debug: DebugOption = False,  # noqa: ARG001
) -> Call:
    return Call(Terminal(is_json=is_json, is_quiet=is_quiet), WorkspaceRequest(), log_a_command(is_verbose=is_verbose))


def command(function: Callable[Concatenate[Call, P], int]) -> Callable[..., int]:
    """A command of its own options and the shared ones. Those come as a Call; what it returns is the exit code."""
    return _with(_placed, function)


def placeless_command(function: Callable[Concatenate[Call, P], int]) -> Callable[..., int]:
    """A command that works at no place of the caller's choosing."""
    return _with(_placeless, function)


_SYSTEM: Final = f"Python {platform.python_version()}, {sys.platform}"


def _with(make_call: Callable[..., Call], function: Callable[Concatenate[Call, P], int]) -> Callable[..., int]:
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    shared = list(inspect.signature(make_call, eval_str=True).parameters.values())
    names = [parameter.name for parameter in shared]

    @functools.wraps(function)
    def run(**given: Any) -> int:
        options = [parameter.name for parameter in (*own, *shared) if given[parameter.name] != parameter.default]
        call = make_call(**{name: given.pop(name) for name in names})
        started = time.monotonic()
        command = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        _log.info("%s with %s: infold %s, %s", command, ", ".join(options) or "no options", __version__, _SYSTEM)
        code = function(call, **given)  # type: ignore[call-arg] # typer gives what the signature asks for
        _log.info("%s: exit code %s after %.2f s", command, code, time.monotonic() - started)
        return code

    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *shared)}
    run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    return run
