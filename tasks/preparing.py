"""What is not a decision: tables, summaries and index brought up to date, and a plan written to the vault.

Never cached by Prefect: each looks for itself at what has changed, keeps what it made, and can be repeated.
"""

from __future__ import annotations

from prefect import task
from prefect.cache_policies import NO_CACHE

from infold.catalogue.sync import TablesResult
from infold.inbox.planning import Prepared, Steps
from infold.inbox.run import Run
from infold.inbox.steps import DirectSteps
from infold.inbox.summarising import Summaries
from infold.search.index.sync import SyncResult


@task(name="prepare", task_run_name="tables, summaries, index", cache_policy=NO_CACHE, persist_result=False)
async def prepare_vault(steps: Steps) -> Prepared:
    """All three below, and the atlas that exploration needs."""
    return await steps.prepare()


@task(name="tables", cache_policy=NO_CACHE, persist_result=False)
async def sync_tables(steps: DirectSteps) -> TablesResult:
    """Notes and links in step with the vault; only what changed is read."""
    return steps.sync_tables()


@task(name="summaries", cache_policy=NO_CACHE, persist_result=False)
async def sync_summaries(steps: DirectSteps) -> Summaries:
    """A summary for every note; stored batch by batch, only what changed is asked for."""
    return await steps.sync_summaries()


@task(name="index", cache_policy=NO_CACHE, persist_result=False)
async def sync_index(steps: DirectSteps) -> SyncResult:
    """The search index in step with the tables."""
    return steps.sync_index()


@task(name="apply", task_run_name="apply {run_id}", cache_policy=NO_CACHE, persist_result=False)
async def apply_run(run_id: str, steps: Steps) -> Run:
    """Writes a saved plan to the vault, all of it or nothing."""
    return await steps.apply(run_id)
