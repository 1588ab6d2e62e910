"""`infold index` and `infold status`: bringing what is derived up to date, and a short look at how things stand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from infold.cli.options import Call, command
from infold.cli.place import Place

if TYPE_CHECKING:
    from infold.cli.progress import Stages


@command
def index(call: Call) -> int:
    """Bring tables, summaries and the search index up to date. Only what changed is read again."""
    from infold.cli.progress import Stages

    terminal = call.terminal
    place = call.place()
    with Stages(terminal) as stages:
        tables, synced = asyncio.run(_synced(place, stages))
    for skipped in tables.skipped:
        terminal.notice(f"! skipped {skipped.path}: {skipped.reason}", style="yellow")
    if terminal.is_json:
        terminal.emit(synced.as_json())
        return 0
    terminal.say(
        f"{tables.scanned} notes: {tables.added} added, {tables.changed} changed, {tables.removed} removed, "
        f"{tables.unchanged} as they were."
    )
    terminal.say(
        f"{synced.chunks_created} passages indexed; {synced.embeddings_computed} embeddings computed, "
        f"{synced.embeddings_cached} reused; {synced.duration_ms / 1000:.1f} s."
    )
    return 0


async def _synced(place: Place, stages: Stages) -> tuple[Any, Any]:
    from infold.inbox.steps import open_steps
    from infold.settings import Environment

    async with open_steps(place.workspace, Environment(), stages) as steps:
        tables = await steps.sync_tables()
        await steps.sync_summaries()
        return tables, await steps.sync_index()


@command
def status(call: Call) -> int:
    """Show in a few lines which vault this is, what waits in the inbox, and the last run."""
    from infold.inbox.runs import RunStore

    terminal = call.terminal
    place = call.place()
    known = sorted(RunStore(place.workspace.runs).list(), key=lambda run: run.id)
    waiting = _waiting(place)
    last = known[-1] if known else None
    facts = {
        "vault": str(place.vault),
        "vault_from": place.vault_from,
        "state": str(place.state),
        "params": str(place.params_file) if place.params_file else None,
        "inbox": str(place.workspace.inbox),
        "waiting": waiting,
        "librarian": place.params.librarian.kind,
        "runs": len(known),
        "last_run": {"run": last.id, "status": str(last.status)} if last else None,
    }
    if terminal.is_json:
        terminal.emit(facts)
        return 0
    what_waits = "missing" if waiting is None else f"{waiting} paragraph{'s' if waiting != 1 else ''} waiting"
    terminal.say(f"vault    {place.vault}  ({place.vault_from})")
    terminal.say(f"state    {place.state}")
    terminal.say(f"params   {place.params_file or 'defaults'}")
    terminal.say(f"inbox    {place.workspace.inbox}  ({what_waits})")
    terminal.say(f"last run {f'{last.id}  {last.status}' if last else 'none yet'}")
    return 0


def _waiting(place: Place) -> int | None:
    """How many paragraphs the inbox holds; None where there is no inbox."""
    from infold.inbox.paragraphs import number_paragraphs
    from infold.vault.files import decode, read_bytes

    inbox = place.workspace.inbox
    try:
        data = read_bytes(inbox.parent, inbox.name, place.params.vault.max_note_bytes)
    except FileNotFoundError:
        return None
    return len(number_paragraphs(decode(data, inbox.name), inbox.name))
