"""How well text is filed, found and summed up, measured on the vault's own notes; the vault itself is only read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from infold import lazy
from infold.app import OpenVault
from infold.errors import EnvironmentFault, StateUnwritable, UsageError
from infold.operations.contract import Effect, Group, Message, Nothing
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from infold.evaluation.findings import Findings
    from infold.evaluation.retrieval.report import RetrievalFindings
    from infold.evaluation.summaries import SummariesEvaluation

_ERRORS = (UsageError, StateUnwritable, EnvironmentFault)


class EvaluationAnswer(Message):
    """What was measured. With a `quote`, nothing was: it says what it would take."""

    metrics: dict[str, Any] = Field(default_factory=dict)
    """The figures with their intervals, under the names of metrics.json."""
    summary: tuple[str, ...] = ()
    """The main figures, a line each."""
    warnings: tuple[str, ...] = ()
    stopped: str | None = None
    """Why it ended before its end."""
    fallen: tuple[str, ...] = ()
    """Figures that are worse than accepted, where they were compared."""
    report: str = ""
    """The page that shows all of it, on the machine that measured."""
    quote: Quote | None = None


@operation(Group.EVALUATION, Effect.SPENDS, takes_long=True, errors=_ERRORS)
def evaluate_filing(vault: OpenVault, request: Spending) -> EvaluationAnswer:
    """Measure how well text is filed, on paragraphs left out of the vault's own notes.

    The whole product runs on a copy of the vault. Finished cases are kept: asked again it goes on. Where a model would
    be paid, the first answer is an estimate with a token.
    """
    from infold import vault_evaluation as measure  # here, as below: it is much to load, and seldom asked for

    caps = {"max_usd": request.max_usd, "max_tokens": request.max_tokens}
    plan = measure.filing_plan(vault.capped(caps))
    quote = quote_first(vault, "evaluate_filing", request, lambda: measure.estimate_filing(vault, plan))
    if quote is not None:
        return EvaluationAnswer(quote=quote)
    findings = measure.measure_filing(vault, plan)
    return filing_answer(findings, measure.write_filing_report(vault, findings))


@operation(Group.EVALUATION, Effect.READS, takes_long=True, errors=_ERRORS)
def evaluate_retrieval(vault: OpenVault, request: Nothing) -> EvaluationAnswer:  # noqa: ARG001
    """Measure how well the vault's notes are found: by grep, keywords, meaning, and both together."""
    from infold import vault_evaluation as measure

    found = measure.measure_retrieval(vault)
    return retrieval_answer(found, measure.write_retrieval_report(vault, found))


@operation(Group.EVALUATION, Effect.SPENDS, takes_long=True, errors=_ERRORS)
def evaluate_summaries(vault: OpenVault, request: Spending) -> EvaluationAnswer:
    """Measure the summaries of the notes: length, words that a note does not have, whether they tell notes apart.

    Summaries are brought up to date first; where a model writes them, the first answer is an estimate with a token.
    """
    from infold import vault_evaluation as measure

    quote = quote_first(vault, "evaluate_summaries", request, vault.estimate_summaries)
    if quote is not None:
        return EvaluationAnswer(quote=quote)
    caps = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    found, warnings = measure.measure_summaries(vault, caps)
    return summaries_answer(found, measure.write_summaries_report(vault, found), warnings)


def filing_answer(findings: Findings, folder: Path, fallen: Sequence[str] = ()) -> EvaluationAnswer:
    """What was measured, as it is answered."""
    return EvaluationAnswer(
        metrics=lazy.evaluation.report.all_metrics(findings),
        summary=tuple(lazy.evaluation.report_text.summary_lines(findings)),
        warnings=tuple(findings.evaluation.warnings),
        stopped=findings.evaluation.stopped,
        fallen=tuple(fallen),
        report=str(folder / "report.html"),
    )


def retrieval_answer(found: RetrievalFindings, folder: Path, fallen: Sequence[str] = ()) -> EvaluationAnswer:
    """The same of retrieval."""
    return EvaluationAnswer(
        metrics=lazy.evaluation.retrieval.report.metrics(found),
        summary=tuple(lazy.evaluation.retrieval.report.summary_lines(found)),
        warnings=tuple(found.evaluation.warnings),
        fallen=tuple(fallen),
        report=str(folder / "report.html"),
    )


def summaries_answer(found: SummariesEvaluation, folder: Path, warnings: Sequence[str]) -> EvaluationAnswer:
    """The same of summaries."""
    lines = []
    for name, (value, interval, count) in lazy.evaluation.summaries.summary_figures(found.verdicts).items():
        shown = "–" if value is None else f"{value:.3f}"
        between = "" if interval.low is None else f"{interval.low:.2f} to {interval.high:.2f}"
        lines.append(f"{name.replace('_', ' '):<24}{shown:>6}   {between:<14} of {count}")
    return EvaluationAnswer(
        metrics=lazy.evaluation.summaries.as_metrics(found),
        summary=tuple(lines),
        warnings=tuple(warnings),
        report=str(folder / "report.html"),
    )
