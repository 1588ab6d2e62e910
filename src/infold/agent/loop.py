"""The agent: a model that calls tools until it can answer, within its steps, its money and its context.

What it may do beside reading belongs to `agent.permission`, what is kept to `agent.session`, what the context holds to
`agent.accounting`. Everything that a tool gives reaches the model fenced and labelled: material, never an instruction.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from infold.agent.accounting import AgentMessage, ContextUse, Opening, context_use, fitted
from infold.agent.permission import Permission, to_remember
from infold.agent.session import AgentSession
from infold.agent.tools import Found, Tool, labelled
from infold.errors import CapReached, InfoldError, LibrarianFault
from infold.librarian.speaking import Spoken, ToolCall
from infold.text import token_count

FLUSH_STEPS: Final = 4
_ENOUGH: Final = "[System] That was your last call. Answer now from what you have, and say what is missing."
_STEPS_USED: Final = "Stopped after {steps} calls of the model (agent.max_steps); say “go on” to go on."
_SAID_NOTHING: Final = "The model said nothing. Ask again."

_log: Final = logging.getLogger(__name__)

Hear = Callable[["Step"], None]


class Speak(Protocol):
    """Whoever says the next turn: `ModelLibrarian.speak`."""

    def __call__(
        self, messages: Sequence[AgentMessage], tools: Sequence[Mapping[str, Any]], *, may_call: bool = True
    ) -> Awaitable[Spoken]:
        """The next turn."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`steps` calls of the model a turn; a context of so many tokens, compacted beyond that share of it."""

    steps: int
    context_tokens: int
    compact_at: float

    @property
    def full_tokens(self) -> int:
        """Where a context counts as full."""
        return int(self.context_tokens * self.compact_at)


@dataclass(frozen=True, slots=True)
class Step:
    """A call that was made, or why it was not."""

    tool: str
    arguments: Mapping[str, Any]
    problem: str = ""
    wrote: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What became of a message. `stopped` says why there is no full answer; '' where there is."""

    reply: str
    steps: tuple[Step, ...] = ()
    is_compacted: bool = False
    stopped: str = ""


@dataclass
class Agent:
    """One conversation.

    `look_up` gives what stands before it, anew after each compaction; `permission` is that of the person who speaks,
    `hear` is told of each call.
    """

    speak: Speak
    tools: Mapping[str, Tool]
    session: AgentSession
    look_up: Callable[[], Opening]
    limits: Limits
    permission: Permission
    hear: Hear = lambda _: None
    _steps: list[Step] = field(default_factory=list)
    _is_compacted: bool = False

    def __post_init__(self) -> None:
        self.opening = self.look_up()

    async def turn(self, message: str) -> Turn:
        """Answers what the person says. Raises LibrarianFault where the model gives no answer; what is done is kept."""
        self._steps, self._is_compacted = [], False
        await self._make_room(0, token_count(message))
        self.session.said("user", message)
        reply, stopped = "", ""
        try:
            reply, stopped = await self._answered(message)
        except CapReached as reached:
            stopped = f"{reached} {reached.hint}".strip()
        self.session.said("assistant", reply or stopped)
        return Turn(reply, tuple(self._steps), self._is_compacted, stopped)

    async def compact(self, keeps: int = 0) -> str | None:
        """Gives the reminder where it is due, as a silent turn, then compacts; the reminder.

        Whoever has nothing to save writes nothing: the compaction goes on, as it does where the model cannot be asked.
        """
        reminder = self.session.reminder()
        if reminder is not None:
            try:
                await self._flush(reminder)
            except LibrarianFault as fault:
                _log.warning("Nothing was saved before the compaction: %s", fault)
        self.session.compact(keeps)
        self.opening = self.look_up()  # with what was just saved
        self._is_compacted = True
        return reminder

    def context(self) -> ContextUse:
        """What the context holds now."""
        return context_use(self.opening, self._listed(), self.session.messages(), self.limits.context_tokens)

    async def _answered(self, message: str) -> tuple[str, str]:
        """The reply, after as many calls as it takes; where there is none, why."""
        permission = replace(self.permission, words=message if to_remember(message) else "")
        since = 1  # messages of this turn, the person's first
        for step in range(self.limits.steps):
            await self._make_room(since)
            is_last = step == self.limits.steps - 1
            more: list[AgentMessage] = [{"role": "user", "content": _ENOUGH}] if is_last and step else []
            said = await self.speak([*self._messages(), *more], self._listed(), may_call=not is_last)
            if is_last or not said.calls:
                why = _STEPS_USED.format(steps=self.limits.steps) if said.calls else _SAID_NOTHING
                return said.text, "" if said.text else why
            self.session.add(said.message)
            for call in said.calls:
                self.session.add(await self._result(call, permission))
            since += 1 + len(said.calls)
        raise AssertionError("the last step returns")

    async def _result(self, call: ToolCall, permission: Permission) -> AgentMessage:
        """Makes a call, and gives what the model is told of it."""
        text = await self._made(call, permission)
        return {"role": "tool", "tool_call_id": call.id, "content": text}

    async def _made(self, call: ToolCall, permission: Permission) -> str:
        tool, arguments = self.tools.get(call.name), call.parsed()
        if tool is None:
            return self._not_made(call.name, {}, f"There is no tool {call.name!r}. There are {', '.join(self.tools)}.")
        if arguments is None:
            return self._not_made(call.name, {}, "The arguments are no JSON object.")
        refusal = permission.refusal(tool, arguments)
        if refusal:
            return self._not_made(call.name, arguments, refusal)
        try:
            found = await asyncio.to_thread(tool.call, arguments)
        except CapReached:
            raise
        except InfoldError as error:
            told = f"{error} {error.hint}".strip()
            self._note(Step(call.name, arguments, told))
            return labelled(call.name, Found(f"Error: {told}"))
        self._note(Step(call.name, arguments, wrote=found.wrote))
        return labelled(call.name, found)

    def _not_made(self, name: str, arguments: Mapping[str, Any], why: str) -> str:
        self._note(Step(name, arguments, why))
        return why

    def _note(self, step: Step) -> None:
        self._steps.append(step)
        self.hear(step)

    async def _make_room(self, since: int, more_tokens: int = 0) -> None:
        """Compacts where the context is full; the last `since` messages stay. Nothing to cut is not cut."""
        if self.context().total + more_tokens > self.limits.full_tokens and len(self.session.messages()) > since:
            await self.compact(since)

    async def _flush(self, reminder: str) -> None:
        """The silent turn: the model may save what the person said, or what they allowed; no part of it is said."""
        theirs = " ".join(str(each["content"]) for each in self.session.messages() if each["role"] == "user")
        permission = replace(self.permission, confirm=None, words=theirs)
        asked = {"role": "system", "content": f"[System] {reminder}"}
        self.session.add(asked, is_injected=True)
        said: list[AgentMessage] = [{**asked, "role": "user"}]  # many endpoints take one system message, the first
        for _ in range(FLUSH_STEPS):
            turn = await self.speak([*self._messages(), *said], self._listed())
            said += [turn.message, *[await self._result(call, permission) for call in turn.calls]]
            for message in said[-1 - len(turn.calls) :]:
                self.session.add(message, is_injected=True)
            if not turn.calls:
                return

    def _messages(self) -> list[AgentMessage]:
        """What is sent: the opening and the conversation, results left out where it would not fit."""
        room = self.limits.context_tokens - self.context().total + self.session.tokens()
        return [self.opening.message(), *fitted(self.session.messages(), room)]

    def _listed(self) -> list[dict[str, Any]]:
        return [tool.listed() for tool in self.tools.values()]
