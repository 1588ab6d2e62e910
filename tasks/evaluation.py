"""Cases of an evaluation as cached tasks, and what a flow run shows of it: the figures, and how they went."""

from __future__ import annotations

from typing import Any

from prefect import task
from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact
from prefect.cache_policies import NO_CACHE

from infold import vault_evaluation
from infold.environment import Environment
from infold.evaluation.cases import Case
from infold.evaluation.findings import Findings
from infold.evaluation.history import History, trend
from infold.evaluation.records import CaseResult
from infold.evaluation.report_text import percent, report_text
from infold.evaluation.trial import case_key
from infold.workspace import Workspace
from tasks.policy import BY_CONTENT, LIBRARIAN_TAG, is_transient, shape_of, stored_in, unseen
from tasks.preparing import as_found


@task(
    name="case",
    task_run_name="{vault}, seed {seed}",
    cache_policy=BY_CONTENT,
    retries=2,
    retry_delay_seconds=[5, 60],
    retry_condition_fn=is_transient,
    tags=["measures", LIBRARIAN_TAG],
)
async def carry_out_case(
    key: str, vault: str, seed: int, case: Case, workspace: Workspace, environment: Environment
) -> dict[str, Any]:
    """One case, judged, as JSON values."""
    return (await vault_evaluation.carry_out_case(case, workspace, environment)).model_dump(mode="json")


@task(name="case", task_run_name="{vault}, seed {seed}", cache_policy=NO_CACHE, persist_result=False, tags=["measures"])
async def take_kept_case(vault: str, seed: int, home: str) -> Any:
    """A case that was finished before, by whichever runner: shown, and Cached, for nothing is asked."""
    return as_found(seed, f"Finished before: {home}.")


async def show_kept_case(result: CaseResult) -> None:
    """Shows a case that was finished before. Implements the `on_kept` of an evaluation."""
    await take_kept_case(result.vault, result.seed, f"{len(result.verdicts)} paragraphs", return_state=True)  # type: ignore[misc]


async def as_task(case: Case, workspace: Workspace, environment: Environment) -> CaseResult:
    """Carries a case out as a task whose result is kept by content. Implements `evaluating.Carrier`."""
    kept = carry_out_case.with_options(**stored_in(workspace.state / "derived" / "prefect"))
    key = f"{case_key(case, workspace.params)}-{shape_of(CaseResult)}"
    values = await kept(key, case.vault, case.seed, unseen(case), unseen(workspace), unseen(environment))
    return CaseResult.model_validate(values)


async def show_evaluation(findings: Findings, history: History) -> None:
    """The figures as a table, the report as a page, and the trend over all evaluations of this vault."""
    told = f"{findings.evaluation.vault}, {len(findings.arm.cases)} runs, {findings.arm.librarian}"
    rows = [
        {
            "figure": figure.title,
            "share": percent(figure.value),
            "low": percent(figure.interval.low),
            "high": percent(figure.interval.high),
            "of": figure.count,
            "what it is": figure.meaning,
        }
        for figure in findings.figures.values()
    ]
    await acreate_table_artifact(table=rows, key="infold-evaluation", description=told)
    await acreate_markdown_artifact(markdown=report_text(findings), key="infold-evaluation-report", description=told)
    passed_over = f" Not readable: {', '.join(history.unread)}." if history.unread else ""
    await acreate_table_artifact(
        table=trend(history),
        key="infold-evaluation-trend",
        description=f"All evaluations, the oldest first.{passed_over}",
    )
