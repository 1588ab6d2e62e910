"""How good an opened vault's librarian, search and summaries are, measured on its own notes.

What is measured and how belongs to `infold.evaluation`; here it meets the parts of a vault, and reports their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path

from infold import __version__
from infold.app import OpenVault, open_steps
from infold.durable.files import SHARED, Disk
from infold.durable.records import moment
from infold.environment import Environment
from infold.errors import UsageError
from infold.evaluation import report
from infold.evaluation.arms import plan_arms
from infold.evaluation.cases import Case, load_notes
from infold.evaluation.committed import as_file
from infold.evaluation.costing import expected
from infold.evaluation.evaluating import EvaluationPlan, draw_cases, evaluate
from infold.evaluation.findings import Findings, find
from infold.evaluation.history import report_folder as filing_report_folder
from infold.evaluation.records import CaseResult
from infold.evaluation.retrieval import report as retrieval_report
from infold.evaluation.retrieval.evaluating import Given, evaluate_retrieval
from infold.evaluation.retrieval.report import RetrievalFindings, add_up
from infold.evaluation.summaries import SummariesEvaluation, as_metrics, judge_summaries, report_text
from infold.evaluation.trial import carry_out
from infold.inbox.steps import DirectSteps
from infold.inbox.summarising import Summaries
from infold.librarian.estimate import Estimate
from infold.own_loop import in_own_loop
from infold.reports.pages import markdown_page
from infold.settings import seeds_of
from infold.workspace import Workspace


def filing_plan(workspace: Workspace, compare: Sequence[str] = ()) -> EvaluationPlan:
    """What an evaluation of filing carries out; `compare` are settings or folders of earlier ones.

    Raises SettingInvalid and UsageError.
    """
    wanted = workspace.params.evaluate
    arms, earlier = plan_arms(workspace.params, list(compare))
    return EvaluationPlan(
        name=workspace.vault.name,
        seeds=seeds_of(wanted.seeds),
        paragraphs=wanted.paragraphs,
        arms=tuple(arms),
        resamples=wanted.resamples,
        earlier=tuple(earlier),
    )


def estimate_filing(vault: OpenVault, plan: EvaluationPlan) -> Estimate | None:
    """What the arms of a plan that ask a model take; None where none does. Raises KeyMissing and SettingInvalid."""
    paid = [arm.params for arm in plan.arms if arm.params.librarian.kind == "model"]
    if not paid:
        return None
    uncapped = paid[0].librarian.model_copy(update={"max_usd": None, "max_tokens": None})  # kept cases cost nothing
    librarian = vault.model_librarian(uncapped)
    _, cases = draw_cases(vault.workspace, plan)
    return expected(cases, paid, librarian.spend.price)


def measure_filing(vault: OpenVault, plan: EvaluationPlan) -> Findings:
    """Carries a plan out and adds it up. Finished cases are kept."""
    return find(in_own_loop(evaluate(vault.workspace, plan, vault.environment, carry_out_case, vault.progress)))


async def carry_out_case(case: Case, workspace: Workspace, environment: Environment) -> CaseResult:
    """One case on a vault of its own. Implements `evaluating.Carrier`; raises as `trial.carry_out` does."""
    return await carry_out(case, workspace, environment, _case_steps)


def _case_steps(workspace: Workspace, environment: Environment) -> AbstractAsyncContextManager[DirectSteps]:
    return open_steps(workspace, environment=environment)


def measure_retrieval(
    vault: OpenVault, given: Sequence[Given] = (), *, own: bool = True, name: str | None = None
) -> RetrievalFindings:
    """Asks the vault's own sets and those given, under its folder's name or `name`. Raises as `evaluate_retrieval`."""
    space = vault.workspace
    return add_up(evaluate_retrieval(space, vault.embedder, given, vault.progress, own=own, name=name))


def measure_summaries(vault: OpenVault, workspace: Workspace | None = None) -> tuple[SummariesEvaluation, list[str]]:
    """Brings the summaries up to date and judges them; and what there is to say about making them."""
    made, librarian = in_own_loop(_summarised(vault, workspace))
    space, params = vault.workspace, vault.params
    notes = load_notes(space.vault, params.vault)
    if not notes:
        raise UsageError(f"There are no notes in {space.vault}.", hint="Name another vault with --vault.")
    pattern = params.summary.index_filename_pattern
    index_notes = frozenset(path for path in notes if pattern and pattern in path.rpartition("/")[2])
    target = params.summary.summary_target_words
    judged = SummariesEvaluation(
        vault=space.vault.name,
        created_at=moment(),
        version=__version__,
        librarian=librarian,
        target_words=target,
        verdicts=judge_summaries(notes, made.by_path, target, index_notes),
    )
    return judged, made.warnings


def write_filing_report(vault: OpenVault, findings: Findings, out: Path | None = None) -> Path:
    """The report in every form, in `out` or the state folder; gives the folder. Raises StateUnwritable."""
    folder = out.expanduser().absolute() if out else filing_report_folder(vault.workspace, findings.evaluation)
    report.write_report(folder, findings)
    return folder


def write_retrieval_report(vault: OpenVault, found: RetrievalFindings, out: Path | None = None) -> Path:
    """The same of retrieval."""
    folder = _folder(vault, "retrieval", out)
    retrieval_report.write_report(folder, found)
    return folder


def write_summaries_report(vault: OpenVault, found: SummariesEvaluation, out: Path | None = None) -> Path:
    """The same of summaries."""
    folder = _folder(vault, "summaries", out)
    text = report_text(found)
    write_file(folder / "report.md", text.encode())
    write_file(folder / "report.html", markdown_page(f"summaries of {found.vault}", text).encode())
    write_file(folder / "metrics.json", as_file(as_metrics(found)))
    write_file(folder / "result.json", found.model_dump_json(indent=1).encode())
    return folder


def write_file(file: Path, content: bytes) -> None:
    """Writes a file and the folders above it, whole or not at all. Raises StateUnwritable."""
    disk = Disk()
    disk.make_folder(file.absolute().parent)
    disk.write_whole(file.absolute(), content, SHARED)


def _folder(vault: OpenVault, kind: str, out: Path | None) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    return out.expanduser().absolute() if out else vault.workspace.state / "kept" / "evaluations" / kind / stamp


async def _summarised(vault: OpenVault, workspace: Workspace | None) -> tuple[Summaries, str]:
    async with vault.steps(workspace) as steps:
        steps.sync_tables()
        return await steps.sync_summaries(), steps.librarian.name
