"""`infold evaluate retrieval` and `infold evaluate summaries`: how well one's own notes are found, and summed up."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infold.cli.options import AcceptOption, Call, CheckOption, ReportOption, command
from infold.cli.terminal import Terminal
from infold.errors import UsageError
from infold.locate import LocatedWorkspace

if TYPE_CHECKING:
    from infold.evaluation.summaries import SummariesEvaluation
    from infold.inbox.summarising import Summaries
    from infold.vault.records import Note


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
    from infold.cli.progress import Stages
    from infold.evaluation.committed import as_file
    from infold.evaluation.retrieval.accepted import falls, read_accepted
    from infold.evaluation.retrieval.evaluating import evaluate_retrieval
    from infold.evaluation.retrieval.report import add_up, metrics, summary_lines, write_report

    terminal = call.terminal
    place = call.place(evaluate__questions=questions, evaluate__seeds=seeds)
    accepted = read_accepted(check) if check else None
    given = [_named(each) for each in collections or []]
    terminal.say(f"infold evaluate retrieval  {place.vault}", style="bold")
    with Stages(terminal) as stages:
        found = add_up(evaluate_retrieval(place.workspace, given, stages, own=not only_collections))
    folder = _folder(place, out, "retrieval")
    write_report(folder, found)
    tolerance = place.params.evaluate.tolerance
    fallen = [str(fall) for fall in falls(metrics(found), accepted, tolerance)] if accepted else []
    if accept is not None:
        _write(accept, as_file(metrics(found)))
    for warning in found.evaluation.warnings:
        terminal.notice(f"! {warning}", style="yellow")
    for fall in fallen:
        terminal.notice(f"! Fallen: {fall}", style="bold red")
    if terminal.is_json:
        terminal.emit({**metrics(found), "fallen": fallen, "report": str(folder / "report.html")})
        return int(bool(fallen))
    for line in summary_lines(found):
        terminal.say(line)
    _tell(terminal, folder)
    return int(bool(fallen))


@command
def summaries(call: Call, *, out: ReportOption = None) -> int:
    """Measure the summaries of your notes: length, words the note does not have, whether they tell notes apart.

    Summaries are brought up to date first, as `infold index` does. A content word that the note lacks is a sign of
    something made up; a summary that its note's title does not find will not lead the librarian there either.
    """
    from infold.evaluation.committed import as_file
    from infold.evaluation.pages import page
    from infold.evaluation.summaries import as_metrics, report_text, summary_figures

    terminal = call.terminal
    place = call.place()
    found = _judged(terminal, place)
    folder = _folder(place, out, "summaries")
    text = report_text(found)
    _write(folder / "report.md", text.encode())
    _write(folder / "report.html", page(f"summaries of {found.vault}", text).encode())
    _write(folder / "metrics.json", as_file(as_metrics(found)))
    _write(folder / "result.json", found.model_dump_json(indent=1).encode())
    if terminal.is_json:
        terminal.emit({**as_metrics(found), "report": str(folder / "report.html")})
        return 0
    for name, (value, interval, count) in summary_figures(found.verdicts).items():
        shown = "–" if value is None else f"{value:.3f}"
        between = "" if interval.low is None else f"{interval.low:.2f} to {interval.high:.2f}"
        terminal.say(f"{name.replace('_', ' '):<24}{shown:>6}   {between:<14} of {count}")
    _tell(terminal, folder)
    return 0


def _judged(terminal: Terminal, place: LocatedWorkspace) -> SummariesEvaluation:
    from infold import __version__
    from infold.cli.progress import Stages
    from infold.evaluation.cases import load_notes
    from infold.evaluation.summaries import SummariesEvaluation, judge_summaries

    with Stages(terminal) as stages:
        made, librarian = asyncio.run(_summarised(place, stages))
    for warning in made.warnings:
        terminal.notice(f"! {warning}", style="yellow")
    notes: dict[str, Note] = load_notes(place.vault, place.params.vault)
    if not notes:
        raise UsageError(f"There are no notes in {place.vault}.", hint="Name another vault with --vault.")
    pattern = place.params.summary.index_filename_pattern
    index_notes = frozenset(path for path in notes if pattern and pattern in path.rpartition("/")[2])
    target = place.params.summary.summary_target_words
    return SummariesEvaluation(
        vault=place.vault.name,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        librarian=librarian,
        target_words=target,
        verdicts=judge_summaries(notes, made.by_path, target, index_notes),
    )


async def _summarised(place: LocatedWorkspace, stages: Any) -> tuple[Summaries, str]:
    from infold.environment import Environment
    from infold.inbox.steps import open_steps

    async with open_steps(place.workspace, Environment(), stages) as steps:
        steps.sync_tables()
        return await steps.sync_summaries(), steps.librarian.name


def _named(said: str) -> tuple[str, Path]:
    """`NAME=PATH` of a set. Raises UsageError."""
    name, equals, path = said.partition("=")
    if not equals or not name.strip() or not path.strip():
        raise UsageError(f"{said!r} is not NAME=PATH.", hint="Such as --collection scifact=./scifact")
    return name.strip(), Path(path.strip()).expanduser()


def _folder(place: LocatedWorkspace, out: Path | None, kind: str) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    return out.expanduser().absolute() if out else place.workspace.state / "kept" / "evaluations" / kind / stamp


def _write(file: Path, content: bytes) -> None:
    from infold.durable.files import Disk

    disk = Disk()
    disk.make_folder(file.absolute().parent)
    disk.write_whole(file.absolute(), content)


def _tell(terminal: Terminal, folder: Path) -> None:
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    terminal.say(f"report  {shown / 'report.html'}")
