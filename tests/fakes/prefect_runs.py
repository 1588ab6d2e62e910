"""What a Prefect server has recorded of the latest run of a flow."""

from __future__ import annotations

import asyncio
from typing import Any, Final

_MOST_SECONDS: Final = 120


async def newest(client: Any, flow: str) -> Any | None:
    """The latest run of a flow; None where the server has recorded none yet."""
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName
    from prefect.client.schemas.sorting import FlowRunSort

    named = FlowFilter(name=FlowFilterName(any_=[flow]))
    found = await client.read_flow_runs(flow_filter=named, sort=FlowRunSort.START_TIME_DESC, limit=1)
    return found[0] if found else None


async def latest_run(client: Any, flow: str, *wanted: str) -> tuple[Any, dict[str, Any]]:
    """The latest run of a flow, and its task runs by name, once each of `wanted` begins the name of one and all ended."""
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    run = await newest(client, flow)
    assert run is not None, f"no run of {flow} was recorded"
    only = FlowRunFilter(id=FlowRunFilterId(any_=[run.id]))
    async with asyncio.timeout(_MOST_SECONDS):  # the server records task runs a moment later
        while True:
            tasks = {task.name: task for task in await client.read_task_runs(flow_run_filter=only)}
            is_there = all(any(name.startswith(beginning) for name in tasks) for beginning in wanted)
            if is_there and all(task.state and task.state.is_final() for task in tasks.values()):
                return run, tasks
            await asyncio.sleep(0.3)


async def artifacts_of(client: Any, run: Any) -> dict[str, Any]:
    """What a run shows, by key."""
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

    only = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run.id]))
    return {artifact.key: artifact.data for artifact in await client.read_artifacts(artifact_filter=only)}
