"""What the agent may do beside reading: only what the person said, or agreed to.

What a tool gave, a note above all, is never asked: nothing in it can widen what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from infold.agent.tools import Tool
from infold.text import folded_words

Confirm = Callable[[str, Mapping[str, Any]], bool]  # asks the person about a call: a tool's name and its arguments

_SAVE: Final = re.compile(
    r"(?:please\s+)?(?:remember|note(?: down)?|write down|log|don['’]t forget)\b(?:\s+that\b)?[\s:,]*(?P<said>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_KEEPS: Final[Mapping[str, str]] = {"daily_log": "entry", "notebook_write": "content"}  # what only adds, and its text


def to_remember(message: str) -> str | None:
    """What a person's message asks to be written down; None where it asks for nothing of the kind."""
    found = _SAVE.fullmatch(message.strip())
    return found["said"].strip() if found else None


@dataclass(frozen=True, slots=True)
class Permission:
    """What is allowed for one turn.

    `allows_writes`: the person said so beforehand, for what can be taken back. `confirm` asks them now; None where
    nobody can be asked. `words` are the person's own, which may be added to the log or to a page without asking; ''
    for none.
    """

    allows_writes: bool = False
    confirm: Confirm | None = None
    words: str = ""

    def refusal(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Why a call may not be made, in words for the model; '' where it may."""
        if tool.kind == "reads" or (tool.kind == "writes" and self.allows_writes):
            return ""
        if tool.kind == "writes" and self._is_in_their_words(tool.name, arguments):
            return ""
        if self.confirm is None:
            return (
                f"{tool.name} was not called: it {tool.kind}, and the person did not ask for it. Only their own words "
                "may be added to the log or a page, where they ask to remember them. Tell them what you would do."
            )
        return "" if self.confirm(tool.name, arguments) else f"The person did not agree to {tool.name}."

    def _is_in_their_words(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether nothing is written but what they said: each word of it."""
        text = arguments.get(_KEEPS.get(tool, ""))
        if not isinstance(text, str) or arguments.get("replace"):
            return False
        wanted = set(folded_words(text))
        return bool(wanted) and wanted <= set(folded_words(self.words))
