"""`infold index` and `infold rebuild`: bringing what is derived up to date, and making the search index anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.forecast import agreed
from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.operations.contract import Nothing
from infold.operations.spending import Spending
from infold.operations.vault import IndexSyncAnswer, index_rebuild, index_sync
from infold.search.index_status import held
from infold.text import counted

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.cli.terminal import Terminal

INTERRUPTED = 130


@command
def index(
    call: Call,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask before a model is paid.")] = False,
) -> int:
    """Bring tables, summaries and the search index up to date. Only what changed is read again.

    Words are searchable first, within seconds; meaning follows. Ctrl-C at any time leaves an index that can be
    searched, and the next call goes on where this one stopped.
    """
    terminal = call.terminal
    with call.vault() as vault:
        request = agreed(terminal, vault, "index_sync", Spending(), vault.estimate_summaries, yes=yes)
        if request is None:
            terminal.say("Nothing was asked.")
            return 0
        try:
            with Stages(terminal) as stages, vault.reporting(stages):
                done = index_sync(vault, request)
        except KeyboardInterrupt:
            return _interrupted(vault, terminal)
    for skipped in done.skipped:
        terminal.notice(f"! skipped {skipped.path}: {skipped.reason}", style="yellow")
    if done.emptied:
        terminal.notice(
            "! No notes, or no sessions, where there were some: none were taken from the index.", style="yellow"
        )
    if terminal.is_json:
        terminal.emit(done.as_json())
    else:
        _tell(terminal, done)
    return 0


@command
def rebuild(call: Call) -> int:
    """Make the search index anew from the notes, while the old one still serves.

    Embeddings are kept by content: none is computed again. For after a fault, or to be sure; changed notes need only
    `infold index`, and changed settings are noticed by themselves.
    """
    terminal = call.terminal
    with call.vault() as vault:
        try:
            with Stages(terminal) as stages, vault.reporting(stages):
                done = index_rebuild(vault, Nothing())
        except KeyboardInterrupt:
            terminal.notice("\nInterrupted. The index from before is still in use, unless the new one was nearly done.")
            return INTERRUPTED
    if done.kept:
        terminal.notice("! The vault seems empty, so the index was left as it is. Is its folder there?", style="yellow")
    if terminal.is_json:
        terminal.emit(done.as_json())
    elif not done.kept:
        made = done.result
        terminal.say(
            f"{made.files_changed} notes, {made.chunks_created} passages indexed anew; "
            f"{made.embeddings_computed} embeddings computed; {made.duration_ms / 1000:.1f} s."
        )
    return 0


def _tell(terminal: Terminal, done: IndexSyncAnswer) -> None:
    created = done.chunks_created
    terminal.say(
        f"{done.notes} notes: {done.added} added, {done.changed} changed, {done.removed} removed, "
        f"{done.unchanged} as they were."
    )
    terminal.say(
        f"{counted(created, 'passage')} indexed; {done.embeddings_computed} embeddings computed, "
        f"{done.embeddings_cached} reused; {done.duration_ms / 1000:.1f} s."
    )


def _interrupted(vault: OpenVault, terminal: Terminal) -> int:
    """What can be searched already, and how to go on."""
    notes, passages, waiting = held(vault.workspace)
    if not notes:
        terminal.notice("\nInterrupted before the first notes were indexed; `infold index` begins again.")
    else:
        terminal.notice("\nInterrupted; `infold index` goes on where it stopped.")
        by_meaning = f"; {waiting} of them are found by words only so far" if waiting else ""
        terminal.notice(f"{notes} notes with {passages} passages can be searched{by_meaning}.")
    return INTERRUPTED
