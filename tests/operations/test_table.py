"""The table of operations, and what every operation of it holds to."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from pydantic import ValidationError

from infold.errors import InfoldError, UsageError
from infold.operations.contract import Effect, Face, Group, Message
from infold.operations.memory import MemorySearchRequest
from infold.operations.table import find_operation, operations

EVERY = list(operations().values())


def named(operation) -> str:
    """The name of a test's case."""
    return operation.name


def test_importing_the_table_loads_no_operation():
    """A face that only wants to know that there is a table pays for none of it."""
    code = (
        "import sys, infold.operations.table; loaded = [n for n in sys.modules if n.startswith('infold.operations.')];"
        "assert sorted(n.rpartition('.')[2] for n in loaded) == ['audit', 'contract', 'table'], loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_names_of_the_specification_are_there():
    """Agents are told of these names (spec 3, section 6)."""
    assert {"memory_search", "memory_get", "notebook_write", "daily_log"} <= operations().keys()


@pytest.mark.parametrize("operation", EVERY, ids=named)
def test_an_operation_says_all_of_itself(operation):
    """A snake_case name, typed and closed messages, a description, errors of the tree, a reason for each face it lacks."""
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", operation.name)
    assert issubclass(operation.request, Message)
    assert issubclass(operation.answer, Message)
    assert operation.summary.endswith((".", ".)"))
    assert isinstance(operation.group, Group)
    assert isinstance(operation.effect, Effect)
    assert all(issubclass(error, InfoldError) for error in operation.errors)
    assert all(isinstance(face, Face) and reason for face, reason in operation.not_in.items())


@pytest.mark.parametrize("operation", EVERY, ids=named)
def test_requests_are_plain_objects_that_strict_clients_take(operation):
    """An object schema in camelCase, closed to unknown names, each field described."""
    schema = operation.request.model_json_schema()
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    for name, field in schema.get("properties", {}).items():
        assert re.fullmatch(r"[a-z][a-zA-Z0-9]*", name)
        assert field.get("description"), f"{operation.name}: {name} is not described"


def test_a_face_sees_what_it_offers():
    """What is left out of a face is not listed for it."""
    for face in Face:
        assert all(face in each.faces for each in operations(face).values())


def test_an_unknown_operation_is_told_with_those_there_are():
    """The name, and the names that would do."""
    with pytest.raises(UsageError, match="memory_seek") as raised:
        find_operation("memory_seek")
    assert "memory_search" in raised.value.hint


def test_messages_are_camel_case_outside_and_take_both_inside():
    """JSON has camelCase only; Python says snake_case; a misspelt name is refused."""
    request = MemorySearchRequest.from_json({"query": "x", "maxResults": 3})
    assert request == MemorySearchRequest(query="x", max_results=3)
    assert json.loads(json.dumps(request.as_json()))["maxResults"] == 3
    with pytest.raises(ValidationError):
        MemorySearchRequest.from_json({"query": "x", "maxresults": 3})
