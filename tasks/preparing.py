"""What is not a decision: tables, summaries and index brought up to date, and a plan written to the vault.

Never cached by Prefect: each looks for itself at what has changed, keeps what it made, and can be repeated. Where
nothing had changed its run ends as Cached, for that is what it was: everything came from what is kept.
"""

from __future__ import annotations

from typing import Any, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed

from infold.catalogue.sync import CatalogueResult
from infold.inbox.planning import Prepared, Steps
from infold.inbox.run import Run
from infold.inbox.runs import apply_run as write_plan
from infold.inbox.steps import DirectSteps
from infold.inbox.summarising import Summaries
from infold.search.index.sync import SyncResult
from infold.workspace import Workspace
from tasks.policy import LIBRARIAN_TAG, carried_out, unseen

_Result = TypeVar("_Result")


def as_found(result: _Result, said: str) -> State[_Result]:
    """The state of a task that found everything as it was: Cached, with `said` beside it in the UI."""
    return Completed(name="Cached", message=said, data=result)


@task(name="tables", task_run_name="tables", cache_policy=NO_CACHE, persist_result=False, tags=["derives"])
async def sync_tables(steps: DirectSteps) -> Any:
    """Notes and links in step with the vault; only what changed is read. Gives a CatalogueResult."""
    result: CatalogueResult = steps.sync_tables()
    is_changed = result.added or result.changed or result.removed
    return result if is_changed else as_found(result, f"All {result.scanned} notes are as they were.")


@task(
    name="summaries",
    task_run_name="summaries",
    cache_policy=NO_CACHE,
    persist_result=False,
    tags=["derives", LIBRARIAN_TAG],
)
async def sync_summaries(steps: DirectSteps) -> Any:
    """A summary for every note; stored batch by batch, only what changed is asked for. Gives Summaries."""
    result: Summaries = await steps.sync_summaries()
    return result if result.made else as_found(result, f"All {result.kept} summaries were there.")


@task(name="index", task_run_name="index", cache_policy=NO_CACHE, persist_result=False, tags=["derives"])
async def sync_index(steps: DirectSteps) -> Any:
    """The search index in step with the vault. Gives a SyncResult; raises where embeddings cannot be had."""
    return as_synced(steps.sync_index())


@task(name="index", task_run_name="index", cache_policy=NO_CACHE, persist_result=False, tags=["derives"])
async def sync_index_or_keywords(steps: DirectSteps) -> Any:
    """As `sync_index`, but with keywords alone where embeddings cannot be had. Gives the result and the warnings."""
    result, warnings = steps.sync_index_or_keywords()
    state = as_synced(result)
    return as_found((result, warnings), str(state.message)) if isinstance(state, State) else (result, warnings)


def as_synced(result: SyncResult) -> SyncResult | State[SyncResult]:
    """The result of a sync, as Cached where nothing had to be done."""
    is_changed = result.files_changed or result.files_removed or result.embeddings_computed or result.rebuilt
    return result if is_changed else as_found(result, f"All {result.files_scanned} files are in the index as they are.")


@task(name="apply", task_run_name="apply {run_id}", cache_policy=NO_CACHE, persist_result=False, tags=["writes notes"])
async def apply_run(run_id: str, steps: Steps) -> Run:
    """Writes a saved plan to the vault, all of it or nothing."""
    return await steps.apply(run_id)


@task(name="apply", task_run_name="apply {run_id}", cache_policy=NO_CACHE, persist_result=False, tags=["writes notes"])
async def apply_plan(run_id: str, workspace: Workspace) -> Run:
    """As `apply_run`, of a plan that was approved: no librarian is needed any more."""
    return write_plan(workspace, run_id)


async def prepared(steps: DirectSteps) -> tuple[Prepared, list[State[Any]]]:
    """The three in their order, and what the rest of a run stands on: the prepared vault and the tasks' states."""
    seen = unseen(steps)
    found, tables = await carried_out(sync_tables, seen)
    made, summaries = await carried_out(sync_summaries, seen, wait_for=[tables])
    synced, index = await carried_out(sync_index_or_keywords, seen, wait_for=[tables])
    return steps.prepared(found, made, *synced), [tables, summaries, index]
