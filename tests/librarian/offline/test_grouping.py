"""Grouping is a partition under the word limit, and puts together what has one home."""

from __future__ import annotations

import asyncio
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.librarian.answers import GroupRequest, Paragraph
from infold.librarian.offline import grouping
from infold.text import word_count
from tests.librarian.offline.support import librarian_in

VAULT = {
    "Bread.md": "# Bread\n\nBread is baked of flour, water, salt and yeast in a hot oven.\n\n## Crust\n\nIt browns.\n",
    "Sailing.md": "# Sailing\n\nA sailing boat tacks against the wind; mainsail and jib are trimmed by sheets.\n",
    "Chess.md": "# Chess\n\nA chess opening develops knights and bishops before the queen moves.\n",
}


def grouped(paragraphs: list[str], limit: int = 600) -> list[list[int]]:
    """The groups of these paragraphs."""
    request = GroupRequest(tuple(Paragraph(n, text) for n, text in enumerate(paragraphs, start=1)), (), limit)
    return asyncio.run(librarian_in(VAULT).group(request)).groups


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=300) | st.just("flour water yeast oven " * 20), max_size=12), st.integers(1, 120))
def test_each_paragraph_is_in_one_group_under_the_limit(paragraphs, limit):
    """Every number once; a group over the limit only where it is one paragraph."""
    groups = grouped(paragraphs, limit)
    assert sorted(n for group in groups for n in group) == list(range(1, len(paragraphs) + 1))
    for group in groups:
        assert len(group) == 1 or sum(word_count(paragraphs[n - 1]) for n in group) <= limit


def test_interleaved_subjects_come_apart():
    """Paragraphs of one subject are grouped although another stands between them."""
    groups = grouped(
        [
            "A slow rise gives bread its taste: less yeast, cold water, and flour that rests before the oven.",
            "When the wind shifts, the mainsail is let out first, and then the jib sheet of a sailing boat.",
            "Salt slows the yeast down, so bread dough with more salt wants more hours before the oven.",
        ]
    )
    assert [1, 3] in groups
    assert [2] in groups


def joined(homes: list[dict[str, float]], limit: int = 600) -> list[list[int]]:
    """The groups of paragraphs that have these homes, each of ten words and none next to its like by its look."""
    texts = [f"Paragraph {n} " + "word " * 8 for n in range(len(homes))]
    known = dict(zip(texts, homes, strict=True))
    return grouping.group([Paragraph(n, text) for n, text in enumerate(texts)], limit, known.__getitem__, None)


def test_one_home_joins_and_an_unsure_one_does_not():
    """Two paragraphs of one sure home are joined; one whose homes are many and faint joins neither."""
    faint = {f"{n}.md": 0.125 for n in range(8)}
    assert joined([{"a.md": 1.0}, {"b.md": 1.0}, {"a.md": 0.7, "b.md": 0.3}, faint]) == [[0, 2], [1], [3]]


def test_paragraphs_without_a_home_are_not_joined_for_that():
    """That no note speaks of two paragraphs is nothing they share."""
    assert joined([{}, {}, {}]) == [[0], [1], [2]]


@pytest.mark.parametrize("seed", range(20))
def test_joining_by_kept_partners_is_joining_by_looking_at_all(seed):
    """The quick way gives the groups of the plain one, which compares every two groups before each join."""
    draw = np.random.default_rng(seed)
    likeness = draw.uniform(0.0, 0.9, (18, 18))
    likeness += likeness.T
    words = [int(number) for number in draw.integers(1, 20, 18)]
    joining = grouping._Joining(likeness.copy(), words, 60)
    while joining.join():
        pass
    assert sorted(sorted(members) for members in joining.groups if members) == sorted(plainly(likeness, words, 60))


def plainly(likeness: np.ndarray, words: list[int], limit: int) -> list[list[int]]:
    """Average linkage, each pair of groups looked at anew before each join."""
    groups = [[n] for n in range(len(words))]
    while True:
        pairs = [
            (float(np.mean(likeness[np.ix_(one, other)])), one, other)
            for one, other in combinations(groups, 2)
            if sum(words[n] for n in one + other) <= limit
        ]
        alike, one, other = max(pairs, default=(0.0, [], []))
        if alike < grouping.JOINED_FROM:
            return [sorted(members) for members in groups]
        groups = [members for members in groups if members not in (one, other)] + [one + other]
