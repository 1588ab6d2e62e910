"""One OpenAI-compatible endpoint: calls side by side up to a bound, metered, every paid answer kept before it is read.

The only module that imports `openai`. What is asked, and what an answer means, belong to `librarian.model`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from infold.environment import Environment
from infold.errors import (
    AnswerRefused,
    AnswerTruncated,
    EndpointFault,
    InfoldError,
    KeyMissing,
    KeyRejected,
    SettingInvalid,
)
from infold.librarian.decisions import DecisionStore, content_key
from infold.librarian.faults import OPENAI_HOST, AskedEndpoint, translate
from infold.librarian.outage import OutageWatch
from infold.librarian.spend import CostMeter, Usage
from infold.settings import LibrarianParams
from infold.text import token_count

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion

COMPLETION_FORMAT: Final = "1"  # of what is stored; a new one makes stored completions unknown
_CONNECT_SECONDS: Final = 10.0
_ANSWER_LIMIT_NAMES: Final = ("max_completion_tokens", "max_tokens")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of the endpoint, as JSON, with the key it is kept under and what it cost."""

    key: str
    body: dict[str, Any]
    usage: Usage

    @property
    def message(self) -> dict[str, Any]:
        """What the model said. Raises AnswerRefused and AnswerTruncated where it is no answer."""
        choice: dict[str, Any] = self.body["choices"][0]
        message: dict[str, Any] = choice["message"]
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise AnswerRefused("The model declined to answer, or a content filter stopped it.")
        if choice.get("finish_reason") == "length":
            raise AnswerTruncated("The answer was cut at the length limit.", hint="Raise librarian.max_answer_tokens.")
        return message


@dataclass(frozen=True, slots=True)
class _Connection:
    """What belongs to one event loop."""

    client: AsyncOpenAI
    gate: asyncio.Semaphore


class Endpoint:
    """Where completions come from: the store of decisions first, then the network.

    It may be used from several event loops, one after another or side by side; the bound holds for each.
    """

    def __init__(
        self,
        params: LibrarianParams,
        environment: Environment,
        store: DecisionStore,
        spend: CostMeter,
        concurrency: int,
    ) -> None:
        """Raises KeyMissing, KeyRejected or SettingInvalid for what no call could succeed with. Opens nothing yet."""
        self._params = params
        self._store = store
        self._spend = spend
        self._concurrency = concurrency
        self._base_url = _checked_url(environment)
        self._key = _checked_key(environment, self._base_url)
        self._asked = AskedEndpoint(params.model, self._base_url)
        # Ollama and older local servers know only the old name, OpenAI's reasoning models only the new one.
        self._answer_limit_name = _ANSWER_LIMIT_NAMES[0] if _is_openai(self._base_url) else _ANSWER_LIMIT_NAMES[1]
        self.outage = OutageWatch(params.give_up_seconds)
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, _Connection] = WeakKeyDictionary()

    @property
    def model(self) -> str:
        """The model's name."""
        return self._params.model

    async def complete(self, purpose: str, request: Mapping[str, Any]) -> Completion:
        """The completion for `request`: model, messages and how to answer, as JSON.

        A completion that came is on disk before this returns, so that the same question is never paid for twice.
        """
        body = {"model": self._params.model, **request}
        if self._params.temperature is not None:
            body["temperature"] = self._params.temperature
        key = content_key("completion", COMPLETION_FORMAT, body, self._params.max_answer_tokens)
        kept = self._store.get(key)
        if kept is not None:
            return Completion(key, kept, self._spend.reuse(purpose))
        connection = self._connection()
        async with connection.gate:
            prompt_tokens = token_count(json.dumps(body, ensure_ascii=False))
            held = self._spend.reserve(purpose, prompt_tokens, self._params.max_answer_tokens)
            started = time.perf_counter()
            try:
                answer = await self._send(connection.client, body)
            except InfoldError:
                self._spend.release(held, failed=True)
                raise
            except BaseException:
                self._spend.release(held)
                raise
            self.outage.heard()
            counted = _counted(answer, prompt_tokens)
            usage = self._spend.settle(held, *counted[:2], cached_tokens=counted[2])
            await asyncio.to_thread(self._store.put, key, answer)
        _log.info("%s: %s in %.1f s", purpose, usage, time.perf_counter() - started)
        return Completion(key, answer, usage)

    def forget(self, key: str) -> None:
        """Drops a kept completion, so that the next run asks afresh."""
        self._store.drop(key)

    async def close(self) -> None:
        """Closes the connections of the running loop; those of loops that are gone went with them."""
        connection = self._connections.pop(asyncio.get_running_loop(), None)
        if connection is not None:
            await connection.client.close()

    def _connection(self) -> _Connection:
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            import httpx2
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient

            seconds = self._params.timeout_seconds
            client = AsyncOpenAI(
                api_key=self._key,
                base_url=self._base_url or f"https://{OPENAI_HOST}/v1",
                timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
                max_retries=self._params.max_retries,
                # A proxy of the environment leads to other machines, not to this one.
                http_client=DefaultAsyncHttpxClient(trust_env=False) if _is_on_this_machine(self._base_url) else None,
            )
            # At DEBUG the client logs whole requests: the notes' text.
            logging.getLogger("openai").setLevel(max(logging.INFO, logging.getLogger("openai").level))
            self._connections[loop] = _Connection(client, asyncio.Semaphore(self._concurrency))
        return self._connections[loop]

    async def _send(self, client: AsyncOpenAI, body: dict[str, Any]) -> dict[str, Any]:
        """One call with all its retries, within `librarian.give_up_seconds`."""
        try:
            async with asyncio.timeout(self._params.give_up_seconds):
                return await self._tried(client, body)
        except TimeoutError:
            pass
        raise EndpointFault(
            f"{self._asked.host} gave no answer within {self._params.give_up_seconds:g} seconds, retries included.",
            hint="Raise librarian.give_up_seconds and librarian.timeout_seconds for a slow model, or run again later: "
            "what is done is kept.",
        )

    async def _tried(self, client: AsyncOpenAI, body: dict[str, Any]) -> dict[str, Any]:
        answer = await self._attempt(client, body)
        if isinstance(answer, _OtherLimitName):
            self._answer_limit_name = answer.name
            answer = await self._attempt(client, body)
        if isinstance(answer, _OtherLimitName):
            raise translate(answer.error, self._asked)
        return answer

    async def _attempt(self, client: AsyncOpenAI, body: dict[str, Any]) -> dict[str, Any] | _OtherLimitName:
        """One call with the client's own retries. Errors are raised outside the handler: none carries a text."""
        import httpx2
        from openai import OpenAIError

        limit_name = self._answer_limit_name
        fault: InfoldError
        try:
            # The typed method would walk through every message before it sends them: 3 ms a call for nothing.
            sent = {**body, limit_name: self._params.max_answer_tokens}
            raw = await client.post("/chat/completions", cast_to=httpx2.Response, body=sent)
            answer = json.loads(raw.content, parse_constant=lambda _: None)  # NaN is no JSON
        except OpenAIError as error:
            if getattr(error, "param", None) == limit_name:
                return _OtherLimitName(next(name for name in _ANSWER_LIMIT_NAMES if name != limit_name), error)
            fault = translate(error, self._asked)
        except ValueError:
            fault = self._no_completion()
        else:
            if _is_completion(answer):
                completion: dict[str, Any] = answer
                return completion
            fault = self._no_completion()
        raise fault

    def _no_completion(self) -> EndpointFault:
        return EndpointFault(
            f"{self._asked.host} answered with something that is no chat completion.",
            hint="Check OPENAI_BASE_URL: it often ends in /v1.",
        )


