"""A question to a model, its answer and the corrections between them, through instructor.

The only module that imports `instructor`. Wording belongs to `librarian.wording`; calls, caps and kept answers to
`librarian.endpoint`; the rules of an answer to `librarian.answers`.

Two things are done differently from what instructor offers, each for a promise:
- The request reaches the validators by a context variable, not by instructor's `context`, which would render every
  message as a Jinja template (and dedent it): note text with `{{ }}` must arrive byte for byte.
- `md_json` puts the schema at the end of the question and not into the system prompt, so that every request is an exact
  extension of the one before and prompt caches hold.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, TypeVar, cast

from pydantic import ValidationError

from infold.errors import AnswerInvalid, AnswerUnreadable, InfoldError
from infold.librarian import wording
from infold.librarian.answers import Answer
from infold.librarian.endpoint import Endpoint, as_completion
from infold.librarian.speaking import THOUGHTS, Spoken, content_text, tool_calls
from infold.librarian.spend import Usage
from infold.librarian.wording import ChatMessage

A = TypeVar("A", bound=Answer)

_MAX_OBJECTS: Final = 64  # tries at finding one in prose
_MAX_PROBLEMS: Final = 12
_MAX_REASON: Final = 200
_REQUEST: Final[ContextVar[object]] = ContextVar("request")  # of the question that the running task asks
_BROKEN: Final[ContextVar[list[str]]] = ContextVar("broken")  # what was wrong with its answers, in their order
_UNREADABLE: Final[ContextVar[list[int]]] = ContextVar("unreadable")  # how many of them were no JSON of that form
_FORM_FAULTS: Final = ("json_invalid", "missing", "model_type", "model_attributes_type")


class Exchange:
    """A question, its answer and the corrections between them, through instructor.

    Remembers what was said and which completions it took, over all questions of one conversation.
    """

    def __init__(self, endpoint: Endpoint, purpose: str, mode: str, max_corrections: int) -> None:
        self._endpoint = endpoint
        self._purpose = purpose
        self._mode = mode
        self._max_corrections = max_corrections
        self._keys: list[str] = []
        self._fault: InfoldError | None = None
        self._asked: list[ChatMessage] = []
        self._reply: ChatMessage = {}
        self.usage = Usage()
        self.said: list[ChatMessage] = []

    async def ask(self, messages: list[ChatMessage], answer: type[A], request: object) -> A:
        """The answer to the last of `messages`, valid for `request`. `said` then holds all, corrections too.

        Raises EndpointDown where this was not the only question without an answer of use.
        """
        return await self._endpoint.outage.question(lambda: self._ask(messages, answer, request))

    async def _ask(self, messages: list[ChatMessage], answer: type[A], request: object) -> A:
        import instructor
        from instructor.core import InstructorRetryException

        _silence_instructor()
        if self._mode == "md_json":
            form = wording.answer_form(answer.__name__, answer.model_json_schema())
            messages = [*messages[:-1], {**messages[-1], "content": f"{messages[-1]['content']}\n\n{form}"}]
        mode = instructor.Mode.TOOLS if self._mode == "tools" else instructor.Mode.JSON_SCHEMA
        create = cast("Callable[..., Awaitable[A]]", instructor.patch(create=self._create, mode=mode))
        self._fault = None
        given: A | None = None
        broken: list[str] = []
        _REQUEST.set(request)
        _BROKEN.set(broken)
        _UNREADABLE.set([0])
        with suppress(InstructorRetryException):  # its text quotes completions; what to say instead is known here
            given = await create(
                response_model=_form(answer),
                messages=wording.to_send(messages),
                max_retries=self._max_corrections,
                strict=False,
            )
        if self._fault is not None:
            raise self._fault.with_traceback(None)
        if given is None and _UNREADABLE.get()[0] > self._max_corrections:
            raise AnswerUnreadable(
                f"No answer of {self._endpoint.model} could be read as the JSON that was asked for"
                f" ({self._purpose}, {1 + self._max_corrections} tries).",
                hint=f"Set librarian.mode to {_other_modes(self._mode)}, or librarian.model to one that gives JSON.",
            )
        if given is None:
            raise AnswerInvalid(
                f"The answer still broke the rules after {self._max_corrections} corrections"
                f" ({self._purpose}, {answer.__name__}){_rule(broken)}.",
                hint="A larger model or another librarian.mode may do better; the next run asks afresh.",
            )
        # What instructor added on the way is left out of the first messages again: `shown` is kept beside them.
        self.said = [*messages, *self._asked[len(messages) :], *_reply_messages(self._reply)]
        return answer.model_validate(given.model_dump())

    def forget(self) -> None:
        """Drops the kept completions of this conversation, so that the next run asks afresh."""
        for key in self._keys:
            self._endpoint.forget(key)
        self._keys.clear()

    async def _create(self, **body: Any) -> Any:
        """What instructor calls in place of the openai client."""
        if self._mode == "md_json":
            body.pop("response_format", None)
        # instructor makes an empty list of an empty content; the same message must stay the same in every request.
        self._asked = [{**message, "content": message.get("content") or ""} for message in body["messages"]]
        body["messages"] = self._asked
        try:
            completion = await self._endpoint.complete(self._purpose, body)
            self._keys.append(completion.key)
            self.usage += completion.usage
            self._reply = _reply(completion.message)
        except InfoldError as error:
            self._fault = error
            raise
        return as_completion(self._reply)


@cache
def _form(answer: type[A]) -> type[A]:
    """`answer` for instructor: the same name and schema, valid only for the request of the running question.

    Made once for each answer: instructor would otherwise build a class and a schema of its own with every question.
    """
    from instructor import OpenAISchema

    schema = answer.model_json_schema()

    def model_validate_json(_: type[A], /, json_data: str | bytes, **_options: Any) -> A:
        return _validated(answer, json_data)

    def model_json_schema(_: type[A], /, **_options: Any) -> dict[str, Any]:
        return dict(schema)

    members = {
        "__module__": answer.__module__,
        "__doc__": answer.__doc__,
        "model_validate_json": classmethod(model_validate_json),
        "model_json_schema": classmethod(model_json_schema),
    }
    metaclass: Any = type(answer)
    return cast("type[A]", metaclass(answer.__name__, (answer, OpenAISchema), members))


def _validated(answer: type[A], json_data: str | bytes) -> A:
    """The answer, valid for the request of the running question; what is wrong is said in few words."""
    from instructor.core import ResponseParsingError

    try:
        return answer.model_validate_json(json_data, context={"request": _REQUEST.get()})
    except ValidationError as error:
        problems = _problems(error)
        if all(problem["type"] in _FORM_FAULTS for problem in error.errors(include_input=False, include_context=False)):
            _UNREADABLE.get()[0] += 1
    _BROKEN.get().append(problems)
    raise ResponseParsingError(problems)


def _other_modes(mode: str) -> str:
    return " or ".join(other for other in ("tools", "md_json", "json_schema") if other != mode)


def _rule(broken: Sequence[str]) -> str:
    """The first rule that the last answer broke, as the end of a sentence; what was quoted beside it is left away."""
    if not broken:
        return ""
    first = broken[-1].split("\n", 1)[0].removeprefix("- ")
    rule = re.split(r"(?<=[^.])\. |; ", first, maxsplit=1)[0].rstrip(".")
    return ": " + (rule if len(rule) <= _MAX_REASON else rule[: _MAX_REASON - 1] + "…")


def _problems(error: ValidationError) -> str:
    """What a model should read: place and message of each problem, without the input and pydantic's addresses."""
    lines = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False)[:_MAX_PROBLEMS]:
        place = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        lines.append(f"- {place}: {message}" if place else f"- {message}")
    return "\n".join(lines)


