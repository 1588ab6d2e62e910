"""An operation as a tool of the protocol: its name, schemas and hints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types

from infold.operations.contract import Effect
from infold.operations.schemas import answer_schema, arguments_schema

if TYPE_CHECKING:
    from infold.operations.table import Operation


def tool(name: str, operation: Operation[Any, Any]) -> types.Tool:
    """An operation as a client sees it."""
    return types.Tool(
        name=name,
        title=operation.summary.rstrip("."),
        description=operation.description,
        input_schema=arguments_schema(operation.request),
        output_schema=answer_schema(operation.answer),
        annotations=types.ToolAnnotations(
            title=operation.summary.rstrip("."),
            read_only_hint=operation.only_reads,
            destructive_hint=operation.effect is Effect.DESTROYS,
            idempotent_hint=operation.is_idempotent,
            open_world_hint=operation.effect is Effect.SPENDS,
        ),
    )
