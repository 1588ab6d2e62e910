"""Stage `evaluate`: how well text is filed in the snapshot, measured on paragraphs left out of it.

Finished cases are kept in the state folder; only what is new is carried out.
"""

from __future__ import annotations

import asyncio

from infold.environment import Environment
from infold.evaluation.arms import plan_arms
from infold.evaluation.evaluating import EvaluationPlan, evaluate
from infold.evaluation.findings import find
from infold.evaluation.history import report_folder
from infold.evaluation.metric_files import filing_files, write_files
from infold.evaluation.records import Evaluation
from infold.evaluation.report import write_report
from infold.settings import seeds_of
from infold.stages.repository import Repository, run_stage
from infold.vault_evaluation import carry_out_case


def main(repository: Repository) -> str:
    """The stage."""
    evaluation = asyncio.run(_evaluate(repository))
    findings = find(evaluation)
    write_files(repository.metrics / "evaluation.json", filing_files(findings))
    write_report(report_folder(repository.snapshot, evaluation), findings)
    home = findings.figures["home"].value or 0.0
    said = [f"evaluate: {len(findings.arm.cases)} runs, home {home:.3f}", *evaluation.warnings]
    return "\n".join([*said, *([evaluation.stopped] if evaluation.stopped else [])])


async def _evaluate(repository: Repository) -> Evaluation:
    place = repository.snapshot
    wanted = place.params.evaluate
    arms, _ = plan_arms(place.params, [])
    plan = EvaluationPlan(
        repository.vault.name, seeds_of(wanted.seeds), wanted.paragraphs, tuple(arms), wanted.resamples
    )
    return await evaluate(place, plan, Environment(), carry_out_case)


if __name__ == "__main__":
    run_stage(main)
