"""`infold nav`: imported notes walked through: explored, zoomed into, followed, seen by theme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from infold.cli.days import read_day
from infold.cli.nav_options import (
    NAVIGATOR_CALLER,
    NavigatorFolderOption,
    show_indented,
)
from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.cli.spending import TokenOption, TokensOption, UsdOption, quoted
from infold.operations import navigator as operations
from infold.operations import navigator_import
from infold.operations.navigator import NodesAnswer
from infold.text import counted

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.cli.terminal import Terminal

_SAID = 200  # characters of a node's summary among others
_ID = 8  # signs of an id that are shown; so many are enough to name one

NavigatorNodeArgument = Annotated[
    str, typer.Argument(metavar="[NODE]", help="A node's id, or its beginning; else where you are.", show_default=False)
]
LimitOption = Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, max=100, help="At most so many nodes.")]
TagOption = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Only notes with it.")]
SinceOption = Annotated[str | None, typer.Option("--since", metavar="DAY", help="Only notes of that day or later.")]
UntilOption = Annotated[str | None, typer.Option("--until", metavar="DAY", help="Only notes of that day or earlier.")]


@command
def browse(
    call: Call,
    path: Annotated[str, typer.Argument(metavar="[FOLDER]", help="A folder of the vault; else its top.")] = "",
) -> int:
    """List folders and notes with their tokens, and whether they are imported.

    infold nav browse · infold nav browse projects
    """
    with call.vault() as vault:
        answer = navigator_import.browse_vault(vault, navigator_import.BrowseVaultRequest(path=path))
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    for folder in answer.folders:
        state = f"{folder.imported} imported" + (f", {folder.dirty} dirty" if folder.dirty else "")
        call.terminal.say(f"{folder.path}/  {counted(folder.notes, 'note')}, {folder.tokens:,} tokens, {state}")
    for note in answer.notes:
        call.terminal.say(f"{note.path}  {note.tokens:,} tokens, {note.state}")
        show_indented(
            call.terminal, "  ".join([note.title, note.day or "", *(f"#{tag}" for tag in note.tags)]), 2, "dim"
        )
    return 0


@command
def import_(
    call: Call,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Notes and folders; . is the whole vault.")],
    *,
    token: TokenOption = None,
    max_usd: UsdOption = None,
    max_tokens: TokensOption = None,
) -> int:
    """Import notes into the navigator, or bring what changed up to date.

    With a model the estimate is shown first; --token, --max-usd or --max-tokens agrees to it. infold nav import .
    """
    with Stages(call.terminal) as stages, call.vault(stages) as vault:
        answer = navigator_import.import_(
            vault,
            navigator_import.ImportRequest(paths=tuple(paths), token=token, max_usd=max_usd, max_tokens=max_tokens),
        )
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    elif answer.quote is not None:
        for each in answer.by_note:
            call.terminal.say(f"{each.path}  {each.tokens[0]:,} to {each.tokens[1]:,} tokens")
        if answer.billed_share is not None:
            call.terminal.say(f"Earlier imports took {answer.billed_share:.2f} of the middle of their estimates.")
        call.terminal.say(quoted(answer.quote))
    else:
        call.terminal.say(
            f"{counted(answer.notes, 'note')} imported, {counted(answer.nodes, 'node')}, "
            f"{answer.summaries:,} new summaries; {answer.usage}."
        )
        for warning in answer.warnings:
            call.terminal.notice(warning)
    return 1 if answer.warnings else 0


@command
def explore(
    call: Call,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="A question or a subject.")],
    *,
    here: Annotated[bool, typer.Option("--here", metavar="", help="Look from where you are.")] = False,
    radius: Annotated[
        float | None, typer.Option(metavar="DISTANCE", min=0, max=2, help="The largest cosine distance.")
    ] = None,
    folder: NavigatorFolderOption = "",
    tag: TagOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = 10,
) -> int:
    """Find the articles, sections and paragraphs nearest to a question; the best is where you are then."""
    request = operations.ExploreRequest(
        query=" ".join(query),
        center_node_id="this one" if here else None,
        radius=radius,
        folder=folder,
        tags=tuple(tag or ()),
        since=_day(since, "--since"),
        until=_day(until, "--until"),
        limit=limit,
        caller=NAVIGATOR_CALLER,
    )
    with call.vault() as vault:
        return _show(call.terminal, operations.explore(vault, request))


@command
def move(
    call: Call,
    node: NavigatorNodeArgument = "",
    *,
    across: Annotated[bool, typer.Option("--across", metavar="", help="At all levels.")] = False,
    folder: NavigatorFolderOption = "",
    tag: TagOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = 10,
) -> int:
    """Show the nodes nearest in meaning to one; you are there then. A note is renamed by `infold rename`."""
    with call.vault() as vault:
        request = operations.MoveRequest(
            node_id=_named(vault, node),
            across=across,
            folder=folder,
            tags=tuple(tag or ()),
            since=_day(since, "--since"),
            until=_day(until, "--until"),
            limit=limit,
            caller=NAVIGATOR_CALLER,
        )
        return _show(call.terminal, operations.move(vault, request))


@command
def into(call: Call, node: NavigatorNodeArgument = "") -> int:
    """Zoom in: show what a node is made of, in reading order; you are there then."""
    with call.vault() as vault:
        return _show(
            call.terminal,
            operations.zoom_in(vault, operations.NodeRequest(node_id=_named(vault, node), caller=NAVIGATOR_CALLER)),
        )


@command
def out(call: Call, node: NavigatorNodeArgument = "") -> int:
    """Zoom out: show what a node is part of, with its summary, and what stands beside it; you are there then."""
    with call.vault() as vault:
        return _show(
            call.terminal,
            operations.zoom_out(vault, operations.NodeRequest(node_id=_named(vault, node), caller=NAVIGATOR_CALLER)),
        )


@command
def follow(
    call: Call,
    node: NavigatorNodeArgument = "",
    *,
    kind: Annotated[
        Literal["backlink", "containment"], typer.Option("--type", help="Links, or what holds and is held.")
    ] = "backlink",
) -> int:
    """Follow links: what links to a node and where its own links lead, each with its line."""
    with call.vault() as vault:
        request = operations.FollowLinkRequest(node_id=_named(vault, node), link_type=kind, caller=NAVIGATOR_CALLER)
        return _show(call.terminal, operations.follow_link(vault, request))


@command
def back(call: Call) -> int:
    """Go back to where you were before."""
    with call.vault() as vault:
        return _show(call.terminal, operations.back(vault, operations.CallerRequest(caller=NAVIGATOR_CALLER)))


@command
def lens(
    call: Call,
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[LENS]", help="technical, personal, recent, your own, or words.")
    ] = None,
    *,
    note: Annotated[list[str] | None, typer.Option("--note", metavar="NOTE", help="A note that shows it.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag of it.")] = None,
) -> int:
    """Look through a lens: what is like it comes first, nothing is left out. Without a name it is taken away."""
    request = operations.FilterRequest(
        lens=" ".join(name) if name else None, notes=tuple(note or ()), tags=tuple(tag or ()), caller=NAVIGATOR_CALLER
    )
    with call.vault() as vault:
        answer = operations.filter_(vault, request)
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    else:
        show_indented(call.terminal, answer.explanation, 0)
        carried = ", ".join(f"{each.what} {each.share:.0%}" for each in answer.carried_by)
        if carried:
            show_indented(call.terminal, f"Carried by {carried}.", 0)
        call.terminal.say(f"Lenses: {', '.join(answer.lenses)}", style="dim")
    return 0


@command
def summarise(
    call: Call,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE...", help="Nodes, by id or its beginning.")],
    *,
    perspective: Annotated[str, typer.Option("--from", metavar="WORDS", help="From which perspective.")] = "",
    token: TokenOption = None,
    max_usd: UsdOption = None,
    max_tokens: TokensOption = None,
) -> int:
    """Summarise several nodes together, from a perspective."""
    with call.vault() as vault:
        ids = tuple(_named(vault, node) or "this one" for node in nodes)
        request = operations.SummarizeRequest(
            node_ids=ids,
            perspective=perspective,
            caller=NAVIGATOR_CALLER,
            token=token,
            max_usd=max_usd,
            max_tokens=max_tokens,
        )
        answer = operations.summarize(vault, request)
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    elif answer.quote is not None:
        call.terminal.say(quoted(answer.quote))
    else:
        show_indented(call.terminal, answer.summary, 0)
        outside = "" if answer.trust == "vault" else f"; some of it {answer.trust}"
        call.terminal.say(f"from {', '.join(answer.sources)}{outside}", style="dim")
    return 0


def _day(written: str | None, option: str) -> str | None:
    return read_day(written, option) if written else None


def _named(vault: OpenVault, node: str) -> str | None:
    """The id that a beginning of one means; None for where the caller is."""
    return vault.navigator_store.id_of(node) if node.strip() else None


def _show(terminal: Terminal, answer: NodesAnswer) -> int:
    if terminal.is_json:
        return terminal.answer(answer)
    if answer.breadcrumbs:
        lens = f"  through {answer.lens}" if answer.lens else ""
        terminal.say(f"{' › '.join(answer.breadcrumbs)}{lens}", style="bold")
    if answer.centre is not None:
        show_indented(terminal, f"{answer.centre.summary}\n", 0)
    for node in answer.nodes:
        title = node.title or " › ".join(node.trail[-2:])
        mark = " (changed since it was summarised)" if node.dirty else ""
        mark += "" if node.trust == "vault" else f" (from {node.trust})"
        terminal.say(f"{node.id[:_ID]}  {node.path}:{node.start_line}  {node.type}  {title}{mark}")
        said = node.reason if node.reason not in ("", "holds it", "part of it") else node.summary
        show_indented(terminal, said if len(said) <= _SAID else f"{said[:_SAID].rsplit(' ', 1)[0]} …", style="dim")
    if answer.notice:
        terminal.notice(answer.notice)
    return 0
