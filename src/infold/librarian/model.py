"""The librarian that is a model behind an OpenAI-compatible endpoint: one conversation a chunk.

Wording belongs to `librarian.wording`; a question with its corrections to `librarian.exchange`; calls, caps and kept
answers to `librarian.endpoint`; the rules of an answer to `librarian.answers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from infold.environment import Environment
from infold.errors import AnswerInvalid, AnswerRefused, AnswerTruncated, CapTooSmall, InfoldError
from infold.librarian import wording
from infold.librarian.answers import (
    Answer,
    Chunk,
    EditRequest,
    Grouping,
    GroupRequest,
    Look,
    LookRequest,
    Summary,
    SummaryRequest,
)
from infold.librarian.articles import ArticleRequest, ArticleSummaries, article_messages
from infold.librarian.base import ConversationTranscript
from infold.librarian.compressing import Compression, CompressionRequest, compression_messages
from infold.librarian.decisions import DecisionStore
from infold.librarian.edit_answers import Edits
from infold.librarian.endpoint import Endpoint
from infold.librarian.exchange import Exchange
from infold.librarian.ledger import Ledger
from infold.librarian.perspectives import PerspectiveRequest, perspective_messages
from infold.librarian.prices import price_of
from infold.librarian.prompts import DecisionKind, prompt_version
from infold.librarian.questions import (
    AnswerRequest,
    CitedAnswer,
    Plan,
    PlanRequest,
    answer_messages,
    plan_messages,
)
from infold.librarian.speaking import Spoken, spoken
from infold.librarian.spend import CostMeter, Usage
from infold.librarian.theme_names import NamingRequest, ThemeNames, naming_messages
from infold.librarian.trees import Home, HomeRequest, home_messages
from infold.librarian.wording import ChatMessage, PromptState
from infold.settings import EditingParams, LibrarianParams
from infold.text import token_count

A = TypeVar("A", bound=Answer)

# After these the next run asks afresh; after others what was paid for is still good.
_SPOILS_ANSWERS: Final = (AnswerInvalid, AnswerRefused, AnswerTruncated)


class ModelLibrarian:
    """Decisions by a model. Implements `base.Librarian`."""

    def __init__(
        self,
        params: LibrarianParams,
        editing: EditingParams,
        environment: Environment,
        store: DecisionStore,
        concurrency: int,
        *,
        spend: CostMeter | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        """Opens no connection yet.

        Raises KeyMissing or SettingInvalid where no call could succeed, or a cap could not be held (CapTooSmall).
        """
        self._spend = spend or CostMeter(
            max_usd=params.max_usd,
            max_tokens=params.max_tokens,
            price=price_of(params.model, environment.base_url or None),
            ledger=ledger,
        )
        self._endpoint = Endpoint(params, environment, store, self._spend, concurrency)
        _check_caps(params, self._spend)
        self._params = params
        self._max_corrections = editing.max_corrections
        temperature = "default" if params.temperature is None else f"{params.temperature:g}"
        self._name = f"{params.model}/temperature-{temperature}"

    @property
    def name(self) -> str:
        """Model and temperature. No host, no key: moving to another address changes no decision key."""
        return self._name

    def signature(self, kind: DecisionKind) -> str:
        """The name with the version of this kind's prompts."""
        return f"{self._name}/prompts-{prompt_version(kind)}"

    @property
    def spend(self) -> CostMeter:
        """The meter that all calls share."""
        return self._spend

    async def group(self, request: GroupRequest) -> Grouping:
        """Which paragraphs belong together, asked in a conversation of its own."""
        return await self._ask_once("group", wording.group_messages(request), Grouping, request)

    async def summarise(self, request: SummaryRequest) -> Summary:
        """A summary of one note, asked in a conversation of its own."""
        return await self._ask_once(f"summary {request.path}", wording.summary_messages(request), Summary, request)

    async def summarise_together(self, request: PerspectiveRequest) -> Summary:
        """One summary of several passages, asked in a conversation of its own."""
        return await self._ask_once("summary from a perspective", perspective_messages(request), Summary, request)

    async def summarise_article(self, request: ArticleRequest) -> ArticleSummaries:
        """The contextual summaries of an article's parts, asked in a conversation of its own."""
        return await self._ask_once(f"article {request.path}", article_messages(request), ArticleSummaries, request)

    async def name_themes(self, request: NamingRequest) -> ThemeNames:
        """Names for themes, asked in a conversation of its own."""
        return await self._ask_once("names of themes", naming_messages(request), ThemeNames, request)

    async def find_home(self, request: HomeRequest) -> Home:
        """Which memory tree a document belongs to, asked in a conversation of its own."""
        return await self._ask_once(f"home of {request.name}", home_messages(request), Home, request)

    async def plan(self, request: PlanRequest) -> Plan:
        """Which calls find what answers a question, asked in a conversation of its own."""
        return await self._ask_once("plan of a question", plan_messages(request), Plan, request)

    async def answer_question(self, request: AnswerRequest) -> CitedAnswer:
        """What the evidence says about a question, asked in a conversation of its own."""
        return await self._ask_once("answer to a question", answer_messages(request), CitedAnswer, request)

    async def speak(
        self, messages: Sequence[ChatMessage], tools: Sequence[Mapping[str, Any]], *, may_call: bool = True
    ) -> Spoken:
        """The next turn of a conversation with tools; without calls where `may_call` is false.

        The tools stay in the request then too, so that a prompt cache holds. Raises LibrarianFault.
        """
        asked: dict[str, Any] = {"messages": list(messages)}
        if tools:
            asked |= {"tools": list(tools), "tool_choice": "auto" if may_call else "none"}
        completion = await self._endpoint.complete("conversation", asked)
        try:
            return spoken(completion.message, completion.usage)
        except _SPOILS_ANSWERS:
            self._endpoint.forget(completion.key)
            raise

    async def compress(self, request: CompressionRequest) -> Compression:
        """Which passages go into a context and how much of each, asked in a conversation of its own."""
        return await self._ask_once("choice of passages", compression_messages(request), Compression, request)

    def conversation(self, chunk: Chunk, transcript: ConversationTranscript = ()) -> ModelConversation:
        """A conversation about one chunk, new or taken up from `transcript`."""
        return ModelConversation(self._exchange(f"chunk {chunk.id}"), transcript)

    async def close(self) -> None:
        """Closes connections."""
        await self._endpoint.close()

    async def _ask_once(self, purpose: str, messages: list[ChatMessage], answer: type[A], request: object) -> A:
        exchange = self._exchange(purpose)
        try:
            return await exchange.ask(messages, answer, request)
        except _SPOILS_ANSWERS:
            exchange.forget()
            raise

    def _exchange(self, purpose: str) -> Exchange:
        return Exchange(self._endpoint, purpose, self._params.mode, self._max_corrections)


