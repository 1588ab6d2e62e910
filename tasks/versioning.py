"""Where DVC is set up, derived data that a flow brought up to date is recorded as if `dvc repro` had made it."""

from __future__ import annotations

import asyncio
import importlib.util
import sys

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from infold.errors import EnvironmentFault
from infold.inbox.summarising import Summaries
from infold.stages.repository import Repository, open_repository
from infold.stages.snapshot import take_snapshot
from infold.stages.summaries import write_metrics
from infold.workspace import Workspace

_MOST_SECONDS = 600
_MADE_BY_FLOWS = ("snapshot", "tables", "summaries")  # an evaluation is not brought up to date by them


def dvc_repository(place: Workspace) -> Repository | None:
    """The repository that `place` is the vault and state of, where it has DVC set up and DVC is installed."""
    folder = place.state.parent.parent
    if not (folder / ".dvc").is_dir() or not (folder / "params.yaml").is_file():
        return None
    if importlib.util.find_spec("dvc") is None:
        return None
    repository = open_repository(folder)
    is_same = repository.vault.resolve() == place.vault.resolve() and repository.snapshot.state == place.state
    return repository if is_same else None


async def record(repository: Repository, summaries: Summaries) -> None:
    """Takes the snapshot that the tables were made from, writes the metrics, and commits all of it to DVC.

    Raises EnvironmentFault where DVC refuses, for example because another of its commands is under way.
    """
    params = repository.snapshot.params
    take_snapshot(repository.vault, repository.snapshot.vault, params.vault)
    write_metrics(repository, summaries)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dvc", "commit", "--force", "--quiet", *_MADE_BY_FLOWS),
        cwd=repository.folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await asyncio.wait_for(process.communicate(), _MOST_SECONDS)
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise EnvironmentFault(f"`dvc commit` did not end within {_MOST_SECONDS} s.") from error
    if process.returncode:
        reason = " ".join(said.decode(errors="replace").split())[:300]
        raise EnvironmentFault(f"`dvc commit` failed: {reason}", hint="`dvc repro` brings it up to date later.")


@task(name="record in DVC", cache_policy=NO_CACHE, persist_result=False)
async def record_derived_data(repository: Repository, summaries: Summaries) -> bool:
    """Records; where that fails the derived data are right all the same, so it is a warning."""
    try:
        await record(repository, summaries)
    except EnvironmentFault as fault:
        get_run_logger().warning("%s %s", fault, fault.hint)
        return False
    return True
