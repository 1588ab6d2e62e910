"""The report of an evaluation, in a folder: a page for a person, the same as Markdown, figures and cases for programs.

    report.html  report.md   what it says and what to try
    cases.md     cases.jsonl what became of each paragraph, and why
    metrics.json             the figures, also of what differs from run to run: cost and time
    result.json              all of it, for a later comparison

The page asks nothing of the network and runs no script; all text of notes is escaped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from infold.durable.files import SHARED, Disk
from infold.evaluation.arms import RESULT_FILE
from infold.evaluation.committed import as_file, metrics
from infold.evaluation.error_analysis import kind_of, why
from infold.evaluation.figures import BASELINES, FOUND, GROUPING, WRONG
from infold.evaluation.findings import Findings
from infold.evaluation.records import CaseResult, Evaluation
from infold.evaluation.report_text import cases_text, headline, percent, points, report_text
from infold.reports.pages import page

FILES: Final = ("report.html", "report.md", "cases.md", "cases.jsonl", "metrics.json", RESULT_FILE)


def write_report(folder: Path, findings: Findings) -> None:
    """Writes every form of the report. Raises StateUnwritable."""
    disk = Disk()
    disk.make_folder(folder)
    evaluation = findings.evaluation
    texts = {
        "report.html": html(findings),
        "report.md": report_text(findings),
        "cases.md": cases_text(evaluation),
        "cases.jsonl": cases_lines(evaluation),
        "metrics.json": as_file(all_metrics(findings)).decode(),
        RESULT_FILE: evaluation.model_dump_json(),
    }
    for name in FILES:
        disk.write_whole(folder / name, texts[name].encode(), SHARED)


def all_metrics(findings: Findings) -> dict[str, Any]:
    """The figures for programs, with cost and time, and each comparison."""
    usage = findings.arm.usage
    return {
        **metrics(findings.evaluation),
        "created_at": findings.evaluation.created_at,
        "version": findings.evaluation.version,
        "runs": len(findings.arm.cases),
        "stopped": findings.evaluation.stopped,
        "warnings": list(findings.evaluation.warnings),
        "stops": findings.stops,
        "misses": {kind.name: len(kind.misses) for kind in findings.misses},
        "usage": {
            "calls": usage.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "usd": usage.usd,
            "reused": usage.reused,
        },
        "seconds": round(findings.seconds, 3),
        "comparisons": [
            {
                "with": comparison.other.name,
                "librarian": comparison.other.librarian,
                "paragraphs": comparison.paragraphs,
                "gained": len(comparison.gained),
                "lost": len(comparison.lost),
                "differences": {
                    d.name: {"value": d.value, "low": d.interval.low, "high": d.interval.high}
                    for d in comparison.differences
                },
            }
            for comparison in findings.comparisons
        ],
    }


def cases_lines(evaluation: Evaluation) -> str:
    """One JSON object a paragraph and arm."""
    return "".join(
        json.dumps(
            {"arm": arm.name, "seed": case.seed, "miss": kind_of(v), "why": why(v), **v.model_dump(mode="json")},
            ensure_ascii=False,
        )
        + "\n"
        for arm in evaluation.arms
        for case in arm.cases
        for v in case.verdicts
    )


def html(findings: Findings) -> str:
    """The page: self-contained, light and dark."""
    shown = findings.figures
    return page(
        "evaluation",
        f=findings,
        e=findings.evaluation,
        arm=findings.arm,
        headline_text=headline(findings),
        headline=[shown["home"], *(shown[measure.name] for measure in BASELINES)],
        found=[shown[measure.name] for measure in FOUND],
        wrong=[shown[measure.name] for measure in WRONG],
        grouping=[shown[f"grouping_{truth}"] for truth, _, _ in GROUPING],
        percent=percent,
        points=points,
        miss_count=sum(len(kind.misses) for kind in findings.misses),
        why=why,
        kind_of=kind_of,
        broken=[(case.seed, what) for case in findings.arm.cases for what in case.broken],
        damaged=[(case.seed, path) for case in findings.arm.cases for path in case.damaged],
        tried={comparison.other.name: n for n, comparison in enumerate(findings.comparisons, start=1)},
        told=_told(findings.arm.cases),
    )


def _told(cases: tuple[CaseResult, ...]) -> list[str]:
    """What the runs warned of, each once."""
    said = [warning for case in cases for warning in case.warnings]
    said += [f"skipped {file.path}: {file.reason}" for case in cases for file in case.skipped]
    return list(dict.fromkeys(said))
