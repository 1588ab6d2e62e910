"""What decisions are kept under."""

from __future__ import annotations

import pytest

from infold.librarian.offline import OfflineLibrarian, weights
from infold.librarian.prompts import DecisionKind


@pytest.mark.parametrize("kind", [DecisionKind.GROUP, DecisionKind.CHUNK])
@pytest.mark.parametrize("name, value", [("FLOOR", 0.5), ("GAP", {**weights.GAP, "nearer": 0.8})])
def test_a_kept_decision_is_of_the_weights_that_it_was_taken_by(monkeypatch, kind, name, value):
    """Other weights, other key: what was decided by the former ones is not taken for theirs. The same give the same."""
    before = OfflineLibrarian().signature(kind)
    assert before == OfflineLibrarian().signature(kind)
    monkeypatch.setattr(weights, name, value)
    assert OfflineLibrarian().signature(kind) != before


def test_other_weights_make_no_summary_anew(monkeypatch):
    """A summary weighs no notes: it is kept under the name alone."""
    before = OfflineLibrarian().signature(DecisionKind.SUMMARY)
    monkeypatch.setattr(weights, "FLOOR", 0.5)
    assert OfflineLibrarian().signature(DecisionKind.SUMMARY) == before
