"""The short way of `search`, where no resident answers, and of `index`: without what reads a command line.

Words in their usual form are read (`cli.search_words`), and settings are taken as they were last checked
(`infold.settings_record`); an index checks those that were not, or that are given with the call. Whatever else is asked
for, and whatever goes wrong before there is anything to show, is left to the whole program.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from infold import __version__
from infold.app import OpenVault
from infold.cli import indexing
from infold.cli.search_words import Unusual, UsualSearch, read_index, read_search
from infold.cli.searching import Bars, after, ask, show
from infold.cli.terminal import FAILURES, Terminal
from infold.durable.files import close_to_others, refused
from infold.durable.log_file import log_a_command
from infold.durable.unfinished import is_unfinished
from infold.errors import InfoldError
from infold.locate import LocatedWorkspace, WorkspaceRequest, checked_settings, locate_workspace
from infold.search.shared.leaving import leave_open
from infold.settings_record import UnknownSettings, keep_settings, kept_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from infold.settings import Params

_log: Final = logging.getLogger(__name__)


def answered(words: Sequence[str], leave: Callable[[], NoReturn] | None = None) -> int | None:
    """The exit code, where the answer was printed; None where the whole program has to find it.

    It ends the process by `leave`, where it is given, with the vectors as they are: the engine would take its files
    out of memory as it closes them, and the next process read them from the disk. Nothing there waits to be written.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        work = _index_asked(words[1:], leave) if words[0] == "index" else _search_asked(words[1:], leave)
    except FAILURES:
        return None
    return work()


def _search_asked(words: Sequence[str], leave: Callable[[], NoReturn] | None) -> Callable[[], int | None]:
    usual = read_search(words)
    located = _located({name: usual.last(name) for name in ("--vault", "--state", "--params")})
    terminal = Terminal(is_json=usual.is_json, is_quiet=usual.is_quiet)
    options = ", ".join(usual.options)
    return lambda: _logged(located, "search", options, lambda: _found(located, usual, terminal, leave))


def _index_asked(words: Sequence[str], leave: Callable[[], NoReturn] | None) -> Callable[[], int | None]:
    """Nothing may be asked or paid for on the way, so a model's summaries are not for here."""
    options = read_index(words)
    place = {name: values[-1] for name, values in options.items() if values}
    located = _located(place, options.get("--set", ()), _settings)
    if located.params.librarian.kind != "offline":
        raise Unusual
    terminal = Terminal(is_quiet="--quiet" in options)
    return lambda: _logged(located, "index", ", ".join(options), lambda: _synced(located, terminal, leave))


def _logged(located: LocatedWorkspace, name: str, options: str, work: Callable[[], int | None]) -> int | None:
    started = time.monotonic()
    log_a_command(is_verbose=False).keep_at(located.workspace.log)
    _log.info("%s the short way with %s: infold %s", name, options or "no options", __version__)
    code = work()
    told = "left to the whole program" if code is None else f"exit code {code}"
    _log.info("%s the short way: %s after %.2f s", name, told, time.monotonic() - started)
    return code


def _found(
    located: LocatedWorkspace, usual: UsualSearch, terminal: Terminal, leave: Callable[[], NoReturn] | None
) -> int | None:
    asked = usual.asked
    bars, is_found = Bars(terminal), False
    try:
        with OpenVault(located, bars) as vault:
            with bars:
                found = ask(vault, asked)
            is_found = True
            show(terminal, found, asked)  # here, because closing the index waits for the disk
            after(vault)
            if leave is not None:
                _log.info("search the short way: answered")
                leave()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        _log.info("ended by %s", error, exc_info=error)
        if not is_found:
            return None
        known = _known(error)
        if known is None:
            raise
        return terminal.fail(known)
    return 0


def _synced(located: LocatedWorkspace, terminal: Terminal, leave: Callable[[], NoReturn] | None) -> int:
    bars = Bars(terminal)
    if leave is not None:
        leave_open()
    try:
        with OpenVault(located, bars) as vault:
            try:
                with bars:
                    done = vault.sync()
            except KeyboardInterrupt:
                return indexing.interrupted(vault, terminal)
            keep_settings(located.state, located.params_file)
        report = indexing.IndexReport.of_sync(done)
        indexing.tell_skipped(terminal, report)
        terminal.write("".join(f"{line}\n" for line in indexing.page(report)))
        if leave is not None:
            _log.info("index the short way: done")
            leave()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        _log.info("ended by %s", error, exc_info=error)
        known = _known(error)
        if known is None:
            raise
        return terminal.fail(known)
    return 0


def _known(error: Exception) -> InfoldError | None:
    if isinstance(error, InfoldError):
        return error
    return refused(error) if isinstance(error, OSError) else None


def _settings(state: Path, file: Path | None) -> Params:
    """The settings that `file` says: as they were last checked, else checked now, as before a first index."""
    try:
        return kept_settings(state, file)
    except UnknownSettings:
        return checked_settings(file)


def _located(
    options: Mapping[str, str | None],
    changes: Sequence[str] = (),
    read: Callable[[Path, Path | None], Params] = kept_settings,
) -> LocatedWorkspace:
    given = (options.get(name) for name in ("--vault", "--state", "--params"))
    vault, state, params = (Path(folder) if folder is not None else None for folder in given)
    wanted = WorkspaceRequest(vault, state, params, tuple(changes))
    located = locate_workspace(wanted, read=None if changes else read)
    close_to_others(located.state)
    if is_unfinished(located.workspace):
        raise Unusual
    return located
