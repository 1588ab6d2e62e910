"""How well the demo vault is filed, held to what was accepted on purpose.

When it fails and the change is meant: `make evaluate-accept`, and commit data/metrics/evaluation.json with the change.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infold.environment import Environment
from infold.evaluation.arms import plan_arms
from infold.evaluation.committed import falls
from infold.evaluation.evaluating import EvaluationPlan, evaluate
from infold.settings import load_params, seeds_of
from infold.vault_evaluation import carry_out_case
from infold.workspace import Workspace

REPOSITORY = Path(__file__).resolve().parents[2]
ACCEPTED = REPOSITORY / "data" / "metrics" / "evaluation.json"


@pytest.mark.slow
async def test_the_demo_vault_is_filed_no_worse_than_accepted(tmp_path):
    """No figure is worse than accepted by more than `evaluate.tolerance`; nothing more is lost or damaged."""
    params = load_params(REPOSITORY / "params.yaml", ["search.embedding=static"])
    vault = REPOSITORY / params.vault.path
    measured_on = json.loads(ACCEPTED.read_text())["measured_on"]
    arms, _ = plan_arms(params, [])
    plan = EvaluationPlan(
        vault.name, seeds_of(measured_on["seeds"]), measured_on["paragraphs"], tuple(arms), params.evaluate.resamples
    )
    place = Workspace(vault, tmp_path / "state", vault / params.vault.inbox_file, params)
    fallen = falls(await evaluate(place, plan, Environment(), carry_out_case), ACCEPTED, params.evaluate.tolerance)
    assert not fallen, "Worse than accepted: " + "; ".join(map(str, fallen)) + ". If it is meant: make evaluate-accept."
