"""`infold evaluate retrieval` and `infold evaluate summaries`: how well one's own notes are found, and summed up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infold.cli.evaluate import show_evaluation
from infold.cli.forecast import agreed
from infold.cli.options import AcceptOption, Call, CheckOption, PaidYesOption, ReportOption, command
from infold.cli.progress import Stages
from infold.errors import UsageError
from infold.evaluation.metric_files import retrieval_files, write_files
from infold.evaluation.retrieval.accepted import falls, read_accepted
from infold.evaluation.retrieval.report import metrics
from infold.operations.evaluation import retrieval_answer, summaries_answer
from infold.operations.spending import Spending
from infold.vault_evaluation import (
    measure_retrieval,
    measure_summaries,
    write_retrieval_report,
    write_summaries_report,
)


@command
def retrieval(
    call: Call,
    *,
    collections: Annotated[
        list[str] | None,
        typer.Option(
            "--collection",
            metavar="NAME=PATH",
            help="A set to ask beside the vault's own: a BEIR folder, JSON documents with queries, JSONL transcripts "
            "with questions. May be repeated.",
        ),
    ] = None,
    only_collections: Annotated[
        bool, typer.Option("--only-collections", metavar="", help="Leave the vault's own sets out.")
    ] = False,
    questions: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Of each set, at most. Else evaluate.questions.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N", help="Of the draw; the first counts. Else evaluate.seeds.")
    ] = None,
    out: ReportOption = None,
    accept: AcceptOption = None,
    check: CheckOption = None,
) -> int:
    """Measure how well your notes are found: by grep, keywords, meaning, and both together.

    The vault asks itself: what links call a note, headings, the first words of paragraphs; what is asked is taken out
    of a copy first. The report says recall, nDCG and MRR with intervals, and shows what was not found and where it
    ranks in each way. The vault itself is only read.
    """
    terminal = call.terminal
    accepted = read_accepted(check) if check else None
    given = [_named(each) for each in collections or []]
    with call.vault(evaluate__questions=questions, evaluate__seeds=seeds) as vault:
        terminal.say(f"infold evaluate retrieval  {vault.workspace.vault}", style="bold")
        with Stages(terminal) as stages, vault.reporting(stages):
            found = measure_retrieval(vault, given, own=not only_collections)
        folder = write_retrieval_report(vault, found, out)
        tolerance = vault.params.evaluate.tolerance
    fallen = [str(fall) for fall in falls(metrics(found), accepted, tolerance)] if accepted else []
    if accept is not None:
        write_files(accept.absolute(), retrieval_files(found))
    return show_evaluation(terminal, retrieval_answer(found, folder, fallen), "report.html")


@command
def summaries(
    call: Call,
    *,
    out: ReportOption = None,
    yes: PaidYesOption = False,
) -> int:
    """Measure the summaries of your notes: length, words the note does not have, whether they tell notes apart.

    Summaries are brought up to date first, as `infold index` does. A content word that the note lacks is a sign of
    something made up; a summary that its note's title does not find will not lead the librarian there either.
    """
    terminal = call.terminal
    with call.vault() as vault:
        request = agreed(terminal, vault, "evaluate_summaries", Spending(), vault.estimate_summaries, yes=yes)
        if request is None:
            terminal.say("Nothing was asked.")
            return 0
        with Stages(terminal) as stages, vault.reporting(stages):
            found, warnings = measure_summaries(vault)
        folder = write_summaries_report(vault, found, out)
    return show_evaluation(terminal, summaries_answer(found, folder, warnings), "report.html")


def _named(said: str) -> tuple[str, Path]:
    """`NAME=PATH` of a set. Raises UsageError."""
    name, equals, path = said.partition("=")
    if not equals or not name.strip() or not path.strip():
        raise UsageError(f"{said!r} is not NAME=PATH.", hint="Such as --collection scifact=./scifact")
    return name.strip(), Path(path.strip()).expanduser()
