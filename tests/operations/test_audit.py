"""What was changed, for whom and by which change is in the log; what was said is not."""

from __future__ import annotations

import httpx2
import pytest
from mcp.client import Client

import infold
from infold.mcp.server import build_server
from infold.operations.agent_tools import agent_tools
from infold.operations.tool_choice import ToolChoice
from infold.web.app import create_app

SAID = "the key is under the pot"


@pytest.fixture
def vault(tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "index.md").write_text("# Home\n")
    with infold.open(tmp_path / "vault", state=tmp_path / "state", changes=["search.embedding=none"]) as opened:
        yield opened


async def test_each_write_has_its_line(vault, caplog):
    """Over MCP, the API, a page and by the agent; what only reads has none; a refused one says by which error."""
    caplog.set_level("INFO", "infold.operations.audit")
    async with Client(build_server(vault, ToolChoice())) as client:
        done = await client.call_tool("notebook_write", {"page": "secret", "content": SAID})
        await client.call_tool("memory_get", {"path": "secret.md"})
    transport = httpx2.ASGITransport(create_app(vault))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:4321") as http:
        await http.post("/api/daily_log", json={"entry": SAID})
        await http.post("/edit/secret.md", data={"content": "other", "hash": "0" * 64})
        await http.post("/inbox/add", data={"text": SAID})
    agent_tools(vault, ToolChoice(("memory",)))["daily_log"].call({"entry": f"{SAID} again"})
    lines = [record.getMessage() for record in caplog.records if record.name == "infold.operations.audit"]
    assert lines[0] == f"notebook_write (writes) for mcp: {done.structured_content['write']}"
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "daily_log (writes) for http",
        "notebook_edit (writes) for page",
        "inbox_add (writes) for page",
        "daily_log (writes) for agent",
    ]
    assert lines[2].endswith(": NoteChanged")
    assert not any(word in line for line in lines for word in ("secret", "key", "pot"))
