"""The short way of `infold search` where no resident answers: the same search, without what reads a command line.

Words in their usual form are read (`cli.search_words`), and settings are taken as they were last checked
(`infold.settings_record`). Whatever else is asked for, and whatever goes wrong before an answer is there, is left to
the whole program.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infold import __version__
from infold.app import OpenVault
from infold.cli.search_words import Unusual, UsualSearch, read_search
from infold.cli.searching import Bars, SearchWords, after, ask, show
from infold.cli.terminal import FAILURES, Terminal
from infold.durable.files import close_to_others, refused
from infold.durable.log_file import log_a_command
from infold.durable.unfinished import is_unfinished
from infold.errors import InfoldError
from infold.locate import LocatedWorkspace, WorkspaceRequest, locate_workspace
from infold.settings_record import kept_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

_log: Final = logging.getLogger(__name__)


def answered(words: Sequence[str]) -> int | None:
    """The exit code of a search, where its answer was printed; None where the whole program has to find it."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        usual = read_search(words[1:])
        located = _located(usual)
    except FAILURES:
        return None
    started = time.monotonic()
    log_a_command(is_verbose=False).keep_at(located.workspace.log)
    _log.info("search the short way with %s: infold %s", ", ".join(usual.options) or "no options", __version__)
    terminal = Terminal(is_json=usual.is_json, is_quiet=usual.is_quiet)
    code = _answered(located, usual.asked, terminal)
    told = "left to the whole program" if code is None else f"exit code {code}"
    _log.info("search the short way: %s after %.2f s", told, time.monotonic() - started)
    return code


def _answered(located: LocatedWorkspace, asked: SearchWords, terminal: Terminal) -> int | None:
    bars, is_found = Bars(terminal), False
    try:
        with OpenVault(located, bars) as vault:
            with bars:
                found = ask(vault, asked)
            is_found = True
            show(terminal, found, asked)  # here, because closing the index waits for the disk
            after(vault)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        _log.info("ended by %s", error, exc_info=error)
        if not is_found:
            return None
        known = error if isinstance(error, InfoldError) else refused(error) if isinstance(error, OSError) else None
        if known is None:
            raise
        return terminal.fail(known)
    return 0


def _located(usual: UsualSearch) -> LocatedWorkspace:
    given = (usual.last(name) for name in ("--vault", "--state", "--params"))
    vault, state, params = (Path(folder) if folder is not None else None for folder in given)
    wanted = WorkspaceRequest(vault, state, params)
    located = locate_workspace(wanted, read=kept_settings)
    close_to_others(located.state)
    if is_unfinished(located.workspace):
        raise Unusual
    return located
