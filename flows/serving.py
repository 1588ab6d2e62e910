"""The process that serves the flows of one vault: `python -m flows.serving`, started and ended by `flows.serve`.

It also looks, as long as it lives, whether the server plans the runs that the schedules ask for, and writes that down.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from flows.deployments import DEPLOYMENTS, FLOW_NAMES, Deployment
from flows.server_folder import ServerFolder, write_own_json
from infold.settings import Params
from infold.workspace import Workspace
from tasks.environment import configure

if TYPE_CHECKING:
    from prefect.schedules import Schedule

_SECONDS_BETWEEN_POLLS: Final = 2
_SECONDS_BETWEEN_LOOKS: Final = 15.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until it is ended."""
    configure()
    parser = argparse.ArgumentParser(prog="python -m flows.serving", description=__doc__)
    for name in ("vault", "state", "inbox"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--params", required=True, help="parameters as JSON")
    chosen = parser.parse_args(arguments)
    params = Params.model_validate_json(chosen.params)
    asyncio.run(serve(Workspace(chosen.vault, chosen.state, chosen.inbox, params)))


async def serve(workspace: Workspace) -> None:
    """Makes a deployment of every flow of the table and starts their runs until this is cancelled."""
    from prefect.runner import Runner

    await mark_crashed_runs()
    # As many as there are flows: a run that waits for approval holds up none of the others. Two runs of one flow never
    # overlap (its limit), and two flows take turns on the vault (`flows.place.turn`).
    runner = Runner(
        name="infold", limit=len(DEPLOYMENTS), query_seconds=_SECONDS_BETWEEN_POLLS, pause_on_shutdown=False
    )
    served = {}
    for each in DEPLOYMENTS:
        served[each.flow] = await runner.aadd_deployment(await deployment_of(each, workspace))
    watch = asyncio.create_task(_keep_watch(ServerFolder.of(workspace), workspace, served))
    try:
        await runner.start()
    finally:
        watch.cancel()


async def deployment_of(each: Deployment, workspace: Workspace) -> Any:
    """A row of the table as Prefect's deployment. Its flow is imported by each run, and not pickled from here."""
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
    from prefect.types.entrypoint import EntrypointType
    from prefect.utilities.importtools import import_object

    file, _, function = each.entrypoint.partition(":")
    flow = import_object(f"{file.removesuffix('.py').replace('/', '.')}.{function}")
    return await flow.ato_deployment(
        name=workspace.vault.name or "vault",
        schedules=scheduled(each.cron(workspace.params)),
        parameters=each.parameters(workspace),
        description=each.description,
        tags=[*each.tags, workspace.vault.name],
        concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE),
        entrypoint_type=EntrypointType.MODULE_PATH,
    )


def scheduled(cron: str | None) -> list[Schedule]:
    """The schedule of five fields, in this machine's time zone: Prefect's own is UTC. None and '' are no schedule."""
    from prefect.schedules import Cron
    from tzlocal import get_localzone_name

    return [Cron(cron, timezone=get_localzone_name())] if cron else []


async def _keep_watch(folder: ServerFolder, workspace: Workspace, served: Mapping[str, UUID]) -> None:
    """Writes down, now and again, what is planned; the first time tells `flows up` that runs can be started."""
    from httpx import HTTPError
    from prefect.exceptions import PrefectException

    since = time.time()
    flows = [_state_of(each, workspace, None, None) for each in DEPLOYMENTS]
    while True:
        at = time.time()
        write_own_json(folder.serving_file, {"pid": os.getpid(), "since": since, "at": at, "flows": flows})
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS if at - since > _SECONDS_BETWEEN_LOOKS else 1.0)
        try:
            flows = [_state_of(each, workspace, *await _planned(served[each.flow])) for each in DEPLOYMENTS]
        except (
            HTTPError,
            PrefectException,
            OSError,
            RuntimeError,
        ) as error:  # an unreachable server is a RuntimeError there
            print(f"The schedules could not be looked at: {error}", flush=True)


def _state_of(each: Deployment, workspace: Workspace, next_run: float | None, waiting: float | None) -> dict[str, Any]:
    cron = each.cron(workspace.params)
    return {"flow": each.flow, "cron": cron, "next_run": next_run, "waiting_since": waiting}


async def _planned(deployment: UUID) -> tuple[float | None, float | None]:
    """When the next run of a deployment is planned, and since when one that was due has not started."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import (
        DeploymentFilter,
        DeploymentFilterId,
        FlowRunFilter,
        FlowRunFilterState,
        FlowRunFilterStateType,
    )
    from prefect.client.schemas.objects import StateType
    from prefect.client.schemas.sorting import FlowRunSort

    only = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED])))
    async with get_client() as client:
        runs = await client.read_flow_runs(
            deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment])),
            flow_run_filter=only,
            sort=FlowRunSort.NEXT_SCHEDULED_START_TIME_ASC,
            limit=20,
        )
    # A run that waits for its turn behind another is planned anew every few seconds, and is no run that is late.
    due = [
        run.next_scheduled_start_time.timestamp()
        for run in runs
        if run.next_scheduled_start_time and run.state_name not in {"AwaitingConcurrencySlot", "Paused", "Suspended"}
    ]
    now = datetime.now(UTC).timestamp()
    return min((at for at in due if at > now), default=None), min((at for at in due if at <= now), default=None)


async def mark_crashed_runs() -> int:
    """Runs that still count as running belong to processes that ended with the former server; says how many."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import (
        FlowFilter,
        FlowFilterName,
        FlowRunFilter,
        FlowRunFilterState,
        FlowRunFilterStateType,
    )
    from prefect.client.schemas.objects import StateType
    from prefect.states import Crashed

    unfinished = [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING, StateType.PAUSED]
    async with get_client() as client:
        runs = await client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=list(FLOW_NAMES))),
            flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=unfinished))),
        )
        for run in runs:
            message = "The process that carried this run out has ended. Run it again: what was paid for is kept."
            await client.set_flow_run_state(run.id, Crashed(message=message), force=True)
    return len(runs)


if __name__ == "__main__":
    main()
