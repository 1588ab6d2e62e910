"""An agent's day: a client of the official SDK works with the tools of every group, and looks at each answer.

On stdin and stdout as a client starts the server, then over HTTP. The model behind is a scripted endpoint.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

import infold
from infold.http.server import make_server
from infold.mcp.serving import http_app
from infold.operations.tool_choice import ToolChoice
from tests.fakes.openai_server import FakeOpenAI, answer, serving
from tests.small_vaults import written

INFOLD = str(Path(sys.executable).with_name("infold"))
NOTES = {
    "index.md": "# Home\n\n[[boiler]] and [[garden]]\n",
    "house/boiler.md": "# Boiler\n\nThe pressure of the boiler is 1.4 bar.\n\n## Valve\n\nThe valve is brass. See [[garden]].\n",
    "garden.md": "---\ntags: [green]\n---\n# Garden\n\nThe hedge is cut in October.\n\n## Compost\n\nA hot heap kills seeds.\n",
    "reference/contacts.md": "# Sarah\n\n555-1234\n",
    "inbox.md": "The boiler hums since Tuesday.\n",
}


class Day:
    """A client, and every call that was made."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.calls: list[str] = []

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What the tool answers: the text and the structured answer say the same."""
        self.calls.append(tool)
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, (tool, result.content[0].text)  # type: ignore[union-attr]
        found: dict[str, Any] = result.structured_content
        assert json.loads(result.content[0].text) == found  # type: ignore[union-attr]
        return found

    async def spend(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The same of a tool that costs: first the estimate, then the answer to its token."""
        quote = (await self(tool, **arguments))["quote"]
        assert quote["calls"][0] >= 1
        assert quote["tokens"][0] <= quote["tokens"][1]
        return await self(tool, token=quote["token"], **arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(NOTES, tmp_path / "vault")


@pytest.fixture
def model():
    with serving() as fake:
        yield fake


@asynccontextmanager
async def on_stdio(folder: Path, model: FakeOpenAI) -> AsyncIterator[Day]:
    place = ["--vault", str(folder), "--state", str(folder.parent / "state")]
    settings = [part for each in ("librarian.kind=model", "search.embedding=static") for part in ("--set", each)]
    env = {**os.environ, "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none"}
    server = StdioServerParameters(command=INFOLD, args=["mcp", *place, *settings], env=env)
    async with Client(stdio_client(server)) as client:
        day = Day(client)
        yield day


async def find(day: Day, folder: Path) -> None:
    """Memory: what is always loaded, a search, the lines that it names."""
    assert "555-1234" in (await day("memory_context"))["text"]
    found = await day("memory_search", query="boiler pressure")
    assert found["results"]["notebook"][0]["filePath"] == "house/boiler.md"
    read = await day("memory_get", path="house/boiler.md", startLine=3, lines=1)
    assert (read["text"].strip(), read["trust"]) == ("The pressure of the boiler is 1.4 bar.", "vault")
    pages = await day("notebook_pages")
    assert {"house", "reference"} <= {each["path"] for each in pages["folders"]}


async def write(day: Day, folder: Path) -> None:
    """Memory: pages and the log; an edit of what was not read is refused."""
    written = await day("notebook_write", page="lists/shopping", content="- Oat milk")
    assert written["path"] == "lists/shopping.md"
    whole = await day("memory_get", path="lists/shopping")
    edited = await day("notebook_edit", path="lists/shopping.md", content="- Rice\n", hash=whole["hash"])
    assert edited["hash"] != whole["hash"]
    stale = await day.client.call_tool(
        "notebook_edit", {"path": "lists/shopping.md", "content": "mine", "hash": whole["hash"]}
    )
    assert stale.is_error, "somebody else's edit is not overwritten"
    logged = await day("daily_log", entry="Bought rice.")
    assert "Bought rice." in (folder / logged["path"]).read_text()


async def know(day: Day, folder: Path) -> None:
    """Knowledge: a note made, related, renamed; the graph."""
    made = await day(
        "knowledge_create", title="Radiators", content="They are bled.", tags=["house"], relatedNotes=["boiler"]
    )
    assert "[[" in (folder / made["path"]).read_text()
    suggested = await day("knowledge_suggest", content="What presses in the boiler?")
    assert "house/boiler.md" in json.dumps(suggested)
    asked = await day("knowledge_query", query="valve brass")
    assert "brass" in asked["context"]
    renamed = await day("note_rename", note="Radiators", new="Heaters")
    assert renamed["path"].endswith("Heaters.md")
    graph = await day("knowledge_graph", view="backlinks", note="garden")
    assert {each["path"] for each in graph["notes"]} >= {"index.md", "house/boiler.md"}
    lint = await day("knowledge_lint")
    assert lint["dangling"] == []


async def navigate(day: Day) -> None:
    """Navigator: notes imported, explored, zoomed and summed up."""
    imported = await day.spend("import", paths=["."])
    assert imported["notes"] >= 4
    explored = await day("explore", query="the hedge in autumn")
    assert explored["nodes"][0]["path"] == "garden.md"
    up = await day("zoom_out")
    assert up["nodes"][0]["path"] == "garden.md"
    down = await day("zoom_in", nodeId=up["centre"]["id"])
    assert {each["path"] for each in down["nodes"]} == {"garden.md"}
    await day("back")
    themes = await day("themes")
    assert themes.get("themes") or themes.get("notice")
    summed = await day.spend("summarize", nodeIds=[each["id"] for each in explored["nodes"][:2]])
    assert summed["summary"]


async def remember(day: Day) -> None:
    """Memory trees: made, grown, changed."""
    context = {"contextType": "project", "contextName": "name", "contextValue": "hedge"}
    tree = await day("docmem_create", root="hedge", **context)
    leaf = await day("docmem_append", parent=tree["id"], text="Cut it low.", **context)
    changed = await day("docmem_update_content", node=leaf["id"], expectedHash=leaf["hash"], text="Cut it high.")
    assert "Cut it high." in (await day("docmem_serialize", node=tree["id"]))["text"]
    assert "Cut it low." in json.dumps(await day("docmem_history", node=leaf["id"]))
    assert changed["hash"] != leaf["hash"]


async def fold(day: Day) -> None:
    """Inbox: added, planned, reviewed, applied, taken back."""
    await day("inbox_add", text="The hedge was cut on Sunday.")
    plan = await day.spend("inbox_integrate", dryRun=True)
    assert (plan["status"], len(plan["paragraphs"])) == ("planned", 2)
    review = await day("run_review", run=plan["run"])
    assert review["run"] == plan["run"]
    applied = await day("run_apply", run=plan["run"])
    placed = [each for each in applied["paragraphs"] if each["outcome"] == "integrated"]
    if placed:
        undone = await day("run_undo", run=plan["run"])
        assert undone["status"] == "undone"
    assert (await day("run_list"))["runs"][0]["run"]


async def ask_and_end(day: Day, model: FakeOpenAI) -> None:
    """A question that the model plans and answers, and the end of a conversation."""
    place = "house/boiler.md:3-3"
    model.script("Plan", answer({"calls": [{"find": "search", "query": "boiler pressure"}]}))
    model.script("CitedAnswer", answer({"statements": [{"text": "It is 1.4 bar.", "places": [place]}]}))
    told = await day.spend("ask", question="What is the pressure of the boiler?")
    assert told["statements"][0]["text"] == "It is 1.4 bar."
    assert told["usage"]["calls"] == 2


@pytest.mark.slow
async def test_a_day_over_stdio(folder, model):
    """Thirty and more calls over all groups; each answer is the one that the calls before make right."""
    async with on_stdio(folder, model) as day:
        await find(day, folder)
        await write(day, folder)
        await know(day, folder)
        await navigate(day)
        await remember(day)
        await fold(day)
        await ask_and_end(day, model)
    assert len(day.calls) >= 30
    groups = {"memory_search", "notebook_edit", "knowledge_graph", "zoom_in", "docmem_append", "inbox_add", "ask"}
    assert groups <= set(day.calls)


async def test_a_morning_over_http(folder, model, monkeypatch):
    """The same tools over streamable HTTP, with a token; two clients at once see each other's writes."""
    monkeypatch.setenv("OPENAI_BASE_URL", model.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    changes = ["librarian.kind=model", "search.embedding=none"]
    with infold.open(folder, state=folder.parent / "state", changes=changes) as vault:
        vault.sync_index()
        server = make_server(http_app(vault, ToolChoice(), token="t0ken"), host="127.0.0.1", port=0)
        task = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn offers no event
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            headers = {"authorization": "Bearer t0ken"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as one,
                Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as other,
            ):
                mine, theirs = Day(one), Day(other)
                await mine("notebook_write", page="lists/shopping", content="- Oat milk")
                found = await theirs("memory_search", query="oat milk")
                assert found["results"]["notebook"][0]["filePath"] == "lists/shopping.md"
                model.script("Plan", answer({"calls": [{"find": "search", "query": "oat milk"}]}))
                cited = {"statements": [{"text": "Milk.", "places": ["lists/shopping.md:1-1"]}]}
                model.script("CitedAnswer", answer(cited))
                told = await theirs.spend("ask", question="What is on my list?")
                assert told["statements"][0]["places"] == ["lists/shopping.md:1-1"]
        finally:
            server.should_exit = True
            await task
