"""The arguments of a call, as an agent gives them, read as a request: a slip is answered with what is right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from infold.errors import UsageError
from infold.operations.contract import Message
from infold.operations.table import Operation

_PROMPTED: Final = 5  # problems named at once


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
