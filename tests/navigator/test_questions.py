"""Questions with known places, made from a public vault: most are answered where they should be."""

from __future__ import annotations

import infold
from bench.questions import by_ask, known_questions


def test_questions_are_made_alike_and_mostly_answered_in_place(shared_data, tmp_path):
    """Each names lines that are there; the same come again; most answers cite the right note, offline."""
    folder = shared_data / "vaults" / "quartz-docs"
    with infold.open(folder, state=tmp_path / "state", changes=["search.embedding=static"]) as vault:
        vault.import_notes(["."])
        vault.sync_index()
        questions = known_questions(vault, 15)
        assert questions == known_questions(vault, 15)
        assert len({each.text for each in questions}) == 15
        assert all(1 <= each.first <= each.last for each in questions)
        right = [any(map(each.is_right_note, by_ask(vault, each))) for each in questions]
    assert sum(right) >= len(questions) / 2
