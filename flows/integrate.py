"""The main job as a flow: the composition of `infold.inbox.integration`, its steps as tasks, its outcome shown."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.place import Settings, place_of
from flows.watching import watcher
from infold.environment import Environment
from infold.inbox.integration import integrate as integrate_inbox
from infold.inbox.run import Run
from infold.inbox.run_store import RunStore
from infold.inbox.steps import open_steps
from infold.notebook.sessions import feeds_of
from tasks.artifacts import show_run
from tasks.steps import PrefectSteps


@flow(name="integrate", flow_run_name="integrate {vault.name}", persist_result=False)
async def integrate(
    vault: Path, state: Path, inbox: Path | None = None, params: Settings = None, dry_run: bool = False
) -> Run:
    """Folds the inbox into the notes it belongs in, or with `dry_run` only plans it."""
    workspace = place_of(vault, state, params, inbox)
    async with open_steps(workspace, Environment(), watcher.get(), feeds=feeds_of(workspace)) as direct:
        steps = PrefectSteps(direct, workspace)
        run = await integrate_inbox(workspace, steps, dry_run=dry_run)
        await steps.close()
    if run.id:
        await show_run(run, RunStore(workspace.runs))
    return run
