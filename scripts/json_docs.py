"""docs/json.md from the table of operations: `python -m scripts.json_docs`.

A test holds that the file is what this prints, so that no change of what programs read passes unseen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from infold.cli.commands import COMMANDS, CommandGroup
from infold.operations.table import Operation, operations

FILE = Path(__file__).resolve().parents[1] / "docs" / "json.md"

HEAD = """\
# Operations and their JSON

Made from the table of operations by `python -m scripts.json_docs`; a test holds that the two agree.

An operation is asked for with one JSON object and answers with one. Every face gives the same answer: `--json` on the
command line, a tool of `infold mcp`, a path of `infold serve`, a call from Python ([python.md](python.md)). Names are
camelCase; a request with a name that is not here is refused. What is marked *optional* has the default that is shown.

An error is one object too: `{"error": {"type", "message", "hint"}}`, on the command line with `exitCode`.
"""


def render() -> str:
    """The whole page."""
    commands = dict(_commands())
    known = operations()
    pages = [HEAD, _overview(known, commands)]
    shapes: dict[str, dict[str, Any]] = {}
    pages += [_page(operation, commands.get(operation.name, ""), shapes) for operation in known.values()]
    pages.append("## Shapes\n\nWhat the fields above hold, each once.\n")
    pages += [_shape(name, shapes[name]) for name in sorted(shapes)]
    return "\n".join(pages)


def _commands() -> Iterator[tuple[str, str]]:
    """The command line of each operation that has one."""
    for entry in COMMANDS:
        parts = entry.entries if isinstance(entry, CommandGroup) else (entry,)
        group = f"{entry.name} " if isinstance(entry, CommandGroup) else ""
        yield from ((part.operation, f"infold {group}{part.name}") for part in parts if part.operation)


def _overview(known: Mapping[str, Operation[Any, Any]], commands: Mapping[str, str]) -> str:
    lines = ["| operation | group | effect | command | not offered by |", "|---|---|---|---|---|"]
    for each in known.values():
        lacking = ", ".join(sorted(each.not_in)) or ""
        lines.append(
            f"| [{each.name}](#{each.name}) | {each.group} | {each.effect} | {_code(commands.get(each.name, ''))} "
            f"| {lacking} |"
        )
    return "\n".join(lines) + "\n"


def _page(operation: Operation[Any, Any], command: str, shapes: dict[str, dict[str, Any]]) -> str:
    request = operation.request.model_json_schema()
    answer = operation.answer.model_json_schema(mode="serialization")
    for schema in (request, answer):
        shapes |= schema.get("$defs", {})
    facts = [f"Effect: {operation.effect}."]
    facts += ["Takes long."] if operation.takes_long else []
    facts += ["Asked twice it does no more than once."] if operation.is_idempotent else []
    facts += [f"On the command line: `{command}`."] if command else []
    facts += [f"Not in {face}: {reason}." for face, reason in sorted(operation.not_in.items())]
    parts = [f"## {operation.name}", operation.description, " ".join(facts)]
    parts += ["Request:", _fields(request)] if request.get("properties") else ["Request: an empty object."]
    parts += ["Answer:", _fields(answer)]
    if operation.errors:
        parts.append(f"Errors of its own: {', '.join(error.__name__ for error in operation.errors)}.")
    return "\n\n".join(parts) + "\n"


def _shape(name: str, schema: Mapping[str, Any]) -> str:
    text = " ".join(str(schema.get("description", "")).split())
    if "enum" in schema:
        return f"### {name}\n\n{text}\n\nOne of {', '.join(_code(json.dumps(each)) for each in schema['enum'])}.\n"
    return f"### {name}\n\n{text}\n\n{_fields(schema)}\n"


def _fields(schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", ()))
    lines = ["| name | type | |", "|---|---|---|"]
    for name, field in schema.get("properties", {}).items():
        text = " ".join(str(field.get("description", "")).split())
        default = "" if name in required else f"*optional*, {_code(json.dumps(field.get('default')))}. "
        lines.append(f"| `{name}` | {_type(field)} | {(default + text).strip()} |".replace("|  |", "| |"))
    return "\n".join(lines)


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in field:
            return " or ".join(_type(each) for each in field[several])
    if "enum" in field or "const" in field:
        return " or ".join(_code(json.dumps(each)) for each in field.get("enum", [field.get("const")]))
    kind = field.get("type", "any")
    if kind == "array":
        if "prefixItems" in field:
            return f"[{', '.join(_type(each) for each in field['prefixItems'])}]"
        return f"list of {_type(field.get('items', {}))}"
    if kind == "object":
        values = field.get("additionalProperties")
        return f"object of {_type(values)}" if isinstance(values, dict) and values else "object"
    return {"integer": "integer", "number": "number", "boolean": "true or false"}.get(str(kind), str(kind))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
