"""The offline librarian on a real vault, through the whole product: what it must not fall below."""

from __future__ import annotations

from infold.environment import Environment
from infold.evaluation.arms import plan_arms
from infold.evaluation.evaluating import Plan, evaluate
from infold.evaluation.report import find
from infold.settings import load_params
from infold.workspace import Workspace


async def test_paragraphs_cut_out_of_a_real_vault_come_home(shared_data, tmp_path):
    """Better than plain BM25 over whole notes, every copy recognised, no paragraph lost, no note damaged."""
    vault = shared_data / "vaults" / "forgetful-notes"
    params = load_params(None, ["search.embedding=static"])
    place = Workspace(vault, tmp_path / "state", vault / "inbox.md", params)
    arms, _ = plan_arms(params, [])
    found = find(await evaluate(place, Plan(vault.name, (0,), 24, tuple(arms), 200), Environment()))
    assert (found.lost, found.damaged) == (0, 0)
    assert found.figures["copies"].value >= 0.95
    assert found.figures["reworded"].value >= 0.6
    assert found.figures["false_duplicates"].value <= 0.05
    assert found.leads[0].name == "bm25"
    assert found.leads[0].value >= 0.05
