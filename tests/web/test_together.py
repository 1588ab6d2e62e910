"""Readers and writers of one vault at once, over HTTP and MCP: no edit is lost."""

from __future__ import annotations

import asyncio

import pytest
from mcp.client import Client

import infold
from bench.crowd import crowd, make_vault
from infold.mcp.server import build_server
from infold.operations.tool_choice import ToolChoice

READERS, LINES = 20, 8


async def test_no_edit_is_lost_between_readers_and_writers(client, vault, folder):
    """Two writers over HTTP and one over MCP append to one page while twenty search: every line is there, once."""
    writing = True

    async def read(http) -> None:
        while writing:
            answer = await http.post("/api/memory_search", json={"query": "line boiler"})
            assert answer.status_code == 200, answer.text

    async def over_http(http, name: str) -> None:
        for number in range(LINES):
            body = {"page": "lists/together", "content": f"line {name} {number}"}
            answer = await http.post("/api/notebook_write", json=body)
            assert answer.status_code == 200, answer.text

    async def over_mcp(agent: Client, name: str) -> None:
        for number in range(LINES):
            body = {"page": "lists/together", "content": f"line {name} {number}"}
            answer = await agent.call_tool("notebook_write", body)
            assert not answer.is_error, answer.content

    async with client() as http, Client(build_server(vault, ToolChoice())) as agent, asyncio.timeout(240):
        readers = [asyncio.create_task(read(http)) for _ in range(READERS)]
        await asyncio.gather(over_http(http, "one"), over_http(http, "two"), over_mcp(agent, "three"))
        writing = False
        await asyncio.gather(*readers)
    lines = (folder / "lists" / "together.md").read_text().split("\n")
    wanted = {f"line {name} {number}" for name in ("one", "two", "three") for number in range(LINES)}
    assert sorted(line for line in lines if line) == sorted(wanted)


@pytest.mark.slow
async def test_fifty_readers_and_five_writers_at_two_servers_lose_no_edit(tmp_path):
    """Over HTTP and MCP, as processes, on the same pages: each line stands once, and every call is answered."""
    folder = make_vault(tmp_path / "vault", 40)
    with infold.open(folder, state=tmp_path / "state", changes=["search.embedding=static"]) as vault:
        vault.sync_index()
    seen = await crowd(folder, seconds=3, readers=50, writers=5)
    assert seen.written
    assert seen.lost(folder) == []
    assert seen.errors == []
    assert {name.split()[0] for name in seen.seconds} == {"http", "mcp"}
