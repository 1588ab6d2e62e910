"""How well notes are found as a task, and what a flow run shows of it."""

from __future__ import annotations

from prefect import task
from prefect.artifacts import acreate_markdown_artifact

from infold.evaluation.retrieval.evaluating import evaluate_retrieval
from infold.evaluation.retrieval.report import Found, add_up, report_text
from infold.workspace import Workspace
from tasks.policy import is_transient, unseen


@task(name="retrieval", persist_result=False, retries=2, retry_delay_seconds=[5, 60], retry_condition_fn=is_transient)
def measure_retrieval(workspace: Workspace) -> Found | None:
    """The sets of the vault asked; None where it has nothing to ask."""
    from infold.errors import UsageError

    try:
        return add_up(evaluate_retrieval(workspace))
    except UsageError:  # a vault of a few lines; the filing half says so too
        return None


def measured(workspace: Workspace) -> Found | None:
    """The task, run."""
    return measure_retrieval(unseen(workspace))


async def show_retrieval(found: Found | None) -> None:
    """The report as a page of the run."""
    if found is None:
        return
    told = f"{found.evaluation.vault}, {found.evaluation.embeddings or 'keywords only'}"
    await acreate_markdown_artifact(markdown=report_text(found), key="infold-retrieval-report", description=told)
