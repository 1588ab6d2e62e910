"""Where DVC is set up: what a flow changed is recorded as if `dvc repro` had made it."""

from __future__ import annotations

from typing import Any

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from infold.errors import EnvironmentFault
from infold.stages.record import record, repository_of
from infold.workspace import Workspace
from tasks.preparing import as_found


@task(
    name="record in DVC", task_run_name="record in DVC", cache_policy=NO_CACHE, persist_result=False, tags=["derives"]
)
async def record_changes(workspace: Workspace) -> Any:
    """Records; where that fails the notes and what is derived are right all the same, so it is a warning."""
    repository = repository_of(workspace)
    if repository is None:
        return as_found(False, "DVC is not set up for this vault.")
    try:
        await record(repository, workspace)
    except EnvironmentFault as fault:
        get_run_logger().warning("%s %s", fault, fault.hint)
        return False
    return True
