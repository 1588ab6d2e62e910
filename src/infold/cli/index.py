"""`infold index` and `infold rebuild`: bringing what is derived up to date, and making the search index anew."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from infold.cli.options import Call, command
from infold.cli.terminal import Terminal
from infold.locate import LocatedWorkspace

if TYPE_CHECKING:
    from infold.catalogue.sync import TablesResult
    from infold.cli.progress import Stages
    from infold.search.embed.embedder import Embedder
    from infold.search.index.sync import SyncResult

INTERRUPTED = 130


@command
def index(call: Call) -> int:
    """Bring tables, summaries and the search index up to date. Only what changed is read again.

    Words are searchable first, within seconds; meaning follows. Ctrl-C at any time leaves an index that can be
    searched, and the next call goes on where this one stopped.
    """
    from infold.cli.progress import Stages
    from infold.search.index_status import remember_sync

    terminal = call.terminal
    place = call.place()
    try:
        with Stages(terminal) as stages, _embedder(place) as embedder:
            words = _sync(place, embedder, stages, vectors=False)
            tables = asyncio.run(_tables(place, stages))
            _index_memory(place, embedder, stages)
            done = _sync(place, embedder, stages, vectors=True)
        duration_ms = words.duration_ms + done.duration_ms
        remember_sync(place.workspace.index, replace(done, duration_ms=duration_ms))
    except KeyboardInterrupt:
        return _interrupted(place, terminal)
    _tell_skipped(terminal, {**dict(words.skipped), **{item.path: item.reason for item in tables.skipped}})
    if words.emptied:
        terminal.notice(
            "! No notes, or no sessions, where there were some: none were taken from the index.", style="yellow"
        )
    if terminal.is_json:
        computed = {"embeddingsComputed": done.embeddings_computed, "durationMs": duration_ms}
        cached = words.embeddings_cached + done.embeddings_cached
        terminal.emit({**words.as_json(), **computed, "embeddingsCached": cached})
        return 0
    terminal.say(
        f"{tables.scanned} notes: {tables.added} added, {tables.changed} changed, {tables.removed} removed, "
        f"{tables.unchanged} as they were."
    )
    _tell_result(terminal, words.chunks_created, done, words.embeddings_cached, duration_ms)
    return 0


@command
def rebuild(call: Call) -> int:
    """Make the search index anew from the notes, while the old one still serves.

    Embeddings are kept by content: none is computed again. For after a fault, or to be sure; changed notes need only
    `infold index`, and changed settings are noticed by themselves.
    """
    from infold.cli.progress import Stages
    from infold.notebook.sessions import feeds_of
    from infold.search.index_status import held
    from infold.search.index_status import rebuild as rebuilding

    terminal = call.terminal
    place = call.place()
    try:
        with Stages(terminal) as stages, _embedder(place) as embedder:
            _, facts = rebuilding(place.workspace, embedder, stages, feeds_of(place.workspace))
            _index_memory(place, embedder, stages)
    except KeyboardInterrupt:
        terminal.notice("\nInterrupted. The index from before is still in use, unless the new one was nearly done.")
        return INTERRUPTED
    done = facts["result"]
    is_left = not done["filesScanned"] and held(place.workspace)[0] > 0
    if is_left:
        terminal.notice("! The vault seems empty, so the index was left as it is. Is its folder there?", style="yellow")
    if terminal.is_json:
        terminal.emit(facts)
        return 0
    if is_left:
        return 0
    terminal.say(
        f"{done['filesChanged']} notes, {done['chunksCreated']} passages indexed anew; "
        f"{done['embeddingsComputed']} embeddings computed; {done['durationMs'] / 1000:.1f} s."
    )
    return 0


@contextmanager
def _embedder(place: LocatedWorkspace) -> Iterator[Embedder | None]:
    from infold.search.embed.embedder import open_embedder

    embedder = open_embedder(place.params.search)
    if embedder is None:
        yield None
        return
    with closing(embedder):
        yield embedder


def _sync(place: LocatedWorkspace, embedder: Embedder | None, stages: Stages, *, vectors: bool) -> SyncResult:
    from infold.notebook.sessions import feeds_of
    from infold.search.index.sync import sync_index

    space = place.workspace
    return sync_index(
        space.vault,
        space.index,
        space.embeddings,
        space.params,
        embedder,
        stages,
        feeds=feeds_of(space),
        vectors=vectors,
    )


def _index_memory(place: LocatedWorkspace, embedder: Embedder | None, stages: Stages) -> None:
    """The nodes of memory trees, where there are any."""
    if not place.workspace.docmem.exists():
        return
    from infold.docmem.indexing import index_memory
    from infold.docmem.memory import open_docmem

    with closing(open_docmem(place.workspace.docmem)) as memory:
        index_memory(memory, place.workspace, embedder, stages)


async def _tables(place: LocatedWorkspace, stages: Stages) -> TablesResult:
    from infold.environment import Environment
    from infold.inbox.steps import open_steps

    async with open_steps(place.workspace, Environment(), stages) as steps:
        tables = steps.sync_tables()
        await steps.sync_summaries()
        return tables


def _tell_skipped(terminal: Terminal, skipped: dict[str, str]) -> None:
    for path, reason in sorted(skipped.items()):
        terminal.notice(f"! skipped {path}: {reason}", style="yellow")


def _tell_result(terminal: Terminal, created: int, done: SyncResult, cached: int, duration_ms: int) -> None:
    terminal.say(
        f"{created} passage{'s' * (created != 1)} indexed; {done.embeddings_computed} embeddings computed, "
        f"{cached + done.embeddings_cached} reused; {duration_ms / 1000:.1f} s."
    )


def _interrupted(place: LocatedWorkspace, terminal: Terminal) -> int:
    """What can be searched already, and how to go on."""
    from infold.search.index_status import held

    notes, passages, waiting = held(place.workspace)
    if not notes:
        terminal.notice("\nInterrupted before the first notes were indexed; `infold index` begins again.")
    else:
        terminal.notice("\nInterrupted; `infold index` goes on where it stopped.")
        by_meaning = f"; {waiting} of them are found by words only so far" if waiting else ""
        terminal.notice(f"{notes} notes with {passages} passages can be searched{by_meaning}.")
    return INTERRUPTED
