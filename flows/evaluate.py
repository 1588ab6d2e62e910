"""An evaluation as a flow: each case a cached task, how well notes are found another. Meant for a schedule."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.place import Settings, place_of
from flows.watching import watcher
from infold.environment import Environment
from infold.evaluation.arms import plan_arms
from infold.evaluation.committed import metrics
from infold.evaluation.evaluating import EvaluationPlan
from infold.evaluation.evaluating import evaluate as evaluate_cases
from infold.evaluation.findings import find
from infold.evaluation.history import earlier, report_folder
from infold.evaluation.report import write_report
from infold.settings import seeds_of
from tasks.evaluation import as_task, show_evaluation, show_kept_case
from tasks.retrieval import measured, show_retrieval


@flow(name="evaluate", flow_run_name="evaluation of {vault.name}", persist_result=False)
async def evaluate(
    vault: Path, state: Path, params: Settings = None, compare: list[str] | None = None
) -> dict[str, float]:
    """Measures on copies of the vault how well text is filed, and how well notes are found; gives the first figures."""
    workspace = place_of(vault, state, params)
    wanted = workspace.params.evaluate
    arms, before = plan_arms(workspace.params, compare or [])
    plan = EvaluationPlan(
        workspace.vault.name, seeds_of(wanted.seeds), wanted.paragraphs, tuple(arms), wanted.resamples, tuple(before)
    )
    evaluation = await evaluate_cases(workspace, plan, Environment(), as_task, watcher.get(), show_kept_case)
    findings = find(evaluation)
    write_report(report_folder(workspace, evaluation), findings)
    await show_evaluation(findings, earlier(workspace))
    await show_retrieval(await measured(workspace))
    figures: dict[str, float] = metrics(evaluation)["figures"]
    return figures
