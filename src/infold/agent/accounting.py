"""What the context of a conversation holds, part by part, and what is left out of it where it is full."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from infold.text import token_count

LEFT_OUT: Final = "[This result is left out to make room. Ask again if you need it.]"

Json = Mapping[str, Any]
AgentMessage = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ContextUse:
    """Tokens of each part: what is always there, what was said, what tools gave; and what the whole may be."""

    instructions: int
    notebook: int
    """The reference notes and the latest logs."""
    tools: int
    said: int
    results: int
    limit: int

    @property
    def total(self) -> int:
        """All parts together."""
        return self.instructions + self.notebook + self.tools + self.said + self.results


@dataclass(frozen=True, slots=True)
class Opening:
    """What stands before every conversation: the instructions, and the notes that are always loaded."""

    instructions: str
    notebook: str

    def message(self) -> AgentMessage:
        """Both as the first message: the same bytes every time, so that a prompt cache holds."""
        return {"role": "system", "content": "\n\n".join(filter(None, (self.instructions, self.notebook)))}


def context_use(opening: Opening, tools: Sequence[Json], messages: Sequence[Json], limit: int) -> ContextUse:
    """What a context with these parts holds."""
    results = sum(message_tokens(each) for each in messages if each["role"] == "tool")
    return ContextUse(
        instructions=token_count(opening.instructions),
        notebook=token_count(opening.notebook),
        tools=sum(token_count(json.dumps(tool, ensure_ascii=False)) for tool in tools),
        said=sum(map(message_tokens, messages)) - results,
        results=results,
        limit=limit,
    )


def message_tokens(message: Json) -> int:
    """What a message takes: its text, and the calls in it."""
    calls = message.get("tool_calls")
    return token_count(str(message.get("content") or "")) + (
        token_count(json.dumps(calls, ensure_ascii=False)) if calls else 0
    )


def fitted(messages: Sequence[AgentMessage], room_tokens: int) -> list[AgentMessage]:
    """The messages with the oldest results left out until they fit; what came since the last call stays."""
    kept = list(messages)
    latest = max((n for n, message in enumerate(kept) if message.get("tool_calls")), default=len(kept))
    over = sum(map(message_tokens, kept)) - room_tokens
    for n, message in enumerate(kept[:latest]):
        if over <= 0:
            break
        if message.get("role") == "tool" and message_tokens(message) > token_count(LEFT_OUT):
            over -= message_tokens(message) - token_count(LEFT_OUT)
            kept[n] = {**message, "content": LEFT_OUT}
    return kept
