"""JSON schemas that the strictest client takes: plain objects, nothing referenced, no unions.

One schema that a client cannot read makes some clients drop every tool, so these hold no `$ref`, `anyOf` or `oneOf`. A
value that may be null is left out instead, in arguments and in answers alike (`without_nulls`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

_NAMING: Final = frozenset(("title", "default"))
_DEEPEST: Final = 12  # of a schema that refers to itself, before it says only "object"


def arguments_schema(request: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's arguments: each described, with limits and default; no others are allowed."""
    schema = _plain(request.model_json_schema(by_alias=True), keeps_defaults=True)
    schema.setdefault("properties", {})
    return {**schema, "additionalProperties": False}


def answer_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's structured answer."""
    schema = _plain(answer.model_json_schema(by_alias=True, mode="serialization"), keeps_defaults=False)
    schema.setdefault("properties", {})
    return schema


def without_nulls(value: Any) -> Any:
    """The same JSON without what is null, at any depth of objects."""
    if isinstance(value, dict):  # each name and number of each answer comes by here: no ABC is asked
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(inner) for inner in value]
    return value


def _plain(schema: dict[str, Any], *, keeps_defaults: bool) -> dict[str, Any]:
    found = _PlainSchema(schema.get("$defs", {}), keeps_defaults=keeps_defaults).of(schema, 0)
    found.pop("title", None)
    return found


class _PlainSchema:
    """One schema made plain: references put in, what may be null made optional."""

    def __init__(self, known: Mapping[str, Any], *, keeps_defaults: bool) -> None:
        self._known = known
        self._keeps_defaults = keeps_defaults

    def of(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """The schema, plain."""
        if depth > _DEEPEST:
            return {"type": "object"}
        if "$ref" in schema:
            target = self._known[schema["$ref"].rpartition("/")[2]]
            said = {key: value for key, value in schema.items() if key != "$ref"}
            return self.of({**target, **said}, depth + 1)
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices is not None:
            return self._one_of(schema, choices, depth)
        plain = dict(entry for key, value in schema.items() for entry in self._entry(key, value, depth))
        if "required" in plain:
            plain["required"] = self._required(schema, plain)
        return plain

    def _entry(self, key: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
        match key:
            case "$defs" | "title":
                return
            case "default":
                if self._keeps_defaults and value is not None:
                    yield key, value
            case "properties":
                yield key, {name: self.of(inner, depth + 1) for name, inner in value.items()}
            case "prefixItems":  # of a tuple of one kind: its length is said beside it
                yield "items", self.of(value[0], depth + 1) if value else {}
            case "items" | "additionalProperties" if isinstance(value, dict):
                yield key, self.of(value, depth + 1)
            case "const":
                yield "enum", [value]
            case "enum" if all(isinstance(each, int) for each in value):  # some clients list texts alone
                yield "minimum", min(value)
                yield "maximum", max(value)
            case _:
                yield key, value

    def _one_of(self, schema: Mapping[str, Any], choices: list[Any], depth: int) -> dict[str, Any]:
        """The choice that is not null; several lists of values are one, and others only described."""
        some = [choice for choice in choices if choice.get("type") != "null"]
        plain = [self.of(choice, depth + 1) for choice in some]
        said = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", "default")}
        if len(some) == 1:
            return self.of({**some[0], **said}, depth + 1)
        told = {key: value for key, value in said.items() if key not in _NAMING}
        if all("enum" in choice for choice in plain):
            return {"type": plain[0]["type"], "enum": [value for choice in plain for value in choice["enum"]], **told}
        return told

    def _required(self, schema: Mapping[str, Any], plain: Mapping[str, Any]) -> list[str]:
        return [name for name in plain["required"] if not self._may_be_null(schema["properties"][name])]

    def _may_be_null(self, schema: Mapping[str, Any]) -> bool:
        if "$ref" in schema:
            return self._may_be_null(self._known[schema["$ref"].rpartition("/")[2]])
        choices = schema.get("anyOf") or schema.get("oneOf") or ()
        return schema.get("type") == "null" or any(choice.get("type") == "null" for choice in choices)