def _reply(message: ChatMessage) -> ChatMessage:
    """What the model said, as it goes into the conversation: without thoughts, prose and the endpoint's extras."""
    said = Spoken(content_text(message), tool_calls(message))
    return said.message if said.calls else {"role": "assistant", "content": _json_in(said.text)}


def _reply_messages(reply: ChatMessage) -> list[ChatMessage]:
    """The accepted answer; a called function must be answered before the conversation can go on."""
    results = ["accepted", *["not taken: one call at a time"] * len(reply.get("tool_calls", ()))]
    return [
        reply,
        *(
            {"role": "tool", "tool_call_id": call["id"], "content": result}
            for call, result in zip(reply.get("tool_calls", ()), results, strict=False)
        ),
    ]


def _json_in(content: str) -> str:
    """The last JSON object in `content`, where there is thinking, prose or a code fence around it; else `content`."""
    text = content.strip()
    if text.startswith("{") and text.endswith("}"):
        return text
    text = THOUGHTS.sub("", text)
    decoder = json.JSONDecoder()
    found, position = content, text.find("{")
    for _ in range(_MAX_OBJECTS):
        if position < 0:
            break
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            found = text[position:end] if isinstance(value, dict) else found
        position = text.find("{", end)
    return found


def _silence_instructor() -> None:
    """Its log lines quote completions, and with them notes. What matters of a failure is in the error raised."""
    logging.getLogger("instructor").setLevel(logging.CRITICAL + 1)
