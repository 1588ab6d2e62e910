"""`infold status`: a short look at how things stand."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from infold.cli.options import Call, command
from infold.locate import LocatedWorkspace


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
    index: dict[str, Any]  # as `search.index_status.status` gives it
    last_flush: str | None = None  # when an agent was last reminded to write its memories down


@command
def status(
    call: Call,
    *,
    settings: Annotated[
        bool,
        typer.Option("--settings", metavar="", help="Print every setting in force as YAML, ready for a params.yaml."),
    ] = False,
) -> int:
    """Show in a few lines which vault this is, what waits in the inbox, the last run, and how the index stands."""
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
        *_index_lines(found.index, is_empty=_is_empty(place)),
        *([("flush", f"{found.last_flush}  the last reminder before a compaction")] if found.last_flush else []),
    ):
        call.terminal.say(f"{name:<10}{text}")
    return 0


def find_status(place: LocatedWorkspace) -> Status:
    """Reads only the inbox, the list of runs and what the index says of itself; lists the vault, reads no note."""
    from infold.inbox.paragraphs import read_paragraphs
    from infold.inbox.run_store import RunStore
    from infold.notebook.flush import last_flush
    from infold.search import index_status as facts

    known = sorted(RunStore(place.workspace.runs).list(), key=lambda run: run.id)
    last = known[-1] if known else None
    return Status(
        vault=str(place.vault),
        vault_from=place.vault_from,
        state=str(place.state),
        params=str(place.params_file) if place.params_file else None,
        inbox=str(place.workspace.inbox),
        waiting=None if (waiting := read_paragraphs(place.workspace)) is None else len(waiting),
        librarian=place.params.librarian.kind,
        runs=len(known),
        last_run=last.id if last else None,
        last_status=str(last.status) if last else None,
        index=facts.status(place.workspace),
        last_flush=flush.at if (flush := last_flush(place.workspace)) else None,
    )


def _is_empty(place: LocatedWorkspace) -> bool:
    """Whether the vault has no note to index, or is not there."""
    from infold.errors import VaultNotFound
    from infold.search.index.feeds import NotesFeed

    try:
        return not NotesFeed(place.vault, place.params).items().items
    except VaultNotFound:
        return True


def _index_lines(index: dict[str, Any], *, is_empty: bool) -> list[tuple[str, str]]:
    if not index["indexed"]:
        return [("index", "none yet; `infold index` makes it, and so does the first search")]
    held, chunks = index["files"], index["chunks"]
    waiting = chunks["total"] - chunks["withEmbeddings"] if index["embeddingModel"] else 0
    parts = [f"{_count(held['total'], 'note')}, {_count(chunks['total'], 'passage')}"]
    if waiting:
        parts.append(f"{waiting} found by words only so far")
    if is_empty and held["total"]:
        parts.append("the vault seems empty, so the index was left as it is")
    else:
        parts.append(f"{_count(held['stale'], 'note')} changed since" if held["stale"] else "up to date")
    last = index["lastSync"]
    synced = f"{datetime.fromisoformat(last).astimezone():%Y-%m-%d %H:%M:%S}" if last else "not yet"
    if index["lastSyncDuration"] is not None:
        synced += f"  ({index['lastSyncDuration'] / 1000:.1f} s)"
    return [
        ("index", f"{'; '.join(parts)}  ({index['dbSizeBytes'] / 1e6:.1f} MB)"),
        ("meaning", index["embeddingModel"] or "not searched: search.embedding is none"),
        ("synced", synced),
        ("watched", "yes, by `infold watch`" if index["watcherActive"] else "no; a search looks for changes itself"),
    ]


def _count(n: int, word: str) -> str:
    return f"{n} {word}{'s' * (n != 1)}"
