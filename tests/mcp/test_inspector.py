"""The MCP inspector's command line from npm, against the server as a process. Skips where it is not installed.

npm install --prefix .inspector @modelcontextprotocol/inspector@2.12.0
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
INFOLD = str(Path(sys.executable).with_name("infold"))
PLACES = (str(REPOSITORY / ".inspector" / "node_modules" / ".bin" / "mcp-inspector"), "mcp-inspector")
INSPECTOR = next(filter(None, map(shutil.which, PLACES)), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(INSPECTOR is None, reason="the inspector is not installed: npm install --prefix .inspector ..."),
]


@pytest.fixture
def inspect(folder, tmp_path):
    """Asks the inspector, and gives the JSON that it prints."""
    server = [INFOLD, "mcp", "--vault", str(folder), "--state", str(tmp_path / "state"), "--tools", "memory"]

    def ask(*words: str) -> dict[str, Any]:
        command = [str(INSPECTOR), "--cli", *server, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return ask


def test_it_lists_and_calls_tools(inspect):
    """Every tool with both schemas; a call's answer is structured, and fits the schema that the inspector read."""
    tools = {each["name"]: each for each in inspect("--method", "tools/list")["tools"]}
    assert {"memory_search", "memory_get", "notebook_write", "daily_log"} <= tools.keys()
    assert all(each["inputSchema"]["type"] == each["outputSchema"]["type"] == "object" for each in tools.values())
    words = ("--method", "tools/call", "--tool-name", "memory_get", "--tool-arg", "path=house/boiler.md", "--tool-arg")
    called = inspect(*words, "startLine=3")
    assert "1.4 bar" in called["structuredContent"]["text"]
    assert not called.get("isError")


def test_it_lists_resources_and_prompts(inspect):
    """Notes by their addresses, and what is behind one; the common jobs, and one filled in."""
    assert "note:///house/boiler.md" in {each["uri"] for each in inspect("--method", "resources/list")["resources"]}
    read = inspect("--method", "resources/read", "--uri", "note:///house/boiler.md")
    assert read["contents"][0]["text"].startswith("# Boiler")
    assert "remember" in {each["name"] for each in inspect("--method", "prompts/list")["prompts"]}
    got = inspect("--method", "prompts/get", "--prompt-name", "remember", "--prompt-args", "fact=the key")
    assert "the key" in got["messages"][0]["content"]["text"]
