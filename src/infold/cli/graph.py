"""How notes link, their tags, what is not well, and what a text should link to.

`infold graph | links | backlinks | tags | lint | suggest`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli import suggestions
from infold.cli.options import Call, command
from infold.cli.text_input import FileOption, TextArgument, text_input
from infold.errors import UsageError
from infold.knowledge.note_changes import NoteChanges
from infold.knowledge.pictures import draw, html_page, svg
from infold.knowledge.vault_links import graph_of
from infold.operations.graph import (
    GraphView,
    KnowledgeGraphAnswer,
    KnowledgeGraphRequest,
    VaultLintAnswer,
    VaultLintRequest,
    knowledge_graph,
    knowledge_lint,
)
from infold.operations.knowledge import KnowledgeSuggestRequest, knowledge_suggest
from infold.operations.tags import KnowledgeTagsRequest, knowledge_tags

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.cli.terminal import Terminal

_SHOWN_OF_A_GROUP = 6

LinkedNoteArgument = Annotated[
    str, typer.Argument(metavar="NOTE", help="A note, by name or path.", autocompletion=suggestions.notes)
]
MostOption = Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, help="At most so many.")]


@command
def graph(
    call: Call,
    note: Annotated[
        str | None, typer.Argument(metavar="[NOTE]", help="A note, by name or path.", autocompletion=suggestions.notes)
    ] = None,
    *,
    view: Annotated[
        GraphView | None,
        typer.Option("--view", help="What to show; else the backlinks of a note, or the graph in numbers."),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="NOTE", help="Show the path to this note.")] = None,
    hops: Annotated[int, typer.Option("--hops", metavar="N", min=1, max=6, help="Of neighbours and pictures.")] = 1,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, help="At most so many.")] = 50,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE", help="Draw the note's neighbourhood: an .svg, or an .html to pan."),
    ] = None,
) -> int:
    """Look at how notes link: backlinks with their context, neighbours, paths, hubs, communities, gaps.

    Without a note: the graph in numbers, or what --view names.
    """
    chosen: GraphView = view or ("path" if to else "backlinks" if note else "statistics")
    with call.vault() as vault:
        if picture is not None:
            return _draw(call.terminal, vault, note, hops, picture)
        request = KnowledgeGraphRequest(view=chosen, note=note, to=to, hops=hops, limit=limit)
        answer = knowledge_graph(vault, request)
    return call.terminal.answer(answer, "\n".join(_lines(answer)))


def _draw(terminal: Terminal, vault: OpenVault, note: str | None, hops: int, file: Path) -> int:

    if note is None or file.suffix not in (".svg", ".html"):
        raise UsageError("A picture is of a note, in a file that ends with .svg or .html.")
    with vault.catalogued() as catalogue:
        path = NoteChanges(vault.workspace, catalogue).find(note)
        picture = draw(graph_of(catalogue), path, hops)
    text = svg(picture) if file.suffix == ".svg" else html_page(picture, path)
    file.write_text(text, encoding="utf-8")
    terminal.say(f"{file}: {len(picture.places)} notes around {path}")
    if terminal.is_json:
        terminal.emit({"file": str(file), "note": path, "notes": len(picture.places), "leftOut": picture.left_out})
    return 0


def _lines(answer: KnowledgeGraphAnswer) -> list[str]:
    if answer.numbers is not None:
        return [
            f"{name.replace('_', ' '):18} {value:,}"
            for name, value in answer.numbers.model_dump(by_alias=False).items()
        ]
    shown = len(answer.notes) + len(answer.dangling) + len(answer.communities)
    lines = [f"{answer.view.replace('_', ' ')}{f' of {answer.note}' if answer.note else ''}: {answer.total}"]
    for each in answer.notes:
        place = each.path if each.line is None else f"{each.path}:{each.line}"
        counts = f"  {each.incoming} in, {each.outgoing} out" if each.incoming is not None else ""
        steps = f"{each.distance}  " if each.distance is not None else ""
        lines.append(f"  {steps}{place}{counts}" + (f"  {each.context}" if each.context else ""))
    for link in answer.dangling:
        near = f", near it {link.nearest}" if link.nearest else ""
        lines.append(f"  [[{link.target}]]  in {', '.join(link.sources[:3])}{near}")
    for group in answer.communities:
        more = f" and {len(group) - _SHOWN_OF_A_GROUP} more" if len(group) > _SHOWN_OF_A_GROUP else ""
        lines.append(f"  {len(group)}: {', '.join(group[:_SHOWN_OF_A_GROUP])}{more}")
    if answer.total > shown:
        lines.append(f"  … {answer.total - shown} more; --limit shows them.")
    return lines


@command
def links(call: Call, note: LinkedNoteArgument, *, limit: MostOption = 50) -> int:
    """List the notes that a note links to, in the order of its links (`infold graph --view links`)."""
    return _of_a_note(call, "links", note, limit)


@command
def backlinks(call: Call, note: LinkedNoteArgument, *, limit: MostOption = 50) -> int:
    """List the notes that link to a note, with the line that each link stands on (`infold graph NOTE`)."""
    return _of_a_note(call, "backlinks", note, limit)


def _of_a_note(call: Call, view: GraphView, note: str, limit: int) -> int:
    with call.vault() as vault:
        answer = knowledge_graph(vault, KnowledgeGraphRequest(view=view, note=note, limit=limit))
    return call.terminal.answer(answer, "\n".join(_lines(answer)))


@command
def tags(
    call: Call,
    tag: Annotated[str, typer.Argument(metavar="[TAG]", help="A tag, with or without #.", show_default=False)] = "",
    *,
    limit: MostOption = 200,
) -> int:
    """List the tags of the notes, most used first; or the notes that have one tag, or one below it."""
    with call.vault() as vault:
        answer = knowledge_tags(vault, KnowledgeTagsRequest(tag=tag, limit=limit))
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    for each in answer.tags:
        call.terminal.say(f"{each.count:5}  #{each.tag}")
        for path in each.notes:
            call.terminal.say(f"         {path}")
    if answer.total > len(answer.tags):
        call.terminal.say(f"… {answer.total - len(answer.tags)} more; --limit shows them.")
    if not answer.tags:
        call.terminal.notice(f"No note has #{tag.lstrip('#')}." if tag else "No note has a tag.")
    return 0


@command
def lint(
    call: Call,
    *,
    contradictions: Annotated[
        bool, typer.Option("--contradictions/--no-contradictions", help="Also compare what notes say.")
    ] = True,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, help="At most so many of each.")] = 20,
) -> int:
    """Find what is not well in the notes: broken links, orphans, twins, empty notes, and contradictions.

    A contradiction is the same said of the same thing with another number, date, amount or negation. Ends with 1 where
    something was found.
    """
    with call.vault() as vault:
        answer = knowledge_lint(vault, VaultLintRequest(contradictions=contradictions, limit=limit))
    if call.terminal.is_json:
        call.terminal.emit(answer.as_json())
    else:
        call.terminal.say("\n".join(_findings(answer)))
    return 1 if any(answer.counts.values()) else 0


def _findings(answer: VaultLintAnswer) -> list[str]:
    counts = answer.counts
    lines = [f"{answer.notes} notes; " + ", ".join(f"{counts[kind]} {kind}" for kind in counts)]
    for link in answer.dangling:
        near = f", near it {link.nearest}" if link.nearest else ""
        lines.append(f"broken link   [[{link.target}]] in {', '.join(link.sources[:3])}{near}")
    lines += [f"orphan        {path}" for path in answer.orphans]
    lines += [f"twins         {', '.join(paths)}" for paths in answer.twins]
    lines += [f"empty         {path}" for path in answer.empty]
    for pair in answer.contradictions:
        lines.append(f"differs       {pair.newer.path}:{pair.newer.line}  {pair.newer.text}")
        lines.append(f"              {pair.older.path}:{pair.older.line}  {pair.older.text}")
    lines += [f"unread        {path}" for path in answer.unread]
    return lines


@command
def suggest(
    call: Call,
    text: TextArgument = None,
    *,
    file: FileOption = None,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, max=100, help="At most so many.")] = 5,
) -> int:
    """Suggest notes that a text should link to: why, and on which of its lines the link would stand."""
    with call.vault() as vault:
        answer = knowledge_suggest(vault, KnowledgeSuggestRequest(content=text_input(text, file), limit=limit))
    if call.terminal.is_json:
        return call.terminal.answer(answer)
    for each in answer.suggestions:
        why = [f"named {each.mention!r}"] if each.mention else []
        why += [f"shares {', '.join(each.shared)}"] if each.shared else []
        why += [f"linked with {', '.join(each.linked[:2])}"] if each.linked else []
        call.terminal.say(f"{each.link}  line {each.line}: {'; '.join(why) or 'near in meaning'}")
    return 0 if answer.suggestions else 1
