"""`infold search`: what the vault says about something, in groups, with the places to read on."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.days import read_day
from infold.cli.found import Paint, lines_of
from infold.cli.options import Call, command
from infold.errors import UsageError
from infold.operations.memory import MemorySearchAnswer, MemorySearchRequest, memory_search
from infold.search.index.contract import DEFAULT_GROUPS, PointGroup

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.cli.progress import Stages
    from infold.cli.terminal import Terminal

_FILTERS = "Only what"
_FEW_NOTES = 100  # indexed before a bar that would show them is drawn


@command
def search(
    call: Call,
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY", help='What to look for: words, "phrases", -word, stor*, tag:work, path:folder.'
        ),
    ],
    *,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            metavar="NAME",
            help="is from there: notebook, daily, sessions, memory or external; may be repeated.",
            rich_help_panel=_FILTERS,
        ),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(
            "--path",
            metavar="FOLDER",
            help="lies in the folder, or is the note; may be repeated.",
            rich_help_panel=_FILTERS,
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", metavar="TAG", help="has the tag, or one below it; each of several.", rich_help_panel=_FILTERS
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="DAY",
            help="is of that day or later: 2026-11-01, yesterday, 7d. Daily notes, sessions, and notes with a date in "
            "their front matter have a day.",
            rich_help_panel=_FILTERS,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="DAY", help="is of that day or earlier.", rich_help_panel=_FILTERS),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("-n", "--limit", metavar="N", min=1, help="Most results in all. Else search.max_results (15)."),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            "--min-score",
            metavar="SCORE",
            min=0,
            max=1,
            help="Leave out what scores less, from 0 to 1. Else search.min_score (0.25).",
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", metavar="", help="Say of each result why it is there.")] = False,
    no_sync: Annotated[
        bool, typer.Option("--no-sync", metavar="", help="Do not look for changed notes first.")
    ] = False,
) -> int:
    """Search by words and by meaning.

    Results come in groups: notebook, daily, sessions. Each is a note, its best place first, more places of it below.
    Notes that changed are indexed first. `infold get` prints a place that was found.

    "Words in quotes" stand in every result as they are, -word in none, in any form of it. stor* is a word that begins
    so. tag:work and path:folder narrow the search; -tag:work and -path:folder leave out. The shell wants quotes around
    a question that has some of these: infold search 'garden -hose "north wall" tag:plan'
    """
    request = MemorySearchRequest(
        query=" ".join(query),
        sources=_sources(source),
        paths=tuple(path or ()),
        tags=tuple(tag or ()),
        since=read_day(since, "--since") if since is not None else None,
        until=read_day(until, "--until") if until is not None else None,
        max_results=limit,
        min_score=min_score,
        explain=explain,
    )
    bars = _Bars(call.terminal)
    with call.reading(bars, search__sync_on_search=False if no_sync else None) as vault:
        with bars:
            found = memory_search(vault, request)
        _show(call, found, request)  # here, because closing the index waits for the disk
        call.afterwards(lambda: _after(vault))
    return 0


def _after(vault: OpenVault) -> None:
    """What the next searches have of it."""
    vault.fill_vectors()
    if not vault.is_kept_open:
        from infold.cli.resident import start_where_it_pays

        start_where_it_pays(vault.located)


def _show(call: Call, found: MemorySearchAnswer, request: MemorySearchRequest) -> None:
    if call.terminal.is_json:
        call.terminal.emit(found.as_json())
        return
    page = "\n".join(lines_of(found, Paint(is_on=call.terminal.is_coloured))).rstrip("\n")
    if page:
        call.terminal.write(f"{page}\n")
    for notice in _notices(found, request):
        call.terminal.aside(notice)


class _Bars:
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
            if stage == "keywords" and total < _FEW_NOTES:
                return
            self._stages = self._stack.enter_context(Stages(self._terminal))
        self._stages(stage, done, total)

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _sources(given: list[str] | None) -> tuple[PointGroup, ...]:
    """The sources that were named, each option may hold several; those of every search where none was."""
    names = [name.strip().casefold() for each in given or () for name in each.split(",") if name.strip()]
    for name in names:
        if name not in set(PointGroup):
            raise UsageError(f"There is no source {name!r}.", hint=f"The sources are {', '.join(PointGroup)}.")
    return tuple(PointGroup(name) for name in names) or DEFAULT_GROUPS


def _looked_through(request: MemorySearchRequest) -> str:
    """What the filters leave, in their words."""
    parts = ["the vault" if request.sources == DEFAULT_GROUPS else ", ".join(request.sources)]
    if request.paths:
        parts.append(f"under {', '.join(request.paths)}")
    if request.tags:
        parts.append(f"tagged {', '.join(request.tags)}")
    if request.since:
        parts.append(f"since {request.since}")
    if request.until:
        parts.append(f"until {request.until}")
    return " ".join(parts)


def _notices(found: MemorySearchAnswer, request: MemorySearchRequest) -> list[str]:
    """What goes to stderr: how far the answer can be relied on, and what to try where there is none."""
    notices = list(found.notices)
    if found.left_out:
        places = "1 place is" if found.left_out == 1 else f"{found.left_out} places are"
        notices.append(
            f"{places} left out: the files have changed since they were indexed and no longer say it; "
            "`infold index` brings the index up to date."
        )
    if not any(found.results.values()):
        searched = f"{found.searched} passage{'s' * (found.searched != 1)} searched"
        notices.append(f"Nothing found for {found.query!r} in {_looked_through(request)}; {searched}.")
        if found.hint:
            notices.append(found.hint)
    return notices
