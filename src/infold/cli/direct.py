"""The short way of `infold search` where no resident answers: the same search, without what reads a command line.

Words in their usual form are read here, and settings are taken as they were last checked (`infold.settings_record`).
Whatever else is asked for, and whatever goes wrong before an answer is there, is left to the whole program.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infold import __version__
from infold.app import OpenVault
from infold.cli.client import ALONE, options_of_place
from infold.cli.days import read_day
from infold.cli.searching import Bars, SearchWords, after, ask, show, sources_of
from infold.cli.terminal import FAILURES, Terminal
from infold.durable.files import close_to_others, refused
from infold.durable.log_file import log_a_command
from infold.durable.unfinished import is_unfinished
from infold.errors import InfoldError
from infold.locate import LocatedWorkspace, WorkspaceRequest, locate_workspace
from infold.settings_record import kept_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Options = Mapping[str, Sequence[str]]

_log: Final = logging.getLogger(__name__)
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")
_SHARE: Final = re.compile(r"0(\.[0-9]{1,9})?|1(\.0{1,9})?")


class _Unusual(ValueError):
    """Not in the form that is read here."""


def answered(words: Sequence[str]) -> int | None:
    """The exit code of a search, where its answer was printed; None where the whole program has to find it."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        options, asked = _read(words[1:])
        located = _located(options)
    except FAILURES:
        return None
    started = time.monotonic()
    log_a_command(is_verbose=False).keep_at(located.workspace.log)
    _log.info("search the short way with %s: infold %s", ", ".join(options) or "no options", __version__)
    terminal = Terminal(is_json="--json" in options, is_quiet="--quiet" in options or "-q" in options)
    code = _answered(located, asked, terminal)
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


def _located(options: Options) -> LocatedWorkspace:
    given = (_last(options, name) for name in ("--vault", "--state", "--params"))
    vault, state, params = (Path(folder) if folder is not None else None for folder in given)
    wanted = WorkspaceRequest(vault, state, params)
    located = locate_workspace(wanted, read=kept_settings)
    close_to_others(located.state)
    if is_unfinished(located.workspace):
        raise _Unusual
    return located


def _read(words: Sequence[str]) -> tuple[Options, SearchWords]:
    """The options by name, and what is asked. Raises _Unusual, and UsageError for what names no source or day."""
    place = options_of_place(list(words))
    if place is None or "" in place.values():
        raise _Unusual
    options: dict[str, list[str]] = {}
    query: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            query += rest
        elif not word.startswith("-") or word == "-":
            query.append(word)
        elif word in ALONE:
            options[word] = []
        else:
            name, value = _option(word, rest)
            options.setdefault(name, []).append(value)
    if not query:
        raise _Unusual
    since, until = _last(options, "--since"), _last(options, "--until")
    limit, min_score = _fitting(options, "--limit", _NUMBER), _fitting(options, "--min-score", _SHARE)
    return options, SearchWords(
        query=" ".join(query),
        sources=sources_of(options.get("--source")),
        paths=tuple(options.get("--path", ())),
        tags=tuple(options.get("--tag", ())),
        since=read_day(since, "--since") if since is not None else None,
        until=read_day(until, "--until") if until is not None else None,
        limit=int(limit) if limit is not None else None,
        min_score=float(min_score) if min_score is not None else None,
        explain="--explain" in options,
    )


def _option(word: str, rest: Iterator[str]) -> tuple[str, str]:
    """The name and value of an option that has one: `--limit 2`, `--limit=2`, `-n 2`, `-n2`."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
    else:
        name, equals, value = "--limit", word[2:], word[2:]
    if not equals:
        value = next(rest)
    if value.startswith("-"):
        raise _Unusual
    return name, value


def _last(options: Options, name: str) -> str | None:
    """An option that is given again counts as it was given last."""
    return options[name][-1] if name in options else None


def _fitting(options: Options, name: str, form: re.Pattern[str]) -> str | None:
    value = _last(options, name)
    if value is not None and not form.fullmatch(value):
        raise _Unusual
    return value
