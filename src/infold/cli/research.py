"""`infold research` and `infold sources`: what is brought in from outside, and what is kept of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from infold.cli.options import Call, command
from infold.operations.contract import Nothing
from infold.operations.research import (
    FetchedSource,
    KnowledgeResearchRequest,
    SourceAddRequest,
    SourceForgetRequest,
    SourceShowRequest,
    SourceWatchRequest,
    knowledge_research,
    source_add,
    source_forget,
    source_show,
    source_watch,
    sources_list,
)

SourceArgument = Annotated[str, typer.Argument(metavar="SOURCE", help="Its address, or its path as results show it.")]


@command
def research(
    call: Call,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    url: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[URL]...",
            help="Pages, PDFs, .git repositories, API descriptions, sitemaps, or folders of this machine (./pumps).",
        ),
    ] = None,
    *,
    sync_to_local: Annotated[
        bool,
        typer.Option(
            "--note", metavar="", help="Also make notes of them, or bring theirs up to date; labelled as from outside."
        ),
    ] = False,
) -> int:
    """Bring in pages from outside and answer from them; without addresses, from what was brought in before.

    Only what changed is transferred. Pages on your own network are refused unless INFOLD_FETCH_HOSTS names their host.
    """
    places = url or []
    with call.vault() as vault:
        packed = {
            place: source_add(vault, SourceAddRequest(folder=place))
            for place in dict.fromkeys(places)
            if _is_folder(place)
        }
        urls = tuple(packed[place].url if place in packed else place for place in places)
        request = KnowledgeResearchRequest(query=question, urls=urls, sync_to_local=sync_to_local)
        answer = knowledge_research(vault, request)
    first = {each.url: each for each in packed.values()}
    answer = answer.model_copy(update={"fetched": tuple(first.get(each.url, each) for each in answer.fetched)})
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    else:
        for each in answer.fetched:
            call.terminal.notice(_line(each))
        for note in answer.notes:
            call.terminal.notice(f"note      {note}")
        if answer.change:
            call.terminal.notice(f"undo      infold undo {answer.change}")
        for stale in answer.stale:
            call.terminal.notice(f"stale     {stale}")
        sys.stdout.write(answer.context)
    failed = [each for each in answer.fetched if each.status in ("refused", "failed")]
    return 1 if failed else 0


@command
def add(
    call: Call,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder, or a Git repository: its newest commit.")],
) -> int:
    """Pack a folder of this machine as a source; asked for again, it is brought up to date."""
    with call.vault() as vault:
        done = source_add(vault, SourceAddRequest(folder=folder))
    return call.terminal.answer(done, _line(done))


@command
def list_(call: Call) -> int:
    """List what was brought in from outside; stale ones are watched and were not looked at for long."""
    with call.vault() as vault:
        answer = sources_list(vault, Nothing())
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    for source in answer.sources:
        marks = [
            mark
            for mark, is_so in (
                ("gone", source.is_gone),
                ("watched", source.is_watched),
                ("stale", source.url in answer.stale),
            )
            if is_so
        ]
        told = f"  ({', '.join(marks)})" if marks else ""
        call.terminal.say(f"{source.checked[:10]}  {source.kind:10}  {source.url}  {source.title}{told}")
    if not answer.sources:
        call.terminal.say("Nothing was brought in yet: infold research QUESTION URL")
    return 0


@command
def show(call: Call, source: SourceArgument) -> int:
    """Show the text of a source, and what changed in it last."""
    with call.vault() as vault:
        answer = source_show(vault, SourceShowRequest(source=source))
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    sys.stdout.write(call.terminal.safe(answer.text))
    if answer.diff:
        sys.stdout.write(f"\n{call.terminal.safe(answer.diff)}")
    return 0


@command
def watch(
    call: Call,
    source: SourceArgument,
    *,
    off: Annotated[bool, typer.Option("--off", metavar="", help="Take it off the list.")] = False,
) -> int:
    """Look at a source by schedule from now on: `infold flows up` does, each week unless set otherwise."""
    with call.vault() as vault:
        done = source_watch(vault, SourceWatchRequest(source=source, watch=not off))
    return call.terminal.answer(done, done.message)


@command
def forget(call: Call, source: SourceArgument) -> int:
    """Take a source out, with every text it had. Notes that were made of it stay."""
    with call.vault() as vault:
        done = source_forget(vault, SourceForgetRequest(source=source))
    return call.terminal.answer(done, done.message)


def _is_folder(place: str) -> bool:
    """Whether a place is one of this machine: an address has a scheme."""
    return "://" not in place and (place.startswith(("/", "./", "../", "~", ".")) or Path(place).is_dir())


def _line(source: FetchedSource) -> str:
    return f"{source.status:9} {source.url}" + (f"  {source.reason}" if source.reason else "")
