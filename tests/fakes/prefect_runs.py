"""What a Prefect server has recorded of the latest run of a flow."""

from __future__ import annotations

import asyncio
from typing import Any


async def newest(client: Any, flow: str) -> Any | None:
    """The latest run of a flow; None where the server has recorded none yet."""
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName
    from prefect.client.schemas.sorting import FlowRunSort

    named = FlowFilter(name=FlowFilterName(any_=[flow]))
    found = await client.read_flow_runs(flow_filter=named, sort=FlowRunSort.START_TIME_DESC, limit=1)
    return found[0] if found else None


async def latest_run(client: Any, flow: str) -> tuple[Any, dict[str, Any]]:
    """The latest run of a flow, and its task runs by name."""
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    run = await newest(client, flow)
    assert run is not None, f"no run of {flow} was recorded"
    only = FlowRunFilter(id=FlowRunFilterId(any_=[run.id]))
    seen = -1
    for _ in range(40):  # the server records task runs a moment later
        tasks = await client.read_task_runs(flow_run_filter=only)
        if seen == len(tasks) and tasks and all(task.state and task.state.is_final() for task in tasks):
            break
        seen = len(tasks)
        await asyncio.sleep(1.2)
    return run, {task.name: task for task in tasks}
