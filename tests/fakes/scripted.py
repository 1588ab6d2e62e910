"""A librarian that answers by given functions: for tests of everything around the librarian.

Answers pass through the same validators as a model's, so a script that breaks a rule fails as a model would.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from infold.errors import AnswerInvalid
from infold.librarian.answers import (
    Chunk,
    EditRequest,
    Grouping,
    GroupRequest,
    Look,
    LookRequest,
    Summary,
    SummaryRequest,
)
from infold.librarian.articles import ArticleRequest, ArticleSummaries
from infold.librarian.edit_answers import Edits
from infold.librarian.perspectives import PerspectiveRequest
from infold.librarian.prompts import DecisionKind
from infold.librarian.questions import AnswerRequest, CitedAnswer, Plan, PlanRequest
from infold.librarian.spend import CostMeter, Usage
from infold.librarian.theme_names import NamingRequest, ThemeNames
from infold.librarian.trees import Home, HomeRequest

Answerer = Callable[[Any], dict[str, Any]]


def alone(request: GroupRequest) -> dict[str, Any]:
    """Each paragraph a group of its own."""
    return {"groups": [[p.n] for p in request.paragraphs]}


@dataclass
class ScriptedLibrarian:
    """Answers `group`, `look`, `edit` and `summarise` by the given functions; `asked` records every request."""

    look: Answerer
    edit: Answerer
    group_by: Answerer = alone
    summarise_by: Answerer = lambda request: {"summary": " ".join(["word"] * request.target_words[0])}
    plan_by: Answerer = lambda request: {"calls": [{"find": "search", "query": request.question}]}
    answer_by: Answerer = lambda request: {"statements": [], "not_found": "an answer"}
    latency: Callable[[Any], float] = lambda request: 0.0
    asked: list[Any] = field(default_factory=list)
    name: str = "scripted/1"
    spend: CostMeter = field(default_factory=CostMeter)

    def signature(self, kind: DecisionKind) -> str:
        """The name."""
        return self.name

    async def group(self, request: GroupRequest) -> Grouping:
        """By `group_by`."""
        return await self.answer(Grouping, self.group_by, request)

    async def summarise(self, request: SummaryRequest) -> Summary:
        """By `summarise_by`."""
        return await self.answer(Summary, self.summarise_by, request)

    async def summarise_together(self, request: PerspectiveRequest) -> Summary:
        """As many words as may be."""
        return await self.answer(Summary, lambda asked: {"summary": "word " * asked.target_words[0]}, request)

    async def summarise_article(self, request: ArticleRequest) -> ArticleSummaries:
        """Each part by its number."""
        return await self.answer(
            ArticleSummaries,
            lambda asked: {"summaries": [{"number": p.number, "summary": f"part {p.number}"} for p in asked.parts]},
            request,
        )

    async def name_themes(self, request: NamingRequest) -> ThemeNames:
        """Each by its number."""
        return await self.answer(
            ThemeNames,
            lambda asked: {
                "themes": [{"number": t.number, "name": f"theme {t.number}", "summary": "so"} for t in asked.themes]
            },
            request,
        )

    async def find_home(self, request: HomeRequest) -> Home:
        """Nowhere."""
        return await self.answer(Home, lambda _: {"tree": "none", "score": 1, "reason": "none fits"}, request)

    async def plan(self, request: PlanRequest) -> Plan:
        """By `plan_by`."""
        return await self.answer(Plan, self.plan_by, request)

    async def answer_question(self, request: AnswerRequest) -> CitedAnswer:
        """By `answer_by`."""
        return await self.answer(CitedAnswer, self.answer_by, request)

    def conversation(self, chunk: Chunk, transcript: Sequence[dict[str, Any]] = ()) -> ScriptedConversation:
        """A conversation that remembers how many answers it gave."""
        return ScriptedConversation(self, tuple(transcript))

    async def close(self) -> None:
        """Nothing to let go of."""

    async def answer(self, kind: Any, by: Answerer, request: Any) -> Any:
        """One validated answer."""
        self.asked.append(request)
        await asyncio.sleep(self.latency(request))
        try:
            return kind.model_validate(by(request), context={"request": request})
        except ValidationError as error:
            raise AnswerInvalid(str(error)) from error


@dataclass
class ScriptedConversation:
    """One chunk's conversation."""

    librarian: ScriptedLibrarian
    transcript: tuple[dict[str, Any], ...]
    usage: Usage = field(default_factory=Usage)

    async def look(self, request: LookRequest) -> Look:
        """By the librarian's `look`."""
        return await self._said(Look, self.librarian.look, request)

    async def edit(self, request: EditRequest) -> Edits:
        """By the librarian's `edit`."""
        return await self._said(Edits, self.librarian.edit, request)

    async def _said(self, kind: Any, by: Answerer, request: Any) -> Any:
        answer = await self.librarian.answer(kind, by, request)
        self.transcript = (*self.transcript, {"role": "assistant", "content": answer.model_dump_json()})
        self.usage = self.usage + Usage(calls=1)
        return answer
