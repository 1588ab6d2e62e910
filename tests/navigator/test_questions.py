"""Questions with known places, made from a public vault: answered where they should be, no worse than search finds."""

from __future__ import annotations

import infold
from bench.questions import Score, by_ask, by_search, known_questions


def test_questions_are_answered_in_place_at_least_as_well_as_plain_search_finds(shared_data, tmp_path):
    """The same questions come again; offline the right note is cited, and cited first, and lines that hold the answer.

    Beside it plain search of as many places.
    """
    folder = shared_data / "vaults" / "quartz-docs"
    with infold.open(folder, state=tmp_path / "state", changes=["search.embedding=static"]) as vault:
        vault.import_notes(["."])
        vault.sync_index()
        questions = known_questions(vault, 15)
        assert questions == known_questions(vault, 15)
        assert len({each.text for each in questions}) == 15
        assert all(1 <= each.first <= each.last for each in questions)
        asked, searched = Score(), Score()
        for each in questions:
            asked.add(each, by_ask(vault, each))
            searched.add(each, by_search(vault, each))
    assert asked.note >= 0.8 * len(questions)
    assert asked.first >= searched.first
    assert asked.lines >= searched.lines
