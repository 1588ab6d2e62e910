"""Questions with known places, made from a public vault: answered where they should be, no worse than search finds."""

from __future__ import annotations

import infold
from bench.questions import Score, by_ask, by_search, known_questions

SETS = ("quartz-docs", "forgetful-notes")


SETS = ("quartz-docs", "forgetful-notes")


def test_questions_are_answered_in_place_as_well_as_plain_search_finds(shared_data, tmp_path):
    """The same questions come again; offline the right note is cited, as often first, and more often lines that answer.

    Beside it plain search of as many places. First is a matter of a few questions either way: one in ten is allowed.
    """
    asked, searched = Score(), Score()
    for name in SETS:
        folder = shared_data / "vaults" / name
        with infold.open(folder, state=tmp_path / name, changes=["search.embedding=static"]) as vault:
            vault.import_notes(["."])
            vault.sync_index()
            questions = known_questions(vault, 15)
            assert questions == known_questions(vault, 15)
            assert len({each.text for each in questions}) == 15
            assert all(1 <= each.first <= each.last for each in questions)
            for each in questions:
                asked.add(each, by_ask(vault, each))
                searched.add(each, by_search(vault, each))
    assert asked.note >= 0.8 * asked.asked
    assert asked.first >= searched.first - 0.1 * asked.asked
    assert asked.lines > searched.lines
