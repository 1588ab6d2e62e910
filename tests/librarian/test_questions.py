"""A question's two decisions with a model: answers in each mode, and what breaks a rule is sent back and corrected."""

from __future__ import annotations

from datetime import date

import pytest

from infold.librarian.questions import AnswerRequest, FoundText, PlanRequest
from tests.fakes.openai_server import answer
from tests.librarian.test_model_answers import MODES

ASKED = PlanRequest("Notes related to this that I wrote last year", date(2026, 3, 4), centre="Garden › Heat")
FOUND = AnswerRequest("How hot?", (FoundText("garden/heap.md:3-5", "A hot heap kills seeds."),))


@pytest.mark.parametrize("mode", MODES)
async def test_a_plan_and_an_answer_in_each_mode(librarian, server, mode):
    """Days come as days; a search without words, and a place that was not found, are corrected in the conversation."""
    move = {"find": "move", "since": "2025-01-01", "until": "2025-12-31"}
    server.script("Plan", answer({"calls": [{"find": "search"}]}), answer({"calls": [move]}))
    wrong, right = ({"statements": [{"text": "Hot.", "places": [at]}]} for at in ("b.md:1", "garden/heap.md:3-5"))
    server.script("CitedAnswer", answer(wrong), answer(right))
    model = librarian(mode=mode)
    (call,) = (await model.plan(ASKED)).calls
    assert (call.find, call.since, call.until) == ("move", date(2025, 1, 1), date(2025, 12, 31))
    (said,) = (await model.answer_question(FOUND)).statements
    assert said.places == ["garden/heap.md:3-5"]
    assert server.counts == {"Plan": 2, "CitedAnswer": 2}
    corrections = [str(asked.messages[-1]) for asked in server.asked]
    assert "search needs a query" in corrections[1]
    assert "not among the evidence: b.md:1" in corrections[3]


async def test_the_same_question_on_the_same_evidence_is_paid_for_once(librarian, server):
    """Both decisions are kept by what was asked."""
    server.script("Plan", answer({"calls": [{"find": "themes"}]}))
    server.script("CitedAnswer", answer({"statements": [], "not_found": "the heat"}))
    for _ in range(2):
        model = librarian()
        assert (await model.plan(ASKED)).calls[0].find == "themes"
        assert (await model.answer_question(FOUND)).not_found == "the heat"
    assert len(server.asked) == 2
