"""`infold docmem`: memory searched, by words, by meaning and by tags; its part of the search index."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from infold.cli.docmem_place import memory_of
from infold.cli.options import Call, command
from infold.errors import VaultBusy

if TYPE_CHECKING:
    from infold.docmem.memory import Docmem
    from infold.docmem.node import Node
    from infold.docmem.recall import Recalled
    from infold.locate import LocatedWorkspace
    from infold.search.embed.embedder import Embedder
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
    with memory_of(call) as memory, searching(call, memory) as searcher:
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
    with memory_of(call) as memory, searching(call, memory) as searcher:
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
    from infold.docmem.indexing import index_memory

    place = call.place()
    with memory_of(call) as memory, embedder_of(place) as embedder, Stages(call.terminal) as stages:
        _make_index(place, embedder)
        done = index_memory(memory, place.workspace, embedder, stages)
    if call.terminal.is_json:
        call.terminal.emit({"sent": done.sent, "removed": done.removed, "embeddingsComputed": done.computed})
    else:
        call.terminal.say(f"{done.sent} nodes sent, {done.removed} taken away, {done.computed} embeddings computed.")
    return 0


@contextmanager
def searching(call: Call, memory: Docmem) -> Iterator[Searcher]:
    """A search that has heard of every node; where another process is at it, of what it had before."""
    from infold.docmem.indexing import index_memory
    from infold.docmem.outbox import waiting_count
    from infold.search.query.searcher import Searcher

    place = call.place()
    with embedder_of(place) as embedder:
        _make_index(place, embedder)
        try:
            with memory.store.reading() as rows:
                few = waiting_count(rows) <= _MOST_AT_ONCE
            done = index_memory(memory, place.workspace, embedder, vectors=few, wait_seconds=1.0)
            if done.pending:
                call.terminal.notice(f"{done.pending} nodes are found by words only until `infold index` has run.")
        except VaultBusy:
            call.terminal.notice(
                "Another process is bringing the index up to date; what changed just now may be missing."
            )
        with Searcher(place.workspace.index, place.params.search, embedder) as searcher:
            yield searcher


@contextmanager
def embedder_of(place: LocatedWorkspace) -> Iterator[Embedder | None]:
    """The embeddings that the settings name, let go of at the end."""
    from infold.search.embed.embedder import open_embedder

    with ExitStack() as stack:
        embedder = open_embedder(place.params.search)
        if embedder is not None:
            stack.enter_context(contextlib.closing(embedder))
        yield embedder


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


def _make_index(place: LocatedWorkspace, embedder: Embedder | None) -> None:
    """The index, where there is none yet."""
    from infold.search.index.generations import IndexFolder
    from infold.search.index.sync import sync_index

    space = place.workspace
    if IndexFolder(space.index).is_damaged:
        sync_index(space.vault, space.index, space.embeddings, space.params, embedder, vectors=False)
