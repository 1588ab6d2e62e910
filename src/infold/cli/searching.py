"""What `infold search` does once its words are read: it asks, shows what was found, and leaves the rest for afterwards.

For the command, and for the short way to it (`cli.direct`). Fast to import.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, NamedTuple

from infold.cli.found import Paint, lines_of
from infold.errors import UsageError
from infold.search.index.contract import DEFAULT_GROUPS, PointGroup, asked_filter
from infold.settings_record import keep_settings
from infold.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infold.app import OpenVault
    from infold.cli.progress import Stages
    from infold.cli.terminal import Terminal
    from infold.search.query.results import SearchResult

_FEW_NOTES: Final = 100  # read or indexed without a bar that would show it: for less it takes too long to load


class SearchWords(NamedTuple):
    """What was asked on the command line, in its words; days are ISO days."""

    query: str
    sources: tuple[PointGroup, ...] = DEFAULT_GROUPS
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    limit: int | None = None
    min_score: float | None = None
    explain: bool = False
    no_sync: bool = False


def ask(vault: OpenVault, asked: SearchWords) -> SearchResult:
    """What the vault says. Raises IndexFault."""
    where = asked_filter(asked.sources, asked.paths, asked.tags, asked.since, asked.until)
    sync = False if asked.no_sync else None
    return vault.search(asked.query, where, asked.limit, asked.min_score, sync=sync)


def show(terminal: Terminal, found: SearchResult, asked: SearchWords) -> None:
    """Prints the page, or the JSON object of `memory_search`."""
    if terminal.is_json:
        from infold.operations.memory import search_answer

        terminal.emit(search_answer(found, explain=asked.explain).as_json())
        return
    page = "\n".join(lines_of(found, Paint(is_on=terminal.is_coloured), explain=asked.explain)).rstrip("\n")
    if page:
        terminal.write(f"{page}\n")
    for notice in _notices(found, asked):
        terminal.aside(notice)


def after(vault: OpenVault) -> None:
    """What the next searches have of it."""
    vault.fill_vectors()
    keep_settings(vault.workspace.state, vault.located.params_file)
    if not vault.is_kept_open:
        from infold.cli.resident_start import start_where_it_pays

        start_where_it_pays(vault.located)


class Bars:
    """The bars of what is done before an answer, where there is anything to be done."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._stack = ExitStack()
        self._stages: Stages | None = None

    def __enter__(self) -> None:
        """Nothing yet: most searches have nothing to index, and no time to load what draws bars."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """`done` of `total` of a stage."""
        from infold.cli.progress import Stages

        if self._stages is None:
            if stage in ("tables", "keywords", "vectors") and total < _FEW_NOTES:
                return
            self._stages = self._stack.enter_context(Stages(self._terminal))
        self._stages(stage, done, total)

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def sources_of(given: Sequence[str] | None) -> tuple[PointGroup, ...]:
    """The sources that were named, each option may hold several; those of every search where none was.

    Raises UsageError.
    """
    names = [name.strip().casefold() for each in given or () for name in each.split(",") if name.strip()]
    for name in names:
        if name not in set(PointGroup):
            raise UsageError(f"There is no source {name!r}.", hint=f"The sources are {', '.join(PointGroup)}.")
    return tuple(PointGroup(name) for name in names) or DEFAULT_GROUPS


def _looked_through(asked: SearchWords) -> str:
    """What the filters leave, in their words."""
    parts = ["the vault" if asked.sources == DEFAULT_GROUPS else ", ".join(asked.sources)]
    if asked.paths:
        parts.append(f"under {', '.join(asked.paths)}")
    if asked.tags:
        parts.append(f"tagged {', '.join(asked.tags)}")
    if asked.since:
        parts.append(f"since {asked.since}")
    if asked.until:
        parts.append(f"until {asked.until}")
    return " ".join(parts)


def _notices(found: SearchResult, asked: SearchWords) -> list[str]:
    """What goes to stderr: how far the answer can be relied on, and what to try where there is none."""
    notices = list(found.notices)
    if found.left_out:
        places = "1 place is" if found.left_out == 1 else f"{found.left_out} places are"
        notices.append(
            f"{places} left out: the files have changed since they were indexed and no longer say it; "
            "`infold index` brings the index up to date."
        )
    if not any(found.groups.values()):
        searched = f"{counted(found.searched or 0, 'passage')} searched"
        notices.append(f"Nothing found for {found.query!r} in {_looked_through(asked)}; {searched}.")
        if found.hint:
            notices.append(found.hint)
    return notices
