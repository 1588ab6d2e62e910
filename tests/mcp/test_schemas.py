"""Schemas that the strictest clients take, for every tool there is."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from infold.operations.contract import Face
from infold.operations.schemas import answer_schema, arguments_schema, without_nulls
from infold.operations.table import operations

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
