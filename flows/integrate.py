"""The main job as a flow: the composition of `infold.inbox.integration`, its steps as tasks, its outcome shown."""

from __future__ import annotations

from pathlib import Path

from prefect import flow, get_run_logger, runtime
from prefect.exceptions import FlowPauseTimeout
from prefect.flow_runs import apause_flow_run
from prefect.input import RunInput

from flows.place import Settings, place_of, run_name, turn
from flows.watching import finished, watcher
from infold.app import open_steps
from infold.inbox.integration import integrate as integrate_inbox
from infold.inbox.run import Run, RunStatus
from infold.inbox.run_store import RunStore
from infold.workspace import Workspace
from tasks.artifacts import show_run
from tasks.policy import unseen
from tasks.preparing import apply_plan
from tasks.steps import PrefectSteps
from tasks.versioning import record_changes


class Approval(RunInput):
    """What a person answers to a plan that waits."""

    apply: bool = True


def _name() -> str:
    return run_name("plan" if runtime.flow_run.parameters.get("dry_run") else "integration")


@flow(name="integrate", flow_run_name=_name, persist_result=False)
async def integrate(
    vault: Path, state: Path, inbox: Path | None = None, params: Settings = None, dry_run: bool = False
) -> Run:
    """Folds the inbox into the notes it belongs in, or with `dry_run` only plans it.

    With `integrate.approval` the plan is shown and waits until a person resumes the run; what is not approved, or not
    in time, stays a plan that `infold apply` applies.
    """
    workspace = place_of(vault, state, params, inbox)
    must_wait = workspace.params.integrate.approval and not dry_run
    async with turn(workspace):
        run = await _integrated(workspace, dry_run=dry_run or must_wait)
    if must_wait and run.status is RunStatus.PLANNED and await _is_approved(workspace, run):
        async with turn(workspace):
            run = await apply_plan(run.id, unseen(workspace))
            await _shown(workspace, run)
    return run


async def _integrated(workspace: Workspace, *, dry_run: bool) -> Run:
    async with open_steps(workspace, watcher.get()) as direct:
        steps = PrefectSteps(direct, workspace)
        run = await integrate_inbox(workspace, steps, dry_run=dry_run)
        finished.get()(run)
        await steps.close()
    await _shown(workspace, run)
    return run


async def _shown(workspace: Workspace, run: Run) -> None:
    if run.id:
        await show_run(run, RunStore(workspace.runs))
        if run.status is not RunStatus.PLANNED:
            await record_changes(unseen(workspace))


async def _is_approved(workspace: Workspace, run: Run) -> bool:
    hours = workspace.params.integrate.approval_hours
    asked = Approval.with_initial_data(
        description=f"The plan {run.id} changes {len(run.changes)} files: see the artifact infold-report of this run. "
        f"Submit to apply it, or clear `apply` and submit to leave it."
    )
    log = get_run_logger()
    try:
        answer = await apause_flow_run(wait_for_input=asked, timeout=max(1, round(hours * 3600)), poll_interval=2)
    except FlowPauseTimeout:
        log.warning("Nobody approved the plan within %g hours. `infold apply %s` applies it.", hours, run.id)
        return False
    if not answer.apply:
        log.info("The plan was not approved. `infold apply %s` still applies it.", run.id)
    return answer.apply
