"""What carries a lens: the shares add up, and the words with the most do the most to the order."""

from __future__ import annotations

import numpy as np
import pytest

from infold.navigator.clusters import unit
from infold.operations.navigator import FilterRequest, filter_


def carried(vault, **given):
    return filter_(vault, FilterRequest(**given)).carried_by


def ranks(vault, words: str):
    """The place of each imported note, as the words alone order them."""
    vectors = vault.node_vectors()
    towards = unit(vault.navigator_vectors().of_texts((words,)))[0]
    return np.argsort(np.argsort(-(vectors.rows @ towards)))


@pytest.mark.parametrize(
    "words", ["compost heat of the heap", "server rollback script or so", "the tomatoes and their leaves"]
)
def test_the_word_with_the_largest_share_moves_the_most(imported, words):
    """Without the first word of the answer the ranks change more than without the last."""
    shares = carried(imported, lens=words)
    assert [each.share for each in shares] == sorted((each.share for each in shares), reverse=True)
    assert sum(each.share for each in shares) == pytest.approx(1, abs=0.01)
    assert {each.what for each in shares} == set(words.split())
    whole = ranks(imported, words)

    def moved(word: str) -> float:
        rest = " ".join(each for each in words.split() if each != word)
        return float(np.abs(ranks(imported, rest) - whole).sum())

    assert moved(shares[0].what) > moved(shares[-1].what)


def test_notes_tags_and_times_carry_too(imported):
    """Words and notes carry half of a lens that has conditions, and these share the other half."""
    shares = carried(imported, lens="machines", notes=("work/release.md",), tags=("work", "ops"), since="2025-01-01")
    of = {each.what: each.share for each in shares}
    assert of["#work"] == of["#ops"] == pytest.approx(0.125)
    assert of["2025-01-01 to today"] == pytest.approx(0.25)
    assert of["machines"] + of["work/release.md"] == pytest.approx(0.5, abs=0.01)
    assert [(each.what, each.share) for each in carried(imported, lens="recent")] == [("recent", 1.0)]


def test_nothing_carries_no_lens(vault):
    """Without a lens, and before anything is imported, the answer is empty."""
    assert carried(vault, lens="compost") == ()
    assert carried(vault) == ()
