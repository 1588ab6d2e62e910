"""Stage `evaluate`: how well text is filed in the snapshot, measured on paragraphs left out of it.

The metrics hold nothing that differs from run to run, so that equal code, settings and notes give equal files: no clock
and no cost. Finished cases are kept in the state folder; only what is new is carried out.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from infold.environment import Environment
from infold.evaluation.arms import plan_arms
from infold.evaluation.committed import as_file, metrics
from infold.evaluation.evaluating import Plan, evaluate
from infold.evaluation.findings import Findings, find
from infold.evaluation.history import report_folder
from infold.evaluation.records import Evaluation
from infold.evaluation.report import write_report
from infold.settings import seeds_of
from infold.stages.repository import Repository, replace_file, run_stage


def main(repository: Repository) -> str:
    """The stage."""
    evaluation = asyncio.run(_evaluate(repository))
    findings = find(evaluation)
    replace_file(repository.metrics / "evaluation.json", as_file(metrics(evaluation)))
    for name, rows in plots(findings).items():
        replace_file(repository.metrics / f"{name}.json", (json.dumps(rows, indent=1) + "\n").encode())
    write_report(report_folder(repository.snapshot, evaluation), findings)
    home = findings.figures["home"].value or 0.0
    said = [f"evaluate: {len(findings.arm.cases)} runs, home {home:.3f}", *evaluation.warnings]
    return "\n".join([*said, *([evaluation.stopped] if evaluation.stopped else [])])


def plots(findings: Findings) -> dict[str, list[dict[str, Any]]]:
    """What `dvc plots show` draws, one row a bar: whose note was found, what else was right, what went wrong."""
    shown = findings.figures
    found = [("infold", shown["home"]), *((shown[lead.name].title, shown[lead.name]) for lead in findings.leads)]
    right = ("section", "viewed", "opened", "copies", "reworded", "grouping_section", "grouping_note")
    return {
        "evaluation_home": [{"way": title, "home": round(figure.value or 0.0, 4)} for title, figure in found],
        "evaluation_right": [
            {"figure": shown[name].title, "share": round(shown[name].value or 0.0, 4)} for name in right
        ],
        "evaluation_misses": [{"what": kind.title, "paragraphs": len(kind.misses)} for kind in findings.misses],
    }


async def _evaluate(repository: Repository) -> Evaluation:
    place = repository.snapshot
    wanted = place.params.evaluate
    arms, _ = plan_arms(place.params, [])
    plan = Plan(repository.vault.name, seeds_of(wanted.seeds), wanted.paragraphs, tuple(arms), wanted.resamples)
    return await evaluate(place, plan, Environment())


if __name__ == "__main__":
    run_stage(main)
