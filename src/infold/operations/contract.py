"""What all requests and answers have in common, and what an operation says about itself.

JSON at every boundary is camelCase, made here and nowhere else; Python is snake_case.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


class Message(BaseModel):
    """A request or an answer: frozen, and strict about names. In JSON its fields are camelCase.

    The string below a field is its description in the JSON schema. It is looked up only there: pydantic's own way of
    doing that (`use_attribute_docstrings`) takes a millisecond a class, at each start.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
        defer_build=True,  # a command builds the few it needs
    )

    def as_json(self) -> dict[str, Any]:
        """The JSON object of this message."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def of(cls, record: object, **others: Any) -> Self:
        """The message with the fields of the same name of a record, and with `others`, which count first."""
        same = {
            name: getattr(record, name) for name in cls.model_fields if name not in others and hasattr(record, name)
        }
        return cls(**same, **others)

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The message that a JSON object is. Raises pydantic's ValidationError."""
        return cls.model_validate(value)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        messages = (each for each in cls.__mro__ if issubclass(each, Message) and each is not Message)
        for name, text in (item for message in messages for item in _described(message).items()):
            properties.get(to_camel(name), {}).setdefault("description", text)
        return schema


def _described(message: type[Message]) -> Mapping[str, str]:
    """The fields of a message with the strings that stand below them."""
    return _described_in(message.__module__).get(message.__name__, {})


@cache
def _described_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """The same for every class of a module, which is read once."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {each.name: dict(_fields(each)) for each in ast.walk(tree) if isinstance(each, ast.ClassDef)}


def _fields(declared: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(declared.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            yield field.target.id, inspect.cleandoc(ast.literal_eval(below.value))


class Nothing(Message):
    """The request of an operation that needs to be told nothing."""


class Group(StrEnum):
    """What an operation is about."""

    MEMORY = "memory"  # finding and reading, the notebook, the log
    INBOX = "inbox"
    DOCMEM = "docmem"
    KNOWLEDGE = "knowledge"
    NAVIGATOR = "navigator"
    VAULT = "vault"
    EVALUATION = "evaluation"


class Effect(StrEnum):
    """The most that an operation may do."""

    READS = "reads"  # notes stay as they are; what is derived from them may be brought up to date
    WRITES = "writes"  # and can be taken back
    DESTROYS = "destroys"  # what cannot be taken back
    SPENDS = "spends"  # a paid model may be asked: see `operations.spending`


class Face(StrEnum):
    """Where an operation can be asked for."""

    CLI = "cli"
    MCP = "mcp"
    HTTP = "http"
    AGENT = "agent"
    PYTHON = "python"
