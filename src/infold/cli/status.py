"""`infold status`: a short look at how things stand."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer
import yaml

from infold.app import OpenVault
from infold.cli.options import Call, command
from infold.errors import VaultNotFound
from infold.operations.vault import IndexStatusAnswer, VaultStatusAnswer, VaultStatusRequest, vault_status
from infold.search.index.feeds import notes_in
from infold.text import counted


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
    with call.vault() as vault:
        if settings and not call.terminal.is_json:
            in_force = vault.params.model_dump(mode="json")
            call.terminal.say(yaml.safe_dump(in_force, allow_unicode=True, sort_keys=False).rstrip())
            return 0
        found = vault_status(vault, VaultStatusRequest())
        is_empty = _is_empty(vault)
    if call.terminal.is_json:
        return call.terminal.answer(found)
    waits = "missing" if found.waiting is None else f"{counted(found.waiting, 'paragraph')} waiting"
    for name, text in (
        ("vault", f"{found.vault}  ({found.vault_from})"),
        ("inbox", f"{found.inbox}  ({waits})"),
        ("state", found.state),
        ("settings", found.params or "defaults"),
        ("librarian", found.librarian),
        ("last run", f"{found.last_run}  {found.last_status}" if found.last_run else "none yet"),
        *_index_lines(found.index, is_empty=is_empty),
        *_spent(found),
        *([("flush", f"{found.last_flush}  the last reminder before a compaction")] if found.last_flush else []),
    ):
        call.terminal.say(f"{name:<10}{text}")
    return 0


def _spent(found: VaultStatusAnswer) -> list[tuple[str, str]]:
    today = found.spent_today
    return [("spent", f"{today.tokens:,} tokens today, ${today.usd:.2f}")] if today.tokens else []


def _is_empty(vault: OpenVault) -> bool:
    """Whether the vault has no note to index, or is not there."""
    try:
        return not notes_in(vault.workspace.vault, vault.params).items
    except VaultNotFound:
        return True


def _index_lines(index: IndexStatusAnswer, *, is_empty: bool) -> list[tuple[str, str]]:
    if not index.indexed:
        return [("index", "none yet; `infold index` makes it, and so does the first search")]
    held, chunks = index.files, index.chunks
    waiting = chunks.total - chunks.with_embeddings if index.embedding_model else 0
    parts = [f"{counted(held.total, 'note')}, {counted(chunks.total, 'passage')}"]
    if waiting:
        parts.append(f"{waiting} found by words only so far")
    if is_empty and held.total:
        parts.append("the vault seems empty, so the index was left as it is")
    else:
        parts.append(f"{counted(held.stale, 'note')} changed since" if held.stale else "up to date")
    last = index.last_sync
    synced = f"{datetime.fromisoformat(last).astimezone():%Y-%m-%d %H:%M:%S}" if last else "not yet"
    if index.last_sync_duration is not None:
        synced += f"  ({index.last_sync_duration / 1000:.1f} s)"
    return [
        ("index", f"{'; '.join(parts)}  ({index.db_size_bytes / 1e6:.1f} MB)"),
        ("meaning", index.embedding_model or "not searched: search.embedding is none"),
        ("synced", synced),
        ("watched", "yes, by `infold watch`" if index.watcher_active else "no; a search looks for changes itself"),
        *([("resident", f"process {index.served_by} answers searches")] if index.served_by else []),
    ]
