"""An evaluation under Prefect: the same figures as without it, cases cached, figures and trend shown."""

from __future__ import annotations

import json

import pytest

from infold.environment import Environment
from infold.evaluation.committed import metrics
from infold.evaluation.evaluating import evaluate as evaluate_directly
from infold.settings import Params
from infold.vault_evaluation import carry_out_case
from infold.workspace import Workspace
from tests.evaluation.conftest import plan, write_vault
from tests.fakes.prefect_runs import artifacts_of, latest_run

pytestmark = [pytest.mark.prefect, pytest.mark.slow, pytest.mark.xdist_group("prefect")]


async def test_a_flow_gives_the_same_figures_and_keeps_its_cases(prefect_api, tmp_path):
    """Same figures as directly; a second flow shows its cases and its searches Cached; figures and trend are shown."""
    from prefect.client.orchestration import get_client

    from flows.evaluate import evaluate

    vault = write_vault(tmp_path / "vault")
    params = Params.model_validate({"search": {"embedding": "static"}, "evaluate": {"seeds": "0", "paragraphs": 4}})
    place = Workspace(vault, tmp_path / "direct", vault / "inbox.md", params)
    directly = await evaluate_directly(place, plan(params, paragraphs=4), Environment(), carry_out_case)
    state = tmp_path / "state"
    figures = await evaluate(vault, state, params)
    assert figures == metrics(directly)["figures"]
    assert await evaluate(vault, state, params) == figures
    assert len(list((state / "kept" / "evaluations" / "cases").rglob("*.json"))) == 1
    async with get_client() as client:
        run, tasks = await latest_run(client, "evaluate", "vault, seed 0", "retrieval")
        assert {name: task.state.name for name, task in tasks.items()} == {
            "vault, seed 0": "Cached",
            "retrieval": "Cached",
        }
        shown = await artifacts_of(client, run)
    assert {row["figure"] for row in json.loads(shown["infold-evaluation"])} >= {"home", "section", "BM25"}
    assert json.loads(shown["infold-evaluation-trend"])[-1]["home"] == figures["home"]
    assert "# How well vault is filed" in shown["infold-evaluation-report"]
