"""The pages of evaluations: what was measured, one report, two compared."""

from __future__ import annotations

import json

import pytest

from infold.errors import UsageError
from infold.evaluation.kept_reports import compared, kept_report, kept_reports


@pytest.fixture
def kept(vault):
    """Two evaluations of retrieval, one of filing, and one that cannot be read."""
    folder = vault.workspace.state / "kept" / "evaluations"

    def made(place: str, figures: object) -> None:
        (folder / place).mkdir(parents=True)
        metrics = {"measured_on": {"vault": "v"}, "figures": figures}
        (folder / place / "metrics.json").write_text(json.dumps(metrics))
        (folder / place / "report.html").write_text("<style>p{}</style><p>whole report</p>")

    made("retrieval/2026-01-01-100000", {"titles": {"hybrid": {"ndcg_10": 0.5, "mrr": 0.4}}})
    made("retrieval/2026-01-02-100000", {"titles": {"hybrid": {"ndcg_10": 0.75, "mrr": 0.4}, "bm25": {"mrr": 0.1}}})
    made("2026-01-03-100000", {"home": 0.9, "copies": None})
    (folder / "2026-01-04-100000").mkdir()
    (folder / "2026-01-04-100000" / "metrics.json").write_text("{")
    return vault.workspace


def test_reports_are_listed_the_newest_first(kept):
    """Of every kind, with their figures under one name each; what cannot be read is passed over."""
    found = kept_reports(kept)
    assert [(each.kind, each.name[:10]) for each in found] == [
        ("filing", "2026-01-03"),
        ("retrieval", "2026-01-02"),
        ("retrieval", "2026-01-01"),
    ]
    assert found[1].main == [("titles · hybrid · ndcg 10", 0.75)]
    assert found[0].main == [("home", 0.9)]


def test_two_are_compared_figure_by_figure(kept):
    """The difference of each; one that only one of them has; of two kinds none."""
    second, first = kept_reports(kept)[1:]
    changes = {each.name: each.difference for each in compared(first, second)}
    assert changes == {"titles · hybrid · ndcg 10": 0.25, "titles · hybrid · mrr": 0, "titles · bm25 · mrr": None}
    with pytest.raises(UsageError):
        compared(first, kept_report(kept, "filing", "2026-01-03-100000"))


async def test_a_report_is_opened_and_two_are_compared(client, kept):
    """The list, one of them, the whole report alone in a sandbox, the comparison; what is not there is told."""
    one, two = (f"retrieval/2026-01-0{day}-100000" for day in (1, 2))
    async with client() as http:
        assert (await http.get("/evaluations")).text.count('name="chosen"') == 3
        page = (await http.get(f"/evaluations/{two}")).text
        assert "titles · hybrid · ndcg 10" in page
        assert f"chosen={one}" in page
        report = await http.get(f"/evaluations/{two}/report")
        assert "whole report" in report.text
        assert "sandbox" in report.headers["content-security-policy"]
        assert "+0.25" in (await http.get(f"/evaluations/compare?chosen={two}&chosen={one}")).text
        for wrong in ("/evaluations/compare", "/evaluations/retrieval/..%2f..", "/evaluations/none/x"):
            assert (await http.get(wrong)).status_code in (400, 404)
    assert kept
