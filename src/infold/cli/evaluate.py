"""`infold evaluate`: how well text is filed in one's own notes, measured on a copy of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.forecast import confirmed
from infold.cli.options import (
    LIBRARIAN,
    AcceptOption,
    Call,
    CheckOption,
    ModelName,
    PaidYesOption,
    ReportOption,
    WhoDecides,
    command,
)
from infold.cli.progress import Stages
from infold.cli.terminal import Terminal
from infold.errors import UsageError
from infold.evaluation.committed import falls, read_accepted
from infold.evaluation.metric_files import filing_files, write_files
from infold.operations.evaluation import EvaluationAnswer, filing_answer
from infold.vault_evaluation import estimate_filing, filing_plan, measure_filing, write_filing_report

if TYPE_CHECKING:
    from infold.evaluation.findings import Findings


@command
def evaluate(
    call: Call,
    *,
    seeds: Annotated[
        str | None, typer.Option(metavar="N,N|N-N", help="One case a seed. Else evaluate.seeds.", show_default=False)
    ] = None,
    paragraphs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Cut out of the notes for a case. Else evaluate.paragraphs."),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETTING=VALUE|RESULT",
            help="Beside it, on the same paragraphs: other settings (several in quotes), or the folder of an earlier "
            "evaluation. May be repeated.",
        ),
    ] = None,
    out: ReportOption = None,
    yes: PaidYesOption = False,
    librarian: WhoDecides = None,
    model: ModelName = None,
    max_usd: Annotated[
        float | None, typer.Option(metavar="USD", help="Of all cases together.", rich_help_panel=LIBRARIAN)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Of all cases together.", rich_help_panel=LIBRARIAN)
    ] = None,
    accept: AcceptOption = None,
    check: CheckOption = None,
) -> int:
    """Measure how well text is filed, on paragraphs left out of your own notes.

    Paragraphs are cut out of a copy of the vault and put into its inbox, with copies of others among them; the whole
    product runs on the copy. The report says how many came home, beside BM25, embeddings and grep on the same
    paragraphs, what went wrong, and which setting to try. The vault itself is only read.

    Finished cases are kept: killed and run again it goes on, and pays for nothing twice.
    """
    terminal = call.terminal
    opened = call.vault(
        librarian__kind=librarian,
        librarian__model=model,
        librarian__max_usd=max_usd,
        librarian__max_tokens=max_tokens,
        evaluate__seeds=seeds,
        evaluate__paragraphs=paragraphs,
    )
    with opened as vault:
        if check is not None:
            read_accepted(check)  # before an evaluation is made for nothing
        terminal.say(f"infold evaluate  {vault.workspace.vault}", style="bold")
        plan = filing_plan(vault.workspace, compare or [])
        paid = next((arm.params.librarian for arm in plan.arms if arm.params.librarian.kind == "model"), None)
        estimate = estimate_filing(vault, plan)
        if paid and estimate and not confirmed(terminal, paid, estimate, yes=yes):
            terminal.say("Nothing was asked.")
            return 0
        with Stages(terminal) as stages, vault.reporting(stages):
            findings = measure_filing(vault, plan)
        folder = write_filing_report(vault, findings, out)
        tolerance = vault.params.evaluate.tolerance
    fallen = _accepted(terminal, findings, tolerance, accept, check)
    return show_evaluation(terminal, filing_answer(findings, folder, fallen), "report.html", "cases.md")


def _accepted(
    terminal: Terminal, findings: Findings, tolerance: float, accept: Path | None, check: Path | None
) -> list[str]:
    """Writes and compares accepted figures; gives what has fallen, in words."""
    evaluation = findings.evaluation
    if evaluation.stopped and (accept or check):
        raise UsageError(f"The figures are of half an evaluation. {evaluation.stopped}", hint="Run it to its end.")
    fallen = []
    if check is not None:
        fallen = [str(fall) for fall in falls(evaluation, check, tolerance)]
        if not fallen:
            terminal.notice(f"Nothing is worse than accepted in {check} by more than {tolerance:g}.")
    if accept is not None:
        write_files(accept.absolute(), filing_files(findings))
        terminal.notice(f"Accepted: {accept}")
    return fallen


def show_evaluation(terminal: Terminal, answer: EvaluationAnswer, *files: str) -> int:
    """What was measured, and where its report lies. Gives the exit code: 1 where it fell or was not finished."""
    for sentence in answer.warnings:
        terminal.notice(f"! {sentence}", style="yellow")
    if answer.stopped:
        terminal.notice(f"! Not finished: {answer.stopped}", style="yellow")
    for fall in answer.fallen:
        terminal.notice(f"! Fallen: {fall}", style="bold red")
    code = int(bool(answer.fallen or answer.stopped))
    if terminal.is_json:
        terminal.emit(answer.as_json())
        return code
    for line in answer.summary:
        terminal.say(line)
    folder = Path(answer.report).parent
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    for file in files:
        terminal.say(f"{file.partition('.')[0]:<8}{shown / file}")
    return code
