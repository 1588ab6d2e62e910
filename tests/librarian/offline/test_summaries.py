"""Summaries by extraction keep the word range, whatever the note is written in or made of."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infold.librarian.answers import SummaryRequest
from infold.librarian.offline.summaries import extract, from_linked, prose
from infold.text import word_count
from tests.librarian.offline.support import librarian_in

LOW, HIGH = 75, 100

SENTENCES = st.sampled_from(
    [
        "The quick brown fox jumps over the lazy dog, and nobody minds. ",
        "Хлеб пекут из муки и воды; тесто поднимается ночью. ",
        "これはとても長い文章の例です。次の文もあります。",
        "الخبز يصنع من الدقيق والماء كل صباح. ",
        "ขนมปังทำจากแป้ง และน้ำ ",
        "한국어 문장은 띄어쓰기가 있습니다. ",
        "Ein Brötchen wird aus Mehl gebacken – meist morgens. ",
        "`code_word` **bold** [link](https://example.org/a_b) [[Note|shown]] ",
        "\n\n## A heading\n\n",
        "\n\n- an item of a list\n- another one, with a clause\n\n",
        "\n\n```\nx = 1\n```\n\n",
        "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n",
        "supercalifragilistic-expialidocious ",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=120).map("".join))
def test_a_summary_has_as_many_words_as_asked_for(text):
    """75 to 100 words in every script; all that a shorter text can give otherwise."""
    count = word_count(extract(text, LOW, HIGH))
    assert count <= HIGH
    if word_count(text) >= LOW:
        assert count >= LOW


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=30), st.lists(SENTENCES, max_size=9).map("".join)), max_size=150),
    st.lists(SENTENCES, max_size=30).map("".join),
)
def test_an_index_summary_never_has_too_many_words(linked, text):
    """However many notes an index links to, its summary keeps the limit."""
    assert word_count(from_linked(linked, text, LOW, HIGH)) <= HIGH


@settings(max_examples=60, deadline=None)
@given(st.lists(SENTENCES, max_size=30).map("".join), st.integers(1, 60), st.integers(0, 60))
def test_any_range_of_words_can_be_asked_for(text, low, more):
    """A range below the words of a lead ends too, and is kept."""
    assert word_count(extract(text, low, low + more)) <= low + more


def test_an_index_summary_names_its_notes():
    """What an index covers is said by the names of its notes and what they begin with."""
    linked = [
        (f"Topic {n}", f"Topic {n} treats of many things that matter, among them number {n}. " * 5) for n in range(6)
    ]
    summary = from_linked(linked, "", LOW, HIGH)
    assert LOW <= word_count(summary) <= HIGH
    assert all(f"Topic {n}" in summary for n in range(6))


def test_a_summary_leads_with_what_the_note_is_about():
    """The first sentence of the note is the first of its summary; marks of Markdown are gone."""
    text = (
        "# Tea\n\n**Tea** is a [drink](https://example.org) made of leaves. It is old.\n\n## Kinds\n\n"
        + "Green tea is one kind. " * 40
    )
    assert extract(text, LOW, HIGH).startswith("Tea is a drink made of leaves. It is old.")


@pytest.mark.parametrize("text", ["", "word", "```\ncode only here\n```", "---\n\n***\n"])
def test_a_text_with_next_to_nothing_gives_what_it_has(text):
    """No text is too poor to be summarised."""
    assert word_count(extract(text, LOW, HIGH)) <= word_count(text)


def test_the_librarian_summarises_within_the_range():
    """The answer to a summary request passes its validator."""
    body = "Sourdough needs time and warmth, and a baker who waits. " * 30
    request = SummaryRequest("a.md", "A", body, None, (LOW, HIGH))
    answer = asyncio.run(librarian_in({}).summarise(request))
    type(answer).model_validate(answer.model_dump(), context={"request": request})


def test_prose_of_lists_is_sentences():
    """Headings, bullets, boxes, quotes and marks go; tables speak by their cells, a bare heading by its words."""
    text = "## Later\n\n- [ ] **bread**\n- [x] see [[jam|the jam]]\n  1. salted\n\n> Never cold!\n\n```sh\nls\n```\n"
    assert prose(text) == ["bread.", "see the jam.", "salted.", "Never cold!"]
    assert prose("| a | b |\n|---|---|\n| 1 | 2 |\n") == ["a, b.", "1, 2."]
    assert prose("## Later\n") == ["Later"]
    assert prose("```sh\nls -l\n```\n") == ["ls -l"]
    assert prose("---\n\n") == []
