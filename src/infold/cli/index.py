"""`infold index` and `infold status`: bringing what is derived up to date, and a short look at how things stand."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.options import Call, command
from infold.cli.place import Place

if TYPE_CHECKING:
    from infold.cli.progress import Stages
    from infold.search.sync import SyncResult
    from infold.tables.sync import TablesResult


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


async def _synced(place: Place, stages: Stages) -> tuple[TablesResult, SyncResult]:
    from infold.environment import Environment
    from infold.inbox.steps import open_steps

    async with open_steps(place.workspace, Environment(), stages) as steps:
        tables = steps.sync_tables()
        await steps.sync_summaries()
        return tables, steps.sync_index()


@dataclass(frozen=True, slots=True)
class Status:
    """How things stand. `waiting` is None where there is no inbox."""

    vault: str
    vault_from: str
    state: str
    params: str | None
    inbox: str
    waiting: int | None
    librarian: str
    runs: int
    last_run: str | None
    last_status: str | None


@command
def status(
    call: Call,
    *,
    settings: Annotated[
        bool,
        typer.Option("--settings", metavar="", help="Print every setting in force as YAML, ready for a params.yaml."),
    ] = False,
) -> int:
    """Show in a few lines which vault this is, what waits in the inbox, and the last run."""
    place = call.place()
    in_force = place.params.model_dump(mode="json")
    if settings and not call.terminal.is_json:
        import yaml

        call.terminal.say(yaml.safe_dump(in_force, allow_unicode=True, sort_keys=False).rstrip())
        return 0
    found = find_status(place)
    if call.terminal.is_json:
        call.terminal.emit({**asdict(found), "settings": in_force})
        return 0
    waits = "missing" if found.waiting is None else f"{found.waiting} paragraph{'s' * (found.waiting != 1)} waiting"
    for name, text in (
        ("vault", f"{found.vault}  ({found.vault_from})"),
        ("inbox", f"{found.inbox}  ({waits})"),
        ("state", found.state),
        ("settings", found.params or "defaults"),
        ("librarian", found.librarian),
        ("last run", f"{found.last_run}  {found.last_status}" if found.last_run else "none yet"),
    ):
        call.terminal.say(f"{name:<10}{text}")
    return 0


def find_status(place: Place) -> Status:
    """Reads only the inbox and the list of runs."""
    from infold.inbox.runs import RunStore

    known = sorted(RunStore(place.workspace.runs).list(), key=lambda run: run.id)
    last = known[-1] if known else None
    return Status(
        vault=str(place.vault),
        vault_from=place.vault_from,
        state=str(place.state),
        params=str(place.params_file) if place.params_file else None,
        inbox=str(place.workspace.inbox),
        waiting=waiting_paragraphs(place),
        librarian=place.params.librarian.kind,
        runs=len(known),
        last_run=last.id if last else None,
        last_status=str(last.status) if last else None,
    )


def waiting_paragraphs(place: Place) -> int | None:
    """How many paragraphs the inbox holds; None where there is no inbox. Raises NoteUnreadable."""
    from infold.inbox.paragraphs import number_paragraphs
    from infold.vault.files import decode, read_bytes

    inbox = place.workspace.inbox
    if not inbox.exists():
        return None
    data = read_bytes(inbox.parent, inbox.name, place.params.vault.max_note_bytes)
    return len(number_paragraphs(decode(data, inbox.name), inbox.name))
