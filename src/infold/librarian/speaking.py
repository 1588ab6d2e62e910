"""What a model says in a conversation with tools: words, or calls. Making them belongs to whoever has the tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from infold.librarian.spend import Usage

THOUGHTS: Final = re.compile(r"^.*?</think(?:ing)?>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for; `arguments` as it wrote them: JSON, or something near."""

    id: str
    name: str
    arguments: str

    def parsed(self) -> Mapping[str, Any] | None:
        """The arguments; None where they are no JSON object."""
        try:
            found = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True)
class Spoken:
    """One turn of a model: its words without its thoughts, the calls it asks for, and what the turn cost."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)

    @property
    def message(self) -> dict[str, Any]:
        """As it goes on in the conversation."""
        said: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.calls:
            said["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        return said


def spoken(message: Mapping[str, Any], usage: Usage) -> Spoken:
    """What a message of an endpoint says."""
    text = THOUGHTS.sub("", content_text(message)).strip()
    return Spoken(text, tool_calls(message), usage)


def content_text(message: Mapping[str, Any]) -> str:
    """The words of a message, which some endpoints send in parts."""
    content = message.get("content") or ""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content)


def tool_calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a message, each with an id."""
    found = message.get("tool_calls") or ()
    return tuple(_call(n, call) for n, call in enumerate(found) if isinstance(call, dict))


def _call(n: int, call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function") or {}
    arguments = function.get("arguments") or ""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)  # some local servers send the object itself
    return ToolCall(str(call.get("id") or f"call_{n}"), str(function.get("name") or "answer"), arguments)
