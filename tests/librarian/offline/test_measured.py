"""The offline librarian on a real vault, through the whole product: what it must not fall below."""

from __future__ import annotations

from infold.catalogue.store import catalogue_of
from infold.environment import Environment
from infold.evaluation.arms import plan_arms
from infold.evaluation.evaluating import EvaluationPlan, evaluate
from infold.evaluation.findings import find
from infold.inbox.steps import DirectSteps
from infold.librarian.offline import OfflineLibrarian
from infold.librarian.offline.vault_scorer import scorer_of
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.settings import load_params
from infold.vault_evaluation import carry_out_case
from infold.workspace import Workspace


async def test_paragraphs_cut_out_of_a_real_vault_come_home(shared_data, tmp_path):
    """Better than plain BM25 over whole notes, every copy recognised, no paragraph lost, no note damaged."""
    vault = shared_data / "vaults" / "forgetful-notes"
    params = load_params(None, ["search.embedding=static"])
    place = Workspace(vault, tmp_path / "state", vault / "inbox.md", params)
    arms, _ = plan_arms(params, [])
    found = find(
        await evaluate(place, EvaluationPlan(vault.name, (0,), 24, tuple(arms), 200), Environment(), carry_out_case)
    )
    assert (found.lost, found.damaged) == (0, 0)
    assert found.figures["copies"].value >= 0.95
    assert found.figures["reworded"].value >= 0.6
    assert found.figures["false_duplicates"].value <= 0.05
    assert found.leads[0].name == "bm25"
    assert found.leads[0].value >= 0.05


def test_the_names_of_a_vault_come_from_its_catalogue(tmp_path):
    """A copy that calls a note as its alias, its title or a link to it does is found by way of the synced tables."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Kiln.md").write_text("---\naliases: [clay oven]\n---\n# Kiln\n\nIt is built of brick.\n")
    (vault / "Wood.md").write_text(
        "# Wood\n\nBirch for the clay oven is split in spring.\n\nAsh is burnt in [[Kiln|the big kiln outside]] alone.\n\n"
        "Elm smoulders, see [[Kiln#Draught|poor draught]] for what to do about it.\n"
    )
    place = Workspace(vault, tmp_path / "state", vault / "inbox.md", load_params(None, ["search.embedding=none"]))
    steps = DirectSteps(place, OfflineLibrarian())
    try:
        steps.sync_tables()
        steps.sync_index()
        known = scorer_of(catalogue_of(place), steps.searcher, NO_EMBEDDER)
        assert known.covering("Birch for the kiln is split in spring.") == "Wood.md"
        assert known.covering("Ash is burnt in the [[Kiln]] alone.") is None  # "the" stands in the link's text
        assert known.covering("Ash is burnt in [[Kiln]] alone.") == "Wood.md"
        assert known.covering("Birch for the poor draught is split in spring.") is None
    finally:
        steps.close()
