"""Phase 2 as a flow: tables, summaries and index brought up to date, so that an integration finds them ready."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.watching import watcher
from infold.inbox.steps import open_steps
from infold.settings import Environment, Params
from infold.workspace import Workspace
from tasks.artifacts import show_prepared
from tasks.steps import PrefectSteps


@flow(name="preprocess", flow_run_name="preprocess {vault.name}", persist_result=False)
async def preprocess(vault: Path, state: Path, params: Params | None = None) -> int:
    """Brings everything that is derived from the vault up to date; gives the number of notes."""
    params = params or Params()
    workspace = Workspace(vault, state, vault / params.vault.inbox_file, params)
    async with open_steps(workspace, Environment(), watcher.get()) as direct:
        steps = PrefectSteps(direct, workspace)
        prepared = await steps.prepare()
        await steps.close()
    await show_prepared(prepared, direct.usage)
    return len(prepared.atlas.cards)
