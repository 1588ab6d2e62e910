"""Schemas that the strictest clients take, for every tool there is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from infold.operations.contract import Face
from infold.operations.schemas import answer_schema, arguments_schema, without_nulls
from infold.operations.table import operations
from scripts.mcp_tools import FILE

REPOSITORY = Path(__file__).resolve().parents[2]
ALLOWED = frozenset(
    [
        "type",
        "properties",
        "required",
        "items",
        "description",
        "enum",
        "default",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "pattern",
        "format",
        "additionalProperties",
        "uniqueItems",
    ]
)
OPERATIONS = operations(Face.MCP)


def parts(schema: dict[str, Any]):
    """The schema and every schema within it."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from parts(inner)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from parts(schema[key])


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_schema_is_a_plain_object(name):
    """No references, unions or unknown keywords at any depth, in arguments and answers; no arguments but the known."""
    operation = OPERATIONS[name]
    for schema in (arguments_schema(operation.request), answer_schema(operation.answer)):
        assert schema["type"] == "object"
        for part in parts(schema):
            assert set(part) <= ALLOWED, part
            assert isinstance(part.get("type", ""), str)
            assert set(part.get("required", ())) <= set(part.get("properties", {}))
    assert arguments_schema(operation.request)["additionalProperties"] is False


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_argument_is_described(name):
    """An agent chooses by what it reads: each argument says what it is, each tool what it does."""
    operation = OPERATIONS[name]
    silent = [
        each for each, said in arguments_schema(operation.request)["properties"].items() if not said.get("description")
    ]
    assert silent == []
    assert len(operation.description) > 20


# The published rules for tools of common models and clients, the strictest of each together: OpenAI's structured outputs
# (depth, counts, closed objects), Anthropic's tool use (names, a plain object on top), Gemini's function declarations
# (its subset of OpenAPI: texts alone are listed, arrays say of what), clients that put their own name before a tool's.
STRICT = ALLOWED - {"exclusiveMinimum", "exclusiveMaximum", "uniqueItems"}
TYPES = ("object", "array", "string", "integer", "number", "boolean")
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
DEEPEST, MOST_PROPERTIES, MOST_VALUES, MOST_CHARACTERS, LONGEST_DESCRIPTION = 5, 100, 500, 15_000, 1024
LONGEST_WITH_SERVER = 60


def depth(schema: dict[str, Any]) -> int:
    """How many objects lie within each other."""
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return (schema["type"] == "object") + max(map(depth, inner), default=0)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_strictest_published_rules_hold(name):
    """Whatever client takes the list takes this tool: one that is refused makes some clients drop all of them."""
    schema = arguments_schema(OPERATIONS[name].request)
    assert NAME.fullmatch(name)
    assert len(f"infold:{name}") <= LONGEST_WITH_SERVER
    assert len(OPERATIONS[name].description) <= LONGEST_DESCRIPTION
    every = list(parts(schema))
    for part in every:
        assert set(part) <= STRICT
        assert part["type"] in TYPES, "no unions, and nothing without a type"
        if part["type"] == "object":
            assert part["additionalProperties"] is False, "nothing that is not named"
            assert part is schema or part["properties"]
        if part["type"] == "array":
            assert part["items"]["type"] in TYPES
        if "enum" in part:
            assert part["type"] == "string"
            assert part["enum"]
            assert all(isinstance(each, str) and each for each in part["enum"])
        assert all(NAME.fullmatch(each) for each in part.get("properties", {}))
        assert "pattern" not in part or not re.search(r"\(\?|\\[1-9]", part["pattern"]), "no look-around"
    names = [each for part in every for each in part.get("properties", {})]
    values = [each for part in every for each in part.get("enum", ())]
    assert depth(schema) <= DEEPEST
    assert len(names) <= MOST_PROPERTIES
    assert len(values) <= MOST_VALUES
    assert sum(map(len, (*names, *values))) <= MOST_CHARACTERS


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_part_of_an_answer_has_a_type(name):
    """A client that checks answers against their schema has something to check."""
    for part in parts(answer_schema(OPERATIONS[name].answer)):
        assert part.get("type") in TYPES or not part, part


class Leaf(BaseModel):
    value: int | None = None
    below: list[Leaf] = []


class Tree(BaseModel):
    top: Leaf
    other: Leaf | None = None
    pair: tuple[int, int] = (0, 0)


def test_what_refers_to_itself_ends():
    """A schema of a tree within a tree stays finite and plain."""
    schema = arguments_schema(Tree)
    assert all(set(part) <= ALLOWED for part in parts(schema))
    assert schema["required"] == ["top"]
    assert schema["properties"]["pair"]["items"] == {"type": "integer"}


def test_nulls_are_left_out_at_any_depth():
    """What may be null is optional in the schema, so it is not there where it is null."""
    assert without_nulls({"a": None, "b": [{"c": None, "d": 1}], "e": []}) == {"b": [{"d": 1}], "e": []}


def test_the_list_beside_the_server_is_the_table():
    """What a client is shown before any operation is loaded. When it fails: `python -m scripts.mcp_tools`."""
    code = (
        "import sys; from infold.mcp.tool_list import offered_tools; from infold.operations.tool_choice import ToolChoice\n"
        "listed = offered_tools(ToolChoice()); assert 'infold.operations.memory' not in sys.modules\n"
        "listed['memory_get'].operation(); assert 'infold.operations.docmem' not in sys.modules\n"
        "from scripts.mcp_tools import render; sys.stdout.write(render())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert done.stdout == FILE.read_text(encoding="utf-8")
