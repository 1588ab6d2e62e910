"""How well notes are found as a task, and what a flow run shows of it."""

from __future__ import annotations

from typing import Any

from prefect import task
from prefect.artifacts import acreate_markdown_artifact

from infold import vault_evaluation
from infold.app import open_workspace
from infold.errors import UsageError
from infold.evaluation.cases import load_notes
from infold.evaluation.retrieval.records import RetrievalEvaluation
from infold.evaluation.retrieval.report import RetrievalFindings, add_up, report_text
from infold.evaluation.trial import code_fingerprint, embeddings_of
from infold.librarian.decisions import content_key
from infold.text import content_hash
from infold.workspace import Workspace
from tasks.policy import BY_CONTENT, is_transient, shape_of, stored_in, unseen


@task(
    name="retrieval",
    task_run_name="retrieval",
    cache_policy=BY_CONTENT,
    retries=2,
    retry_delay_seconds=[5, 60],
    retry_condition_fn=is_transient,
    tags=["measures"],
)
async def measure_retrieval(key: str, workspace: Workspace) -> dict[str, Any] | None:
    """The sets of the vault asked, as JSON values; None where it has nothing to ask."""
    try:
        with open_workspace(workspace) as vault:
            return vault_evaluation.measure_retrieval(vault).evaluation.model_dump(mode="json")
    except UsageError:  # a vault of a few lines; the filing half says so too
        return None


async def measured(workspace: Workspace) -> RetrievalFindings | None:
    """How well notes are found; from the cache where notes, settings and the program are as they were."""
    params, vault = workspace.params, workspace.vault
    notes = sorted((path, content_hash(note.text)) for path, note in load_notes(vault, params.vault).items())
    made_by = (code_fingerprint(), shape_of(RetrievalEvaluation), embeddings_of(params.search))
    key = content_key("retrieval", vault.name, made_by, params.search, params.evaluate, notes)
    kept = measure_retrieval.with_options(**stored_in(workspace.state / "derived" / "prefect"))
    values = await kept(key, unseen(workspace))
    return None if values is None else add_up(RetrievalEvaluation.model_validate(values))


async def show_retrieval(found: RetrievalFindings | None) -> None:
    """The report as a page of the run."""
    if found is None:
        return
    told = f"{found.evaluation.vault}, {found.evaluation.embeddings or 'keywords only'}"
    await acreate_markdown_artifact(markdown=report_text(found), key="infold-retrieval-report", description=told)
