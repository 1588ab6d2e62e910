"""Grouping is a partition under the word limit, and puts together what has one home."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from infold.librarian.answers import GroupRequest, Paragraph
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
