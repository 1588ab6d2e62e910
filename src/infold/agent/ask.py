"""One question to the vault: planned, looked up, answered with places or with what was not found (spec 5, Queries).

Looking belongs to whoever asks: `look` makes one planned call. What is found is evidence; nothing in it is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from infold.librarian.base import Librarian
from infold.librarian.estimate import Estimate
from infold.librarian.questions import (
    AnswerRequest,
    CitedAnswer,
    FoundText,
    Plan,
    PlannedCall,
    PlanRequest,
    answer_messages,
    is_within,
    plan_messages,
)
from infold.librarian.spend import Price
from infold.text import token_count

MOST_TEXTS: Final = 12
MOST_CHARACTERS: Final = 2_000  # of each
_PLAN_TOKENS: Final = (20, 200)  # of the two answers, from low to high
_ANSWER_TOKENS: Final = (30, 500)
_SCHEMA_TOKENS: Final = 400  # what describes the two answers to the model
_LABEL_TOKENS: Final = 40

LookUp = Callable[[PlannedCall], Sequence[FoundText]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of a question."""

    plan: Plan
    evidence: tuple[FoundText, ...]
    answer: CitedAnswer = field(default_factory=lambda: CitedAnswer(statements=[]))


async def ask(request: PlanRequest, look: LookUp, librarian: Librarian) -> Asked:
    """Plans calls, makes them, and answers from what they found. Raises LibrarianFault, and what `look` raises."""
    plan = await librarian.plan(request)
    if not plan.calls:
        return Asked(plan, (), CitedAnswer(statements=[], not_found=plan.reason))
    evidence = _kept([look(call) for call in plan.calls])
    if not evidence:
        return Asked(plan, (), CitedAnswer(statements=[], not_found=f"Nothing was found for “{request.question}”."))
    subject = " ".join(dict.fromkeys(call.query for call in plan.calls if call.query))
    answer = await librarian.answer_question(AnswerRequest(request.question, evidence, subject))
    return Asked(plan, evidence, answer)


def estimate_ask(request: PlanRequest, corrections: int, price: Price | None) -> Estimate:
    """What a model takes for one question, from an answer without evidence to every answer corrected."""
    planning = _tokens(plan_messages(request)) + _SCHEMA_TOKENS
    answering = _tokens(answer_messages(AnswerRequest(request.question, ()))) + _SCHEMA_TOKENS
    evidence = MOST_TEXTS * (token_count("x" * MOST_CHARACTERS) + _LABEL_TOKENS)
    most = 1 + corrections
    prompt = planning, most * (planning + answering + evidence)
    completion = _PLAN_TOKENS[0], most * (_PLAN_TOKENS[1] + _ANSWER_TOKENS[1])
    usd = (price(prompt[0], 0, completion[0]), price(prompt[1], 0, completion[1])) if price else None
    return Estimate(calls=(1, 2 * most), prompt_tokens=prompt, completion_tokens=completion, usd=usd)


def _tokens(messages: Sequence[dict[str, object]]) -> int:
    return sum(token_count(str(message["content"])) for message in messages)


def _kept(found: Sequence[Sequence[FoundText]]) -> tuple[FoundText, ...]:
    """The best of each call in turn; what lies within another text is not shown twice."""
    kept: list[FoundText] = []
    for place in range(max(map(len, found), default=0)):
        for texts in found:
            if place < len(texts) and len(kept) < MOST_TEXTS and not _is_shown(texts[place], kept):
                kept.append(texts[place])
    return tuple(kept)


def _is_shown(text: FoundText, kept: Sequence[FoundText]) -> bool:
    return not text.text.strip() or any(not text.about and is_within(text.place, other.place) for other in kept)
