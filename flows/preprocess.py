"""Phase 2 as a flow: tables, summaries and index brought up to date, so that an integration finds them ready."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.place import Settings, place_of, turn
from flows.watching import watcher
from infold.app import open_steps
from tasks.artifacts import show_preprocessed
from tasks.policy import carried_out, unseen
from tasks.preparing import sync_index, sync_summaries, sync_tables
from tasks.versioning import record_changes


@flow(name="preprocess", flow_run_name="preprocessing of {vault.name}", persist_result=False)
async def preprocess(vault: Path, state: Path, params: Settings = None) -> int:
    """Brings everything that is derived from the vault up to date; gives the number of notes."""
    workspace = place_of(vault, state, params)
    async with turn(workspace):
        async with open_steps(workspace, watcher.get()) as direct:
            steps = unseen(direct)
            tables, first = await carried_out(sync_tables, steps)
            summaries, second = await carried_out(sync_summaries, steps, wait_for=[first])
            await carried_out(sync_index, steps, wait_for=[first])
            await show_preprocessed(tables, summaries, direct.usage)
        if tables.added or tables.changed or tables.removed or summaries.made:
            await record_changes(unseen(workspace), wait_for=[second])
    scanned: int = tables.scanned
    return scanned
