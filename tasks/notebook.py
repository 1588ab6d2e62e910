"""The notebook's two jobs as tasks. Never cached by Prefect: each looks for itself at what there is."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from infold.app import open_workspace
from infold.notebook.daily_summary import DaySummary, daily_summary
from infold.workspace import Workspace
from tasks.policy import LIBRARIAN_TAG, is_transient
from tasks.preparing import as_synced


@task(
    name="index sessions", task_run_name="index sessions", cache_policy=NO_CACHE, persist_result=False, tags=["derives"]
)
async def index_transcripts(workspace: Workspace) -> Any:
    """The search index in step with transcripts and notes. Gives a SyncResult."""
    with open_workspace(workspace) as vault:
        return as_synced(vault.sync_index())


@task(
    name="summarise day",
    task_run_name="summarise day",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=2,
    retry_delay_seconds=[10, 60],
    retry_condition_fn=is_transient,
    tags=["writes notes", LIBRARIAN_TAG],
)
async def summarise_day(workspace: Workspace, at: datetime) -> DaySummary:
    """The summary of the day of `at`, where agents had something to say on it."""
    with open_workspace(workspace) as vault:
        async with vault.summariser() as librarian:
            return await daily_summary(workspace, librarian, at, of_entries=True)
