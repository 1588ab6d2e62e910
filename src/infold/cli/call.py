"""`infold call`: any operation by its name, made from the table: what there is, what it takes, and its answer as JSON.

An operation is here as soon as it is in the table. A command of its own, with words for people, is written where it is
worth one; the arguments, the near misses and the answer are those of the other faces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Annotated, Any, Final

import typer
from pydantic.alias_generators import to_camel

from infold.cli.forecast import in_words
from infold.cli.options import Call, command
from infold.cli.progress import Stages
from infold.cli.terminal import ASIDE
from infold.cli.text_input import text_input
from infold.errors import UsageError
from infold.operations.arguments import read_arguments
from infold.operations.audit import asked_by
from infold.operations.contract import Effect, Face, Group
from infold.operations.schemas import arguments_schema
from infold.operations.spending import Quote
from infold.operations.table import Operation, operations
from infold.operations.tool_choice import called

_LIMITS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
    "pattern": "like {}",
}


@command
def call(
    call: Call,
    name: Annotated[
        str | None, typer.Argument(metavar="[OPERATION]", help="Its name; without one, all are listed.")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]...", help="Its arguments; a list is repeated, or JSON."),
    ] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE|-", help="Read arguments from a JSON object in a file, or on stdin."),
    ] = None,
    arguments: Annotated[
        bool, typer.Option("--arguments", metavar="", help="Show what the operation takes instead of calling it.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do what cannot be taken back.")] = False,
) -> int:
    """Call any operation by its name, with its answer as JSON; alone it lists them.

    They are the same that agents have as tools, and programs under /api. Where a model would cost money, the answer
    is an estimate with a token; the same call with token=TOKEN goes on.
    """
    if name is None:
        return _list(call)
    operation = _operation(name)
    if arguments:
        return _describe(call, operation)
    request = read_arguments(operation, {**_from_json(file), **_from_words(operation, given or [])})
    if operation.effect is Effect.DESTROYS and not yes:
        raise UsageError(f"What {operation.name} does cannot be taken back.", hint="Add --yes to do it.")
    with Stages(call.terminal) as stages, call.vault(stages) as vault, asked_by(Face.CLI):
        answer = operation(vault, request)
    call.terminal.emit(answer.as_json())
    quote = getattr(answer, "quote", None)
    if isinstance(quote, Quote):
        call.terminal.notice(f"{quote.model}: {in_words(quote)}. The same call with token={quote.token} agrees to it.")
    return 0


def _operation(name: str) -> Operation[Any, Any]:
    elsewhere = operations().get(name)
    if elsewhere is not None and Face.CLI not in elsewhere.faces:
        raise UsageError(f"{name} is not for the command line: {elsewhere.not_in[Face.CLI]}.")
    return called(name, operations(Face.CLI), kind="operation")


def _from_json(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    text = text_input("-", None) if str(file) == "-" else text_input(None, file)
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UsageError(f"What --input names is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise UsageError("What --input names is not a JSON object.", hint='Write {"name": value, …}.')
    return found


def _from_words(operation: Operation[Any, Any], words: list[str]) -> dict[str, Any]:
    """The arguments that words say, read as what the operation takes: text as it is, all else as JSON."""
    schemas: Mapping[str, Any] = arguments_schema(operation.request)["properties"]
    found: dict[str, Any] = {}
    for word in words:
        name, is_set, text = word.partition("=")
        if not is_set:
            raise UsageError(f"{word!r} is not an argument.", hint="Write NAME=VALUE, with quotes around the whole.")
        kind = schemas.get(name, schemas.get(to_camel(name), {})).get("type", "string")
        if kind == "array" and not text.startswith("["):
            found[name] = [*found.get(name, ()), text]
        else:
            found[name] = text if kind == "string" else _value(text)
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text  # reading the arguments says what is wrong with it


def _list(call: Call) -> int:
    found = operations(Face.CLI).values()
    if call.terminal.is_json:
        call.terminal.emit(
            {
                "operations": [
                    {"name": each.name, "group": each.group, "effect": each.effect, "summary": each.summary}
                    for each in found
                ]
            }
        )
    for group in Group:
        members = [each for each in found if each.group is group]
        call.terminal.say(*([f"{group}"] if members else []), style="bold")
        for each in members:
            call.terminal.say(f"  {each.name:<26}{each.effect:<10}{each.summary}")
    call.terminal.notice("`infold call OPERATION --arguments` shows what one takes.", style=ASIDE)
    return 0


def _describe(call: Call, operation: Operation[Any, Any]) -> int:
    schema = arguments_schema(operation.request)
    if call.terminal.is_json:
        call.terminal.emit({"name": operation.name, "description": operation.description, "arguments": schema})
        return 0
    call.terminal.say(f"{operation.name} ({operation.group}, {operation.effect})", style="bold")
    call.terminal.say(f"{operation.description}\n")
    for name, each in schema["properties"].items():
        kind = [*_kind(each), *(["needed"] if name in schema.get("required", ()) else [])]
        call.terminal.say(f"  {name}: {', '.join(kind)}")
        call.terminal.say(indent(each["description"], " " * 6))
    return 0


def _kind(schema: Mapping[str, Any]) -> Iterator[str]:
    """What a value may be, in words: its type, its limits, its default."""
    within = schema.get("items", {})
    yield f"{schema['type']} of {within.get('type', 'any')}" if within else schema["type"]
    if values := schema.get("enum") or within.get("enum"):
        yield f"one of {' '.join(map(str, values))}"
    yield from (said.format(schema[limit]) for limit, said in _LIMITS.items() if limit in schema)
    if "default" in schema:
        yield f"default {json.dumps(schema['default'], ensure_ascii=False)}"
