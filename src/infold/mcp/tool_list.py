"""The tools as they are written in `tools.jsonl`, so that a client has their list before any operation is loaded.

`python -m scripts.mcp_tools` writes that file from the table of operations; a test holds the two equal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types

from infold.mcp.tools import tool
from infold.operations.contract import Face
from infold.operations.table import Operation, operation_in, operations

if TYPE_CHECKING:
    from infold.operations.tool_choice import ToolChoice

FILE: Final = "tools.jsonl"


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool before its operation is loaded: where that is, what a choice of tools looks at, and what is listed."""

    name: str  # the operation's
    module: str
    group: str
    only_reads: bool
    listed: Mapping[str, Any]

    def operation(self) -> Operation[Any, Any]:
        """Its operation; the module that has it is loaded, and no other."""
        return operation_in(self.module, self.name)

    def tool(self, name: str) -> types.Tool:
        """As a client sees it, under the name that is offered."""
        return types.Tool.model_validate({**self.listed, "name": name})

    def line(self) -> str:
        """As it stands in the file."""
        return json.dumps({each: getattr(self, each) for each in self.__slots__}, ensure_ascii=False)


def offered_tools(choice: ToolChoice) -> dict[str, ListedTool]:
    """The chosen tools by the name they are offered under. Raises UsageError for a set there is not."""
    return choice.chosen({each.name: each for each in _written()})


def from_table() -> Iterator[ListedTool]:
    """The same from the operations themselves, all of which this loads."""
    for name, operation in operations(Face.MCP).items():
        listed = tool(name, operation).model_dump(mode="json", by_alias=True, exclude_none=True)
        module = operation.function.__module__
        yield ListedTool(name, module, str(operation.group), operation.only_reads, listed)


def _written() -> Iterator[ListedTool]:
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return (ListedTool(**json.loads(line)) for line in text.splitlines())
