"""The vault's own agent: what it is told, what it says, and how its conversations are kept and compacted.

With a model it is `agent.loop` with the operations as tools. Offline it answers as `ask` does, in sentences of the
notes, and logs what a message asks to remember.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from pydantic import Field

from infold.agent.accounting import ContextUse, Opening, context_use
from infold.agent.loop import FLUSH_STEPS, Agent, Hear, Limits, Step, Turn
from infold.agent.permission import Confirm, Permission, to_remember
from infold.agent.session import AgentSession
from infold.agent.tools import Tool
from infold.app import OpenVault
from infold.errors import IndexFault, LibrarianFault, StateUnwritable, UsageError, VaultBusy
from infold.librarian.estimate import Estimate
from infold.librarian.spend import Usage
from infold.operations.agent_tools import agent_tools
from infold.operations.ask import AskRequest, answer_text, ask_
from infold.operations.contract import Effect, Face, Group, Message
from infold.operations.instructions import agent_instructions
from infold.operations.notebook import DailyLogRequest, daily_log
from infold.operations.spending import Quote, Spending, quote_first
from infold.operations.table import operation
from infold.operations.tool_choice import ToolChoice
from infold.own_loop import in_own_loop
from infold.text import token_count

if TYPE_CHECKING:
    from infold.librarian.model import ModelLibrarian

_MOST_ASKED: Final = 2000  # characters of a message that are asked about
_ANSWER_TOKENS: Final = (20, 500)  # of one turn of the model, from low to high


class ChatRequest(Spending):
    """What a person says to the agent."""

    message: str = Field(min_length=1, max_length=20_000)
    """A question, or what to do; or what to write down: "Remember that ..."."""
    session: str = Field(default="main", pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)
    """Which conversation it belongs to; one that is there goes on."""
    allow_writes: bool = False
    """It may write what can be taken back, without asking. What cannot, and what spends, it may not."""


class ContextParts(Message):
    """What is before the agent, in tokens."""

    instructions: int
    notebook: int
    """The context that is always loaded: reference notes and the latest logs."""
    tools: int
    said: int
    """Turns since the last compaction."""
    results: int
    """What tools gave in them."""
    limit: int


class ChatStep(Message):
    """A call that the agent made, or why it did not."""

    tool: str
    problem: str
    """Why it was not made, or what went wrong; empty where it went well."""


class ChatAnswer(Message):
    """What the agent says. With a `quote` nothing was said yet."""

    reply: str
    wrote: tuple[str, ...]
    """The notes it wrote to."""
    steps: tuple[ChatStep, ...] = ()
    stopped: str = ""
    """Why there is no whole answer, such as a cap; empty where there is."""
    transcript: str
    """Where the conversation is kept, as search shows it."""
    context_tokens: int
    """What is before the agent, all parts together."""
    context: ContextParts
    compacted: bool
    """The conversation was compacted, after the reminder to save what should last."""
    usage: Usage = Usage()
    quote: Quote | None = None


@operation(
    Group.MEMORY,
    Effect.SPENDS,
    takes_long=True,
    is_idempotent=False,
    errors=(LibrarianFault, IndexFault, UsageError, VaultBusy, StateUnwritable),
    not_in=dict.fromkeys((Face.MCP, Face.AGENT), "who calls is an agent itself, with the same tools"),
)
def chat(vault: OpenVault, request: ChatRequest) -> ChatAnswer:
    """Say something to the vault's own agent, and get its reply; the conversation is kept as a session.

    It searches, reads and navigates as it needs. It writes only what the message itself asks it to remember, unless
    `allowWrites` lets it: nothing that stands in a note makes it write.
    """
    return talk(vault, request)


def talk(
    vault: OpenVault, request: ChatRequest, confirm: Confirm | None = None, hear: Hear = lambda _: None
) -> ChatAnswer:
    """What `chat` gives; `confirm` asks the person about what else would be written, `hear` is told of each call."""
    session = AgentSession(vault.workspace, request.session)
    if vault.params.librarian.kind != "model":
        return _by_rules(vault, session, request)
    quote = quote_first(vault, "chat", request, lambda: _estimate(vault, session, request))
    if quote is not None:
        return _answer(session, _context(vault, session), Turn(""), quote=quote)
    return in_own_loop(_by_model(vault, session, request, Permission(request.allow_writes, confirm), hear))


def start_session(vault: OpenVault) -> None:
    """What a conversation begins with (spec 3, Sync Triggers): an index that is up to date, where settings say so."""
    if vault.params.agent.sync_on_start:
        vault.sync_index()


def context_of(vault: OpenVault, name: str) -> ContextParts:
    """What is before the agent in that session, part by part."""
    return ContextParts.of(_context(vault, AgentSession(vault.workspace, name)))


def compact(vault: OpenVault, name: str) -> str | None:
    """Compacts a session now, after the silent turn to save what should last; the reminder, where it was due."""
    session = AgentSession(vault.workspace, name)

    async def compacted() -> str | None:
        async with _agent(vault, session, ChatRequest(message="-", session=name), Permission()) as (agent, _):
            return await agent.compact()

    if vault.params.librarian.kind == "model":
        return in_own_loop(compacted())
    return _compact_by_rules(session)


def _by_rules(vault: OpenVault, session: AgentSession, request: ChatRequest) -> ChatAnswer:
    """Offline: sentences of the notes with their places, or what was asked to be remembered, in the log."""
    use = _context(vault, session)
    wanted_tokens = use.total + token_count(request.message)
    is_compacted = use.said > 0 and wanted_tokens > use.limit * vault.params.agent.compact_at
    if is_compacted:
        _compact_by_rules(session)
    session.said("user", request.message)
    wanted = to_remember(request.message)
    if wanted is not None:
        path = daily_log(vault, DailyLogRequest(entry=wanted)).path
        turn = Turn(f"I wrote that to {path}.", (Step("daily_log", {}, wrote=(path,)),), is_compacted)
    else:
        caller = f"chat-{request.session}"
        answer = ask_(vault, AskRequest(question=request.message[:_MOST_ASKED], caller=caller))
        turn = Turn(answer_text(answer), (Step("ask", {}),), is_compacted)
    session.said("assistant", turn.reply)
    return _answer(session, _context(vault, session), turn)


def _compact_by_rules(session: AgentSession) -> str | None:
    """The reminder is given and kept; who has no words of their own writes nothing."""
    reminder = session.reminder()
    if reminder is not None:
        session.add({"role": "system", "content": f"[System] {reminder}"}, is_injected=True)
    session.compact()
    return reminder


async def _by_model(
    vault: OpenVault, session: AgentSession, request: ChatRequest, permission: Permission, hear: Hear
) -> ChatAnswer:
    async with _agent(vault, session, request, permission, hear) as (agent, librarian):
        turn = await agent.turn(request.message)
        return _answer(session, agent.context(), turn, usage=librarian.spend.usage)


@asynccontextmanager
async def _agent(
    vault: OpenVault, session: AgentSession, request: ChatRequest, permission: Permission, hear: Hear = lambda _: None
) -> AsyncIterator[tuple[Agent, ModelLibrarian]]:
    """The agent of a session, with the librarian who speaks for it and counts what that costs."""
    space = vault.capped({"max_usd": request.max_usd, "max_tokens": request.max_tokens})
    librarian = vault.model_librarian(space.params.librarian)
    params = vault.params.agent
    limits = Limits(params.max_steps, params.context_tokens, params.compact_at)

    def opening() -> Opening:
        return Opening(agent_instructions(vault), vault.context().text)

    try:
        yield Agent(librarian.speak, _tools(vault), session, opening, limits, permission, hear), librarian
    finally:
        await librarian.close()


def _tools(vault: OpenVault) -> dict[str, Tool]:
    groups = tuple(name for name in vault.params.agent.tools.split(",") if name.strip())
    return agent_tools(vault, ToolChoice(groups))


def _context(vault: OpenVault, session: AgentSession) -> ContextUse:
    """What the context of a session holds, before anybody is asked. Who answers by rules is told nothing."""
    told, tools = "", []
    if vault.params.librarian.kind == "model":
        told, tools = agent_instructions(vault), [tool.listed() for tool in _tools(vault).values()]
    opening = Opening(told, vault.context().text)
    return context_use(opening, tools, session.messages(), vault.params.agent.context_tokens)


def _estimate(vault: OpenVault, session: AgentSession, request: ChatRequest) -> Estimate:
    """From an answer at once to all steps taken, the last with a full context, and a flush before."""
    price = vault.model_librarian().spend.price
    params, use = vault.params.agent, _context(vault, session)
    first = use.total + token_count(request.message)
    most = params.max_steps + FLUSH_STEPS
    prompt = first, most * max(first, params.context_tokens)
    completion = _ANSWER_TOKENS[0], most * _ANSWER_TOKENS[1]
    usd = (price(prompt[0], 0, completion[0]), price(prompt[1], 0, completion[1])) if price else None
    return Estimate(calls=(1, most), prompt_tokens=prompt, completion_tokens=completion, usd=usd)


def _answer(
    session: AgentSession, use: ContextUse, turn: Turn, usage: Usage | None = None, quote: Quote | None = None
) -> ChatAnswer:
    return ChatAnswer(
        reply=turn.reply,
        wrote=tuple(dict.fromkeys(path for step in turn.steps for path in step.wrote)),
        steps=tuple(ChatStep(tool=step.tool, problem=step.problem) for step in turn.steps),
        stopped=turn.stopped,
        transcript=session.path,
        context_tokens=use.total,
        context=ContextParts.of(use),
        compacted=turn.is_compacted,
        usage=usage or Usage(),
        quote=quote,
    )
