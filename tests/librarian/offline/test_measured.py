"""The offline librarian on a real vault, through the whole product: what it must not fall below."""

from __future__ import annotations

from bench.leave_paragraphs_out import run_case
from bench.left_out import load_notes, make_case


def test_paragraphs_cut_out_of_a_real_vault_come_home(shared_data):
    """Better than plain BM25 over whole notes, every copy recognised, no paragraph lost, no note damaged."""
    source = shared_data / "vaults" / "forgetful-notes"
    case = make_case("forgetful-notes", load_notes(source), 0, reworded=4)
    figures = run_case(case, source, "", None).shares()
    assert figures["lost"] == 0
    assert figures["damage"] == 0
    assert figures["copies"] >= 0.95
    assert figures["reworded"] >= 0.75
    assert figures["false dup"] <= 0.05
    assert figures["home"] >= figures["BM25"] + 0.05
