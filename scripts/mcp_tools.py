"""The list of tools beside the MCP server, from the table of operations: `python -m scripts.mcp_tools`.

A test and `make check` (`--check`) hold that the file is what this makes: a client is shown what the operations take
and give.
"""

from __future__ import annotations

import sys
from pathlib import Path

from infold.mcp import tool_list

FILE = Path(tool_list.__file__).with_name(tool_list.FILE)


def render() -> str:
    """The whole file, a tool a line."""
    return "".join(f"{each.line()}\n" for each in tool_list.from_table())


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(render(), encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != render():
        sys.exit(f"{FILE} is stale: python -m scripts.mcp_tools")
