"""The table of operations as the agent's tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from infold.agent.tools import Found, Tool
from infold.operations.arguments import read_arguments
from infold.operations.audit import asked_by
from infold.operations.contract import Effect, Face
from infold.operations.schemas import arguments_schema, without_nulls
from infold.operations.tool_choice import ToolChoice
from infold.vault.front_matter import TRUST_OF_OTHERS

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.operations.table import Operation

_PLACES: Final = ("path", "page")  # of an answer that wrote: where


def agent_tools(vault: OpenVault, choice: ToolChoice) -> dict[str, Tool]:
    """The chosen operations, by name. Raises UsageError for a set there is not."""
    return {name: _tool(vault, name, each) for name, each in choice.offered(Face.AGENT).items()}


def _tool(vault: OpenVault, name: str, operation: Operation[Any, Any]) -> Tool:
    def call(arguments: Mapping[str, Any]) -> Found:
        request = read_arguments(operation, arguments)
        with asked_by(Face.AGENT):
            answer = without_nulls(operation(vault, request).as_json())
        is_writing = not operation.only_reads and not getattr(request, "dry_run", False)
        wrote = tuple(_written(answer)) if is_writing else ()
        return Found(json.dumps(answer, ensure_ascii=False), _has_outside(answer), wrote)

    effect = Effect.READS if operation.only_reads else operation.effect
    return Tool(name, operation.description, arguments_schema(operation.request), effect.value, call)


def _written(answer: Mapping[str, Any]) -> list[str]:
    return [value for key in _PLACES if isinstance(value := answer.get(key), str)]


def _has_outside(value: object) -> bool:
    """Whether any part of an answer says that its text is from outside."""
    if isinstance(value, Mapping):
        return value.get("trust") == TRUST_OF_OTHERS or any(map(_has_outside, value.values()))
    return isinstance(value, list) and any(map(_has_outside, value))