def _check_caps(params: LibrarianParams, spend: CostMeter) -> None:
    """Refuses a cap that the shortest question with its longest answer does not fit under."""
    prompt, answer = token_count(wording.chunk_opening()[0]["content"]), params.max_answer_tokens
    hint = "Raise the cap, or lower librarian.max_answer_tokens, the longest answer that is asked for."
    if spend.max_tokens is not None and spend.max_tokens < prompt + answer:
        raise CapTooSmall(
            f"Not even one call fits under librarian.max_tokens={spend.max_tokens}: "
            f"it may take {prompt + answer:,} tokens.",
            hint=hint,
        )
    least = spend.price(prompt, 0, answer) if spend.price else 0.0
    if spend.max_usd is not None and spend.max_usd < least:
        raise CapTooSmall(
            f"Not even one call fits under librarian.max_usd={spend.max_usd:g}: it may cost ${least:.4f}.", hint=hint
        )


class ModelConversation:
    """One chunk, from first look to last correction. Implements `base.Conversation`."""

    def __init__(self, exchange: Exchange, transcript: ConversationTranscript = ()) -> None:
        self._exchange = exchange
        self._messages: list[ChatMessage] = [dict(message) for message in transcript] or wording.chunk_opening()
        self._shown = PromptState.after(self._messages)

    @property
    def transcript(self) -> ConversationTranscript:
        """What was said so far, as JSON values; another process may take it up."""
        return tuple(self._messages) if len(self._messages) > 1 else ()

    @property
    def usage(self) -> Usage:
        """What this conversation object has cost since it was made."""
        return self._exchange.usage

    async def look(self, request: LookRequest) -> Look:
        """Which notes to view next, or to check out."""
        return await self._say(wording.look_message(request, self._shown), Look, request)

    async def edit(self, request: EditRequest) -> Edits:
        """Edits that follow every rule. Asked again after a re-checkout, it goes on with the new texts."""
        return await self._say(wording.edit_message(request, self._shown), Edits, request)

    async def _say(self, message: ChatMessage, answer: type[A], request: object) -> A:
        asked = [*self._messages, message]
        try:
            given = await self._exchange.ask(asked, answer, request)
        except InfoldError as error:
            self._shown = PromptState.after(self._messages)  # the message was not taken into the conversation
            if isinstance(error, _SPOILS_ANSWERS):
                self._exchange.forget()
            raise
        self._messages = self._exchange.said
        return given
