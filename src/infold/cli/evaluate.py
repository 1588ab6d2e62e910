"""`infold evaluate`: how well text is filed in one's own notes, measured on a copy of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.forecast import confirmed
from infold.cli.integrate import Kind
from infold.cli.options import AcceptOption, Call, CheckOption, ReportOption, command
from infold.cli.terminal import Terminal
from infold.locate import LocatedWorkspace

if TYPE_CHECKING:
    from infold.evaluation.evaluating import Plan
    from infold.evaluation.findings import Findings
    from infold.evaluation.records import Evaluation

_LIBRARIAN = "Librarian"


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
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask before a model is paid.")] = False,
    librarian: Annotated[
        Kind | None,
        typer.Option(help="Who decides: offline (no key, no network) or model.", rich_help_panel=_LIBRARIAN),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model's name at the endpoint.", rich_help_panel=_LIBRARIAN)
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option(metavar="USD", help="Of all cases together.", rich_help_panel=_LIBRARIAN)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Of all cases together.", rich_help_panel=_LIBRARIAN)
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
    from infold.evaluation.committed import read_accepted
    from infold.evaluation.findings import find
    from infold.evaluation.history import report_folder
    from infold.evaluation.report import write_report

    terminal = call.terminal
    place = call.place(
        librarian__kind=librarian,
        librarian__model=model,
        librarian__max_usd=max_usd,
        librarian__max_tokens=max_tokens,
        evaluate__seeds=seeds,
        evaluate__paragraphs=paragraphs,
    )
    if check is not None:
        read_accepted(check)  # before an evaluation is made for nothing
    terminal.say(f"infold evaluate  {place.vault}", style="bold")
    plan = _plan(place, compare or [])
    if not _is_agreed(terminal, place, plan, yes=yes):
        terminal.say("Nothing was asked.")
        return 0
    evaluation = _carried_out(terminal, place, plan)
    findings = find(evaluation)
    folder = out.expanduser().absolute() if out else report_folder(place.workspace, evaluation)
    write_report(folder, findings)
    fallen = _accepted(terminal, place, evaluation, accept, check)
    _show(terminal, findings, folder, fallen)
    return int(bool(fallen or evaluation.stopped))


def _plan(place: LocatedWorkspace, compared: list[str]) -> Plan:
    from infold.evaluation.arms import plan_arms
    from infold.evaluation.evaluating import Plan
    from infold.settings import seeds_of

    wanted = place.params.evaluate
    arms, earlier = plan_arms(place.params, compared)
    return Plan(
        name=place.vault.name,
        seeds=seeds_of(wanted.seeds),
        paragraphs=wanted.paragraphs,
        arms=tuple(arms),
        resamples=wanted.resamples,
        earlier=tuple(earlier),
    )


def _is_agreed(terminal: Terminal, place: LocatedWorkspace, plan: Plan, *, yes: bool) -> bool:
    """Shows what a model will cost, and asks where a person can answer. Raises KeyMissing and SettingInvalid."""
    paid = [arm.params for arm in plan.arms if arm.params.librarian.kind == "model"]
    if not paid:
        return True
    from infold.environment import Environment
    from infold.evaluation.costing import expected
    from infold.evaluation.evaluating import draw_cases
    from infold.librarian.factory import model_librarian

    asked = model_librarian(place.workspace, Environment(), params=paid[0].librarian)
    _, cases = draw_cases(place.workspace, plan)
    estimate = expected(cases, paid, asked.spend.price)
    return estimate is None or confirmed(terminal, paid[0].librarian, estimate, yes=yes)


def _carried_out(terminal: Terminal, place: LocatedWorkspace, plan: Plan) -> Evaluation:
    from infold.cli.progress import Stages
    from infold.environment import Environment
    from infold.evaluation.evaluating import evaluate as carry_out_all

    with Stages(terminal) as stages:
        return asyncio.run(carry_out_all(place.workspace, plan, Environment(), stages))


def _accepted(
    terminal: Terminal, place: LocatedWorkspace, evaluation: Evaluation, accept: Path | None, check: Path | None
) -> list[str]:
    """Writes and compares accepted figures; gives what has fallen, in words."""
    from infold.durable.files import Disk
    from infold.errors import UsageError
    from infold.evaluation.committed import as_file, falls, metrics

    if evaluation.stopped and (accept or check):
        raise UsageError(f"The figures are of half an evaluation. {evaluation.stopped}", hint="Run it to its end.")
    fallen = []
    if check is not None:
        tolerance = place.params.evaluate.tolerance
        fallen = [str(fall) for fall in falls(evaluation, check, tolerance)]
        if not fallen:
            terminal.notice(f"Nothing is worse than accepted in {check} by more than {tolerance:g}.")
    if accept is not None:
        disk = Disk()
        disk.make_folder(accept.absolute().parent)
        disk.write_whole(accept.absolute(), as_file(metrics(evaluation)))
        terminal.notice(f"Accepted: {accept}")
    return fallen


def _show(terminal: Terminal, findings: Findings, folder: Path, fallen: list[str]) -> None:
    from infold.evaluation.report import all_metrics
    from infold.evaluation.report_text import summary_lines

    for sentence in findings.evaluation.warnings:
        terminal.notice(f"! {sentence}", style="yellow")
    if findings.evaluation.stopped:
        terminal.notice(f"! Not finished: {findings.evaluation.stopped}", style="yellow")
    for fall in fallen:
        terminal.notice(f"! Fallen: {fall}", style="bold red")
    if terminal.is_json:
        terminal.emit({**all_metrics(findings), "fallen": fallen, "report": str(folder / "report.html")})
        return
    for line in summary_lines(findings):
        terminal.say(line)
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    terminal.say(f"report  {shown / 'report.html'}")
    terminal.say(f"cases   {shown / 'cases.md'}")
