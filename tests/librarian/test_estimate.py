"""The bill is known before: a range that real runs fall into."""

from __future__ import annotations

import pytest

from infold.librarian.answers import Chunk, EditRequest, GroupRequest, LookRequest, NoteCard, OpenNote, Paragraph
from infold.librarian.estimate import estimate
from infold.librarian.prices import price_of
from infold.settings import EditingParams, Params
from infold.text import token_count
from tests.librarian.conftest import summary_request

BOILED = "water boils in the kettle and " * 10
PARAGRAPHS = tuple(Paragraph(n, f"Paragraph {n} says that {BOILED}") for n in range(1, 7))
NOTE = "# Water\n\n" + "Water is what tea is made of, mostly. " * 60 + "\n\nA last line.\n"
SUMMARY = "It tells what water does in a kettle and why. " * 9


def test_nothing_to_do_costs_nothing():
    """No paragraph and no note without summary: no call."""
    assert estimate([], [], Params(), price_of("gpt-5-mini", None)).usd == (0.0, 0.0)
    assert estimate([], [], Params()).calls == (0, 0)


def test_low_is_never_above_high_and_both_grow_with_the_work():
    """More paragraphs or more notes never cost less."""
    little = estimate(PARAGRAPHS[:2], [100], Params())
    much = estimate(PARAGRAPHS, [100] * 9, Params())
    for figures in (little.calls, little.prompt_tokens, little.completion_tokens, little.tokens):
        assert 0 < figures[0] <= figures[1]
    assert much.calls[0] >= little.calls[0]
    assert much.calls[1] > little.calls[1]
    assert much.tokens[0] > little.tokens[0]
    assert much.tokens[1] > little.tokens[1]


def test_an_unknown_price_gives_no_dollars():
    """Tokens are estimated all the same, and the text says that the price is unknown."""
    unknown = estimate(PARAGRAPHS, [], Params())
    assert unknown.usd is None
    assert "price unknown" in str(unknown)
    known = estimate(PARAGRAPHS, [], Params(), price_of("gpt-5-mini", None))
    assert known.usd[0] < known.usd[1]
    assert "USD" in str(known)


@pytest.mark.parametrize("mode", ["json_schema", "tools"])
async def test_a_real_run_falls_into_the_range(librarian, server, mode):
    """Six paragraphs and three summaries over HTTP, as the endpoint and the meter count them."""
    model = librarian(mode=mode)
    notes = [f"{n} " + NOTE for n in range(3)]
    for text in notes:
        await model.summarise(summary_request(text))
    await model.group(GroupRequest(PARAGRAPHS, tuple(f"note {n}.md" for n in range(15)), 600))
    paths = [f"note-{n}.md" for n in range(8)]
    summaries = dict.fromkeys(paths, SUMMARY)
    cards = [NoteCard(path, path, ("# Title", "## Part"), tuple(paths[:3])) for path in paths]
    for n, paragraph in enumerate(PARAGRAPHS):
        chunk = Chunk(n, (paragraph,))
        conversation = model.conversation(chunk)
        await conversation.look(LookRequest(chunk, (cards[0],), tuple(cards[1:]), summaries, 1, 2, 4, 3))
        await conversation.look(LookRequest(chunk, tuple(cards[:3]), tuple(cards[3:]), summaries, 2, 1, 4, 3))
        await conversation.edit(EditRequest(chunk, (OpenNote("note-1.md", NOTE),), EditingParams()))
    expected = estimate(PARAGRAPHS, [token_count(text) for text in notes], Params())
    usage = model.spend.usage
    assert expected.calls[0] <= usage.calls <= expected.calls[1]
    assert expected.prompt_tokens[0] <= usage.prompt_tokens <= expected.prompt_tokens[1]
    assert expected.completion_tokens[0] <= usage.completion_tokens <= expected.completion_tokens[1]
