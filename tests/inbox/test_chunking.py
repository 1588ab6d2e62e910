"""Grouping paragraphs into chunks (spec 1, Phase 1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from infold.inbox.chunking import group_paragraphs
from infold.librarian.answers import Grouping, GroupRequest, Paragraph
from infold.settings import ChunkingParams
from tests.fakes.scripted import ScriptedLibrarian


def paragraphs(*lengths: int) -> list[Paragraph]:
    return [Paragraph(n, " ".join(["word"] * length)) for n, length in enumerate(lengths, start=1)]


def check(groups: list[list[int]], *lengths: int) -> Grouping:
    request = GroupRequest(tuple(paragraphs(*lengths)), (), 600)
    return Grouping.model_validate({"groups": groups}, context={"request": request})


def test_paragraphs_of_a_group_need_not_be_contiguous():
    """Spec 1: paragraphs within a chunk need not be contiguous."""
    assert check([[1, 3], [2]], 10, 10, 10).groups == [[1, 3], [2]]


@pytest.mark.parametrize(
    "groups,complaint",
    [
        ([[1]], "paragraph in no group: 2"),
        ([[1, 2], [2]], "paragraph in more than one group: 2"),
        ([[1, 2, 9]], "no such paragraph: 9"),
    ],
)
def test_every_paragraph_is_in_exactly_one_group(groups, complaint):
    """A paragraph that is forgotten, named twice or invented is said, by number."""
    with pytest.raises(ValidationError, match=complaint):
        check(groups, 10, 10)


def test_six_hundred_words_are_the_limit_but_no_paragraph_is_split():
    """Spec 1: max 600 words per chunk, but never split a single paragraph."""
    with pytest.raises(ValidationError, match=r"601 words, the limit is 600"):
        check([[1, 2]], 300, 301)
    assert check([[1, 2], [3]], 300, 300, 900).groups == [[1, 2], [3]]


async def test_chunks_come_in_the_order_of_their_first_paragraph():
    """Chunk ids follow the inbox, whatever order the librarian chose."""
    librarian = ScriptedLibrarian(look=dict, edit=dict, group_by=lambda r: {"groups": [[2], [3, 1]]})
    result = await group_paragraphs(paragraphs(5, 5, 5), (), librarian, ChunkingParams())
    assert [(c.id, [p.n for p in c.paragraphs]) for c in result.chunks] == [(1, [1, 3]), (2, [2])]


async def test_a_librarian_that_cannot_group_costs_no_paragraph():
    """An invalid grouping to the end: each paragraph is a chunk of its own, and the report says so."""
    librarian = ScriptedLibrarian(look=dict, edit=dict, group_by=lambda r: {"groups": [[1]]})
    result = await group_paragraphs(paragraphs(5, 5), (), librarian, ChunkingParams())
    assert [[p.n for p in c.paragraphs] for c in result.chunks] == [[1], [2]]
    assert "not grouped" in result.warnings[0]


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30), st.integers(100, 900))
async def test_windows_lose_no_paragraph(lengths, window):
    """However long the inbox, every paragraph is in exactly one chunk."""
    librarian = ScriptedLibrarian(look=dict, edit=dict)
    result = await group_paragraphs(paragraphs(*lengths), (), librarian, ChunkingParams(max_words_per_request=window))
    assert sorted(p.n for c in result.chunks for p in c.paragraphs) == list(range(1, len(lengths) + 1))
