"""The report of a retrieval evaluation, in a folder: a page, the same as Markdown, figures and questions for programs.

report.html  report.md     the figures of each set, what fusing is worth, and examples of what was not found
queries.jsonl              each question with the rank of its answers in each way, and what each way put first
metrics.json  result.json  the figures, and all of it
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infold.durable.files import SHARED, Disk
from infold.evaluation.committed import as_file
from infold.evaluation.intervals import Interval
from infold.evaluation.retrieval.figures import MAIN, MEASURES, TITLES, WAYS, SetFigures, set_figures
from infold.evaluation.retrieval.records import AskedQuestion, RetrievalEvaluation
from infold.reports.pages import markdown_page

_EXAMPLES: Final = 5
_DIGITS: Final = 4
_READING: Final = (
    "1 is every answer first, 0 none among the first ten. The last column is the hybrid less the better of BM25 and "
    "embeddings on the same questions, with its 95 % interval."
)


@dataclass(frozen=True, slots=True)
class RetrievalFindings:
    """A retrieval evaluation, added up."""

    evaluation: RetrievalEvaluation
    sets: tuple[SetFigures, ...]


def add_up(evaluation: RetrievalEvaluation) -> RetrievalFindings:
    """The figures of every set."""
    return RetrievalFindings(evaluation, tuple(set_figures(each, evaluation.resamples) for each in evaluation.sets))


def metrics(found: RetrievalFindings) -> dict[str, Any]:
    """The figures by set, way and measure, intervals of nDCG@10, and what they were measured on. No clock, no path."""
    return {
        "measured_on": {
            "vault": found.evaluation.vault,
            "notes": found.evaluation.notes,
            "seed": found.evaluation.seed,
            "embeddings": found.evaluation.embeddings,
            "questions": {each.result.name: len(each.result.asked) for each in found.sets},
        },
        "figures": {
            each.result.name: {
                way: {name: round(value, _DIGITS) for name, value in values.items()}
                for way, values in each.values.items()
            }
            for each in found.sets
        },
        "intervals": {
            each.result.name: {way: {"low": i.low, "high": i.high} for way, i in each.intervals.items()}
            for each in found.sets
        },
        "hybrid_over_better_half": {
            each.result.name: {
                "value": round(each.lead, _DIGITS),
                "low": each.lead_interval.low,
                "high": each.lead_interval.high,
            }
            for each in found.sets
        },
    }


def report_text(found: RetrievalFindings) -> str:
    """The report in Markdown."""
    evaluation = found.evaluation
    facts = (
        f"{evaluation.notes} notes, seed {evaluation.seed}, {evaluation.created_at[:16].replace('T', ' ')} UTC, infold "
        f"{evaluation.version}. Embeddings: {evaluation.embeddings or 'none'}."
    )
    parts = [
        f"# How well {evaluation.vault} is searched",
        facts,
        *(f"**Worth knowing.** {warning}" for warning in evaluation.warnings),
        "## nDCG@10 by set",
        _READING,
        _overview(found.sets),
    ]
    for each in found.sets:
        parts += [f"## {each.result.title}", f"Asked and answer: {each.result.meaning}.", _measures(each)]
        if each.misses:
            parts.append(
                f"{len(each.misses)} of {len(each.result.asked)} answers are not among the hybrid's first ten:"
            )
            parts += ["\n".join(_miss(asked)) for asked in each.misses[:_EXAMPLES]]
    return "\n\n".join(parts) + "\n"


def summary_lines(found: RetrievalFindings) -> Iterator[str]:
    """The findings in some lines, for a terminal."""
    yield f"{'nDCG@10':<28}" + "".join(f"{way:>9}" for way in WAYS) + "   hybrid − better half"
    for each in found.sets:
        ways = "".join(f"{each.values[way][MAIN]:>9.3f}" for way in WAYS)
        yield f"{each.result.title[:27]:<28}{ways}   {each.lead:+.3f}  {_between(each.lead_interval)}"


def write_report(folder: Path, found: RetrievalFindings) -> None:
    """Writes every form of the report. Raises StateUnwritable."""
    disk = Disk()
    disk.make_folder(folder)
    text = report_text(found)
    files = {
        "report.md": text,
        "report.html": markdown_page(f"search in {found.evaluation.vault}", text),
        "queries.jsonl": query_lines(found.evaluation),
        "metrics.json": as_file(metrics(found)).decode(),
        "result.json": found.evaluation.model_dump_json(),
    }
    for name, content in files.items():
        disk.write_whole(folder / name, content.encode(), SHARED)


def query_lines(evaluation: RetrievalEvaluation) -> str:
    """One JSON object a question."""
    return "".join(
        json.dumps({"set": each.name, **asked.model_dump(mode="json")}, ensure_ascii=False) + "\n"
        for each in evaluation.sets
        for asked in each.asked
    )


def _overview(sets: Sequence[SetFigures]) -> str:
    rows = [
        f"| {each.result.title} | {len(each.result.asked)} | "
        + " | ".join(f"{each.values[way][MAIN]:.3f}" for way in WAYS)
        + f" | {each.lead:+.3f} | {_between(each.lead_interval)} |"
        for each in sets
    ]
    titles = " | ".join(TITLES[way] for way in WAYS)
    return "\n".join([f"| set | questions | {titles} | hybrid − better half | 95 % |", "|---" * 8 + "|", *rows])


def _measures(each: SetFigures) -> str:
    titles = " | ".join(title for title, _ in MEASURES.values())
    rows = [
        f"| {TITLES[way]} | "
        + " | ".join(f"{each.values[way][name]:.3f}" for name in MEASURES)
        + f" | {_plain(each.intervals[way])} |"
        for way in WAYS
    ]
    return "\n".join([f"| way | {titles} | nDCG@10, 95 % |", "|---" * 7 + "|", *rows])


def _miss(asked: AskedQuestion) -> Iterator[str]:
    wanted = ", ".join(list(asked.relevant)[:3])
    yield f"- **{' '.join(asked.text.split())}** → {wanted}"
    for way in WAYS:
        ranks = asked.ranks.get(way, {})
        place = f"rank {min(ranks.values())}" if ranks else "not found"
        yield f"    - {TITLES[way]}: {place}; first {', '.join(asked.first.get(way, ())[:3]) or 'nothing'}"


def _between(interval: Interval) -> str:
    return "" if interval.low is None or interval.high is None else f"{interval.low:+.3f} to {interval.high:+.3f}"


def _plain(interval: Interval) -> str:
    return "" if interval.low is None or interval.high is None else f"{interval.low:.2f} to {interval.high:.2f}"
