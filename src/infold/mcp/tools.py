"""Tools, made from the table of operations: names, schemas, hints, and arguments read with help for slips.

What a tool does belongs to `infold.operations`; how it is served to `infold.mcp.server`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from infold.errors import UsageError
from infold.mcp.schemas import answer_schema, arguments_schema
from infold.operations.contract import Effect, Face, Group, Message
from infold.operations.table import Operation, operations

if TYPE_CHECKING:
    import mcp_types as types

TOOL_SETS: Final = (*(str(group) for group in Group), "all")
# What specifications call an operation beside its own name: understood when it is called, and not listed twice.
_OTHER_NAMES: Final[Mapping[str, str]] = {"knowledge_rename": "note_rename", "knowledge_delete": "note_delete"}
_PROMPTED: Final = 5  # problems named at once


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which tools are offered: of these groups, only readers where asked for, with a prefix before each name."""

    groups: tuple[str, ...] = ("all",)
    prefix: str = ""
    is_read_only: bool = False

    def offered(self) -> dict[str, Operation[Any, Any]]:
        """The operations by the name of their tool. Raises UsageError for a set there is not."""
        wanted = {name.strip() for name in self.groups}
        for name in sorted(wanted - set(TOOL_SETS)):
            near = get_close_matches(name, TOOL_SETS, 1)
            raise UsageError(
                f"There is no set of tools {name!r}.", hint=f"The sets are {', '.join(near or TOOL_SETS)}."
            )
        return {
            f"{self.prefix}{name}": operation
            for name, operation in operations(Face.MCP).items()
            if ("all" in wanted or operation.group in wanted)
            and not (self.is_read_only and operation.effect is not Effect.READS)
        }


def called(name: str, offered: Mapping[str, Operation[Any, Any]]) -> Operation[Any, Any] | None:
    """The operation that a call names, also by its other name; None where none is offered under it."""
    other = (
        operation
        for own, operation in offered.items()
        if operation.name in _OTHER_NAMES and name == own.removesuffix(operation.name) + _OTHER_NAMES[operation.name]
    )
    return offered.get(name) or next(other, None)


def tool(name: str, operation: Operation[Any, Any]) -> types.Tool:
    """An operation as a client sees it."""
    import mcp_types as types

    return types.Tool(
        name=name,
        title=operation.summary.rstrip("."),
        description=operation.description,
        input_schema=arguments_schema(operation.request),
        output_schema=answer_schema(operation.answer),
        annotations=types.ToolAnnotations(
            title=operation.summary.rstrip("."),
            read_only_hint=operation.effect is Effect.READS,
            destructive_hint=operation.effect is Effect.DESTROYS,
            idempotent_hint=operation.is_idempotent,
            open_world_hint=operation.effect is Effect.SPENDS,
        ),
    )


def read_arguments(operation: Operation[Any, Any], given: Mapping[str, Any] | None) -> Message:
    """The request that the arguments of a call say. Null is as if it were not given.

    Raises UsageError that names each argument that is wrong, and the right name where one comes near.
    """
    kind = operation.request
    known = {to_camel(name): name for name in kind.model_fields}
    values = {name: value for name, value in (given or {}).items() if value is not None}
    unknown = [name for name in values if name not in known and name not in kind.model_fields]
    if unknown:
        raise UsageError(
            " ".join(_no_such(name, known) for name in unknown[:_PROMPTED]),
            hint=f"The arguments of {operation.name} are: {', '.join(known) or 'none'}.",
        )
    try:
        request: Message = kind.model_validate(values)
    except ValidationError as error:
        raise UsageError(" ".join(_problems(error)), hint=_wanted(operation)) from error
    return request


def _no_such(name: str, known: Iterable[str]) -> str:
    folded = {_folded(each): each for each in known}
    near = folded.get(_folded(name)) or next(iter(get_close_matches(_folded(name), folded, 1, 0.6)), None)
    near = folded.get(near or "", near)
    return f"There is no argument {name!r}." + (f" Did you mean {near!r}?" if near else "")


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def _problems(error: ValidationError) -> Iterable[str]:
    for problem in error.errors(include_url=False, include_input=False)[:_PROMPTED]:
        where = ".".join(to_camel(part) if isinstance(part, str) else str(part) for part in problem["loc"])
        said = problem["msg"].removeprefix("Value error, ")
        yield f"{where}: {said}." if where else f"{said}."


def _wanted(operation: Operation[Any, Any]) -> str:
    required = [to_camel(name) for name, field in operation.request.model_fields.items() if field.is_required()]
    return f"{operation.name} needs {', '.join(required)}." if required else "Every argument may be left out."