@dataclass(frozen=True, slots=True)
class _OtherLimitName:
    """The endpoint wants the answer limit under another name."""

    name: str
    error: Exception


def as_completion(message: dict[str, Any]) -> ChatCompletion:
    """A message in the form that users of the `openai` client expect; what it cost is counted already."""
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion

    choice = {"index": 0, "finish_reason": "stop", "message": message}
    nothing = CompletionUsage(prompt_tokens=0, completion_tokens=0, total_tokens=0)
    return ChatCompletion.construct(
        id="", object="chat.completion", created=0, model="", choices=[choice], usage=nothing
    )


def _is_completion(answer: object) -> bool:
    match answer:
        case {"choices": [{"message": {}}, *_]}:
            return True
    return False


def _counted(answer: dict[str, Any], prompt_tokens: int) -> tuple[int, int, int]:
    """Prompt and completion tokens, and those of the prompt that were cached: the endpoint's count, else our rule."""
    match answer.get("usage"):
        case {"prompt_tokens": int(prompt), "completion_tokens": int(completion), **more}:
            match more.get("prompt_tokens_details"):
                case {"cached_tokens": int(cached)}:
                    return prompt, completion, cached
            return prompt, completion, 0
    said = json.dumps(answer["choices"][0]["message"], ensure_ascii=False)
    return prompt_tokens, token_count(said), 0


def _is_openai(base_url: str | None) -> bool:
    return base_url is None or urlsplit(base_url).hostname == OPENAI_HOST


def _is_on_this_machine(base_url: str | None) -> bool:
    host = urlsplit(base_url or "").hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


def _checked_url(environment: Environment) -> str | None:
    url = (environment.base_url or "").strip()
    if not url:
        return None
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound:
        raise SettingInvalid(
            "OPENAI_BASE_URL is no http or https address.", hint="For a local Ollama: http://localhost:11434/v1"
        )
    return url


def _checked_key(environment: Environment, base_url: str | None) -> str:
    key = environment.api_key.get_secret_value().strip() if environment.api_key else ""
    if not key and _is_openai(base_url):
        raise KeyMissing(
            "No API key is set for the model librarian.",
            hint="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local endpoint, or librarian.kind=offline.",
        )
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise KeyRejected("OPENAI_API_KEY holds signs that no key has.", hint="Set it again, without quotes or spaces.")
    return key or "none-needed"
