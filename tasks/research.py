"""A page from outside as a task. Never cached by Prefect: the server is asked whether it changed."""

from __future__ import annotations

import asyncio
from typing import Any

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun

from infold.errors import FetchFailed
from infold.knowledge.sources.research import FetchReport, Researcher


async def may_come_later(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Whether the page may be had a little later: no rule forbids it."""
    return isinstance(await state.aresult(raise_on_failure=False), FetchFailed)


@task(
    name="fetch source",
    task_run_name="fetch {url}",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=2,
    retry_delay_seconds=[10, 60],
    retry_condition_fn=may_come_later,
    tags=["brings in"],
)
async def fetch_source(researcher: Researcher, url: str) -> FetchReport:
    """One address brought up to date in the store. Raises FetchFailed where it may come later."""
    report = await asyncio.to_thread(researcher.fetch, url)
    if report.status == "failed":
        raise FetchFailed(report.reason)
    return report
