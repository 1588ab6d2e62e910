"""Phase 2 as a flow: tables, summaries and index brought up to date, so that an integration finds them ready."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.place import Settings, place_of
from flows.watching import watcher
from infold.environment import Environment
from infold.inbox.steps import open_steps
from infold.notebook.sessions import feeds_of
from tasks.artifacts import show_preprocessed
from tasks.policy import unseen
from tasks.preparing import sync_index, sync_summaries, sync_tables
from tasks.versioning import dvc_repository, record_derived_data


@flow(name="preprocess", flow_run_name="preprocess {vault.name}", persist_result=False)
async def preprocess(vault: Path, state: Path, params: Settings = None) -> int:
    """Brings everything that is derived from the vault up to date; gives the number of notes."""
    workspace = place_of(vault, state, params)
    async with open_steps(workspace, Environment(), watcher.get(), feeds=feeds_of(workspace)) as direct:
        steps = unseen(direct)
        tables = await sync_tables(steps)
        summaries = await sync_summaries(steps)
        await sync_index(steps)
        await show_preprocessed(tables, summaries, direct.usage)
    has_changed = bool(tables.added or tables.changed or tables.removed or summaries.made)
    if has_changed and (repository := dvc_repository(workspace)):
        await record_derived_data(unseen(repository), unseen(summaries))
    return tables.scanned
