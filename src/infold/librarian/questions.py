"""A question to the vault: which calls find what answers it, and the answer with its places (spec 5, Queries).

Two decisions, `plan` and `answer`; the rules of an answer are its validators, as in `librarian.answers`. What is found
in notes is evidence: fenced, labelled with whose text it is, and never an instruction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from infold.librarian.answers import Answer
from infold.librarian.prompts import prompt
from infold.text import fenced

MOST_CALLS: Final = 6
OWN: Final = "vault"  # the trust of a person's own text

Finder = Literal["search", "explore", "zoom_in", "zoom_out", "move", "follow_link", "themes"]

_ASKS_IN_WORDS: Final = frozenset(("search", "explore"))
_NEEDS_CENTRE: Final = frozenset(("zoom_in", "zoom_out", "move", "follow_link"))
_LINES: Final = re.compile(r"(?P<path>.+):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A question, the day it is asked on, and what "this one" means: the titles down to the centre, '' for none."""

    question: str
    today: date
    centre: str = ""


class PlannedCall(BaseModel):
    """One look into the vault."""

    model_config = ConfigDict(extra="ignore")

    find: Finder = Field(description="What to do.")
    query: str = Field(default="", description="search and explore: what to look for.")
    tags: list[str] = Field(default_factory=list, description="search, explore and move: only notes with these tags.")
    folder: str = Field(default="", description="search, explore and move: only notes in this folder.")
    since: date | None = Field(default=None, description="search, explore and move: notes of that day or later.")
    until: date | None = Field(default=None, description="search, explore and move: notes of that day or earlier.")
    level: Literal[1, 2, 3] = Field(default=1, description="themes: 1 a few broad ones, 3 many fine ones.")

    def problem(self, *, has_centre: bool) -> str:
        """What is wrong with the call; '' where nothing is. `has_centre`: whether "this one" means anything by then."""
        if self.find in _ASKS_IN_WORDS and not self.query.strip():
            return f"{self.find} needs a query"
        if self.find in _NEEDS_CENTRE and not has_centre:
            return f"{self.find} needs a centre, and there is none: explore first"
        if self.since and self.until and self.since > self.until:
            return f"since {self.since} is after until {self.until}"
        return ""


class Plan(Answer):
    """The calls in their order; none, with the reason, where no call can help."""

    calls: list[PlannedCall] = Field(max_length=MOST_CALLS, description="The calls, in their order.")
    reason: str = Field(default="", description="Only where there are no calls: why nothing can be looked up.")

    @model_validator(mode="after")
    def _every_call_can_be_made(self, info: ValidationInfo) -> Self:
        request: PlanRequest | None = (info.context or {}).get("request")
        if request is None:
            return self
        if not self.calls and not self.reason.strip():
            raise ValueError("there are no calls, and no reason why not")
        has_centre = bool(request.centre)
        problems: list[str] = []
        for number, call in enumerate(self.calls, start=1):
            problem = call.problem(has_centre=has_centre)
            problems += [f"call {number}: {problem}"] if problem else []
            has_centre = has_centre or call.find == "explore"
        if problems:
            raise ValueError("; ".join(problems))
        return self


@dataclass(frozen=True, slots=True)
class FoundText:
    """Text that may answer. `place` is path:first-last; `trust` says whose it is, `about` what found it."""

    place: str
    text: str
    trust: str = OWN
    about: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """The question and what was found for it, the likeliest first; `subject`: the words looked for, '' for none."""

    question: str
    evidence: tuple[FoundText, ...]
    subject: str = ""


class SaidWithPlaces(BaseModel):
    """One statement of an answer."""

    model_config = ConfigDict(extra="ignore")

    text: str = Field(min_length=1, description="One or two sentences.")
    places: list[str] = Field(min_length=1, description="Where the evidence says that: path:first-last, as labelled.")


class CitedAnswer(Answer):
    """What the evidence says about a question: statements with their places, and what it does not say."""

    statements: list[SaidWithPlaces] = Field(description="The answer; empty where the evidence has none.")
    not_found: str = Field(default="", description="What was asked and is not in the evidence, if anything.")

    @model_validator(mode="after")
    def _cites_what_was_found(self, info: ValidationInfo) -> Self:
        request: AnswerRequest | None = (info.context or {}).get("request")
        if request is None:
            return self
        if not self.statements and not self.not_found.strip():
            raise ValueError("there are no statements, and it is not said what was not found")
        known = [each.place for each in request.evidence]
        wrong = [
            place
            for said in self.statements
            for place in said.places
            if not any(is_within(place, other) for other in known)
        ]
        if wrong:
            raise ValueError(f"not among the evidence: {', '.join(wrong)}; cite places as they are labelled")
        return self


def is_within(place: str, other: str) -> bool:
    """Whether the lines of a place are among those of another."""
    if place == other:
        return True
    inner, outer = _LINES.fullmatch(place), _LINES.fullmatch(other)
    if inner is None or outer is None or inner["path"] != outer["path"]:
        return False
    first, last = int(inner["first"]), int(inner["last"] or inner["first"])
    return int(outer["first"]) <= first <= last <= int(outer["last"] or outer["first"])


def plan_messages(request: PlanRequest) -> list[dict[str, Any]]:
    """The whole conversation that asks for the plan."""
    asked = prompt(
        "plan/request",
        question=fenced(request.question, label="question", origin="person"),
        today=request.today.isoformat(),
        centre=fenced(request.centre, label="centre", origin="notes") if request.centre else "There is no centre.",
        most=MOST_CALLS,
    )
    return [{"role": "system", "content": prompt("plan/system")}, {"role": "user", "content": asked}]


def answer_messages(request: AnswerRequest) -> list[dict[str, Any]]:
    """The whole conversation that asks for the answer."""
    asked = prompt(
        "answer/request",
        question=fenced(request.question, label="question", origin="person"),
        evidence=evidence_text(request.evidence),
    )
    return [{"role": "system", "content": prompt("answer/system")}, {"role": "user", "content": asked}]


def evidence_text(evidence: Sequence[FoundText]) -> str:
    """What was found as a prompt has it: each text fenced, with its place and whose it is."""
    return "\n\n".join(_labelled(each) for each in evidence)


def _labelled(found: FoundText) -> str:
    label = "evidence" if found.trust == OWN else "evidence from outside"
    about = f"{found.about}\n\n" if found.about else ""
    return fenced(about + found.text, label=label, origin=json.dumps(found.place, ensure_ascii=True))
