"""What is not a decision: bringing tables, summaries and index up to date, and writing a plan to the vault.

Never cached: each looks for itself at what has changed, and repeating it is safe.
"""

from __future__ import annotations

from prefect import task
from prefect.cache_policies import NO_CACHE

from infold.inbox.integration import Prepared, Steps
from infold.inbox.run import Run


@task(name="prepare", task_run_name="tables, summaries, index", cache_policy=NO_CACHE, persist_result=False)
async def prepare_vault(steps: Steps) -> Prepared:
    """Tables, summaries and index of the vault brought up to date; only what changed is read."""
    return await steps.prepare()


@task(name="apply", task_run_name="apply {run_id}", cache_policy=NO_CACHE, persist_result=False)
async def apply_run(run_id: str, steps: Steps) -> Run:
    """Writes a saved plan to the vault, all of it or nothing."""
    return await steps.apply(run_id)
