"""A tool of the agent: what the model is told of it, what it may do, and its answer as it reaches the model.

Which tools there are belongs to whoever starts the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from infold.text import fenced, token_count

Kind = Literal["reads", "writes", "destroys", "spends"]
MOST_RESULT_TOKENS: Final = 4_000
_CUT: Final = "[… {tokens} tokens more are left out: ask for less, or for a part.]"


@dataclass(frozen=True, slots=True)
class Found:
    """What a call gave: text, whether some of it is from outside the vault, and the notes it wrote."""

    text: str
    is_from_outside: bool = False
    wrote: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """`call` raises UsageError and what else the work raises, for arguments that are wrong or cannot be followed."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    kind: Kind
    call: Callable[[Mapping[str, Any]], Found]

    def listed(self) -> dict[str, Any]:
        """As an endpoint takes it."""
        told = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": told}


def labelled(tool: str, found: Found) -> str:
    """A result as the model sees it: cut where it is long, fenced, with where it is from."""
    text = found.text
    most = MOST_RESULT_TOKENS * 4
    if len(text) > most:
        text = f"{text[:most]}\n{_CUT.format(tokens=token_count(text[most:]))}"
    return fenced(text, label="result with text from outside" if found.is_from_outside else "result", origin=tool)
