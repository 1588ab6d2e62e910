"""`infold search`: what the vault says about something, in groups, with the places to read on."""

from __future__ import annotations

from typing import Annotated

import typer

from infold.cli.days import read_day
from infold.cli.options import Call, command
from infold.cli.searching import Bars, SearchWords, after, ask, show, sources_of

_FILTERS = "Only what"


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
    asked = SearchWords(
        query=" ".join(query),
        sources=sources_of(source),
        paths=tuple(path or ()),
        tags=tuple(tag or ()),
        since=read_day(since, "--since") if since is not None else None,
        until=read_day(until, "--until") if until is not None else None,
        limit=limit,
        min_score=min_score,
        explain=explain,
        no_sync=no_sync,
    )
    bars = Bars(call.terminal)
    with call.reading(bars) as vault:
        with bars:
            found = ask(vault, asked)
        show(call.terminal, found, asked)  # here, because closing the index waits for the disk
        call.afterwards(lambda: after(vault))
    return 0
