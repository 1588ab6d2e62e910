"""`infold search`: what the vault says about something, in groups, with the places to read on."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.days import read_day
from infold.cli.options import Call, command
from infold.errors import UsageError

if TYPE_CHECKING:
    from infold.cli.place import Place
    from infold.cli.progress import Stages
    from infold.cli.terminal import Terminal
    from infold.search.index.contract import Filter
    from infold.search.query.fresh_search import LiveSearch
    from infold.search.query.results import SearchResult

_FILTERS = "Only what"
_FEW_NOTES = 100  # indexed before a bar that would show them is drawn


@command
def search(
    call: Call,
    query: Annotated[
        list[str],
        typer.Argument(metavar="QUERY", help='What to look for. "Words in quotes" must stand there as they are.'),
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

    Results come in groups: notebook, daily, sessions. Notes that changed are indexed first. `infold get` prints a
    place that was found.
    """
    text = " ".join(query)
    where = _filter(source, path, tag, since, until)
    sync = False if no_sync else None
    bars = _Bars(call.terminal)
    with ExitStack() as stack:
        with bars:
            live = stack.enter_context(_search(call.place(), bars, stack, sync=sync))
            found = live.search(text, where, limit, min_score, sync=sync)
        _show(call, found, where, explain=explain)  # here, because closing the index waits for the disk
        live.fill()
    return 0


def _show(call: Call, found: SearchResult, where: Filter, *, explain: bool) -> None:
    if call.terminal.is_json:
        call.terminal.emit(found.as_json(explain=explain))
        sys.stdout.flush()
        return
    from infold.cli.found import Paint, lines_of

    page = "\n".join(lines_of(found, Paint.for_stdout(), explain=explain)).rstrip("\n")
    if page:
        sys.stdout.write(f"{page}\n")
        sys.stdout.flush()
    for notice in _notices(found, where):
        sys.stderr.write(f"{notice}\n")


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


def _search(place: Place, bars: _Bars, stack: ExitStack, *, sync: bool | None) -> LiveSearch:
    from infold.cli.remembered import memory_texts
    from infold.notebook.sessions import SessionTexts, feeds_of
    from infold.search.embed.embedder import open_embedder
    from infold.search.index.contract import Source
    from infold.search.query.fresh_search import LiveSearch

    space = place.workspace
    embedder = open_embedder(place.params.search)
    return LiveSearch(
        space,
        embedder,
        feeds=feeds_of(space, settled_only=True),
        texts=lambda: {  # asked for once the index is there
            Source.SESSIONS: SessionTexts(space.sessions, space.params.search),
            **memory_texts(space, embedder, stack, sync=sync),
        },
        progress=bars,
    )


def _filter(
    sources: list[str] | None, paths: list[str] | None, tags: list[str] | None, since: str | None, until: str | None
) -> Filter:
    from infold.search.index.contract import Filter, Source

    names = [name.strip().casefold() for given in sources or () for name in given.split(",") if name.strip()]
    for name in names:
        if name not in set(Source):
            raise UsageError(f"There is no source {name!r}.", hint=f"The sources are {', '.join(Source)}.")
    return Filter(
        sources=tuple(names),
        prefixes=tuple(path.strip().removeprefix("./").rstrip("/") for path in paths or ()),
        tags=tuple(tags or ()),
        since=read_day(since, "--since") if since is not None else None,
        until=read_day(until, "--until") if until is not None else None,
    )


def _looked_through(where: Filter) -> str:
    """What the filters leave, in their words."""
    parts = [", ".join(where.sources) or "the vault"]
    if where.prefixes:
        parts.append(f"under {', '.join(where.prefixes)}")
    if where.tags:
        parts.append(f"tagged {', '.join(where.tags)}")
    if where.since:
        parts.append(f"since {where.since}")
    if where.until:
        parts.append(f"until {where.until}")
    return " ".join(parts)


def _notices(found: SearchResult, where: Filter) -> list[str]:
    """What goes to stderr: how far the answer can be relied on, and what to try where there is none."""
    notices = list(found.notices)
    if found.left_out:
        places = "1 place is" if found.left_out == 1 else f"{found.left_out} places are"
        notices.append(
            f"{places} left out: the files have changed since they were indexed and no longer say it; "
            "`infold index` brings the index up to date."
        )
    if not found.results:
        searched = f"{found.searched} passage{'s' * (found.searched != 1)} searched"
        notices.append(f"Nothing found for {found.query!r} in {_looked_through(where)}; {searched}.")
        if found.hint:
            notices.append(found.hint)
    return notices
