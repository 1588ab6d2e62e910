"""`infold docmem`: memory searched, by words, by meaning and by tags; its part of the search index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from infold.cli.docmem_place import memory_of
from infold.cli.options import Call, command

if TYPE_CHECKING:
    from infold.docmem.node import Node
    from infold.docmem.recall import Recalled
    from infold.search.query.searcher import Searcher

WithinOption = Annotated[
    str | None, typer.Option("--in", metavar="NODE", help="Only from this node down: a tree, or a part of one.")
]
_SHOWN_CHARACTERS: Final = 200
_MOST_AT_ONCE: Final = 2_000  # nodes that a search embeds while it is waited for; more wait for `infold index`


@command
def search(
    call: Call,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for.", show_default=False)],
    *,
    within: WithinOption = None,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, help="Most results.")] = 10,
) -> int:
    """Search memory by words and by meaning, and show where each result stands in its tree.

    A memory whose summary matches too is named under the summary; several memories of one parent make the parent the
    result. What `@tags` in the question and in the results stand for is named after them.
    """
    from infold.docmem.recall import recall

    text = " ".join(query)
    with memory_of(call) as memory, searching(call) as searcher:
        found = recall(memory, searcher, text, within=within, limit=limit)
    if call.terminal.is_json:
        linked = {tag: [node.as_dict() for node in nodes] for tag, nodes in found.linked.items()}
        results = [result.as_json() for result in found.results]
        call.terminal.emit({"query": text, "results": results, "linked": linked, "gone": found.gone})
        return 0
    for result in found.results:
        _show_result(call, result)
    for tag, nodes in found.linked.items():
        call.terminal.say(f"@{tag}", style="bold")
        for node in nodes:
            show_text(call, node)
    if not found.results:
        call.terminal.notice(f"Nothing found in memory for {text!r}.")
    return 0


@command
def tags(
    call: Call,
    tag: Annotated[str, typer.Argument(metavar="TAG", help="With or without the @.", show_default=False)],
    *,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=1, help="Most nodes.")] = 20,
) -> int:
    """List the nodes that carry a @tag in their text, and those that are named so."""
    from infold.docmem.recall import tagged

    name = tag.lstrip("@").casefold()
    with memory_of(call) as memory, searching(call) as searcher:
        nodes = tagged(memory, searcher, name, limit=limit)
    if call.terminal.is_json:
        call.terminal.emit({"tag": name, "nodes": [node.as_dict() for node in nodes]})
        return 0
    for node in nodes:
        show_text(call, node)
    if not nodes:
        call.terminal.notice(f"Nothing carries @{name}.")
    return 0


@command
def index(call: Call) -> int:
    """Bring the search index up to date with the trees: only what changed is sent. Every search does this first."""
    from infold.cli.progress import Stages

    with Stages(call.terminal) as stages, call.vault(stages) as vault:
        done = vault.index_memory()
    sent, removed, computed = done.chunks_created, done.files_removed, done.embeddings_computed
    if call.terminal.is_json:
        call.terminal.emit({"sent": sent, "removed": removed, "embeddingsComputed": computed})
    else:
        call.terminal.say(f"{sent} nodes sent, {removed} taken away, {computed} embeddings computed.")
    return 0


@contextmanager
def searching(call: Call) -> Iterator[Searcher]:
    """A search that has heard of every node; where another process is at it, of what it had before."""
    with call.vault() as vault:
        for notice in vault.memory_indexed():
            call.terminal.notice(notice)
        yield vault.memory_searcher


def show_text(call: Call, node: Node, indent: str = "") -> None:
    """A node in two lines: its full metadata, the beginning of its text."""
    call.terminal.say(f"{indent}{node}", style="cyan")
    text = " ".join(node.text.split())
    if text:
        call.terminal.say(f"{indent}  {text[:_SHOWN_CHARACTERS]}{' …' if len(text) > _SHOWN_CHARACTERS else ''}")


def _show_result(call: Call, result: Recalled) -> None:
    where = " > ".join(f"{node.id} {node.context}" for node in reversed(result.above))
    place = f"{where} > {result.position} of {result.siblings}" if where else "a tree"
    call.terminal.say(f"{result.score:.2f}  {place}", style="dim")
    show_text(call, result.node)
    if result.covered:
        why = "raised by" if result.raised else "covers"
        call.terminal.say(f"  {why}:", style="dim")
        for node in result.covered:
            show_text(call, node, "    ")
