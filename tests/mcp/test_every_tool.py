"""What holds for every tool, whatever it does."""

from __future__ import annotations

import time

import pytest

import infold
from infold.mcp import server
from infold.operations.contract import Effect, Face
from infold.operations.schemas import arguments_schema
from infold.operations.table import operations
from infold.operations.tool_choice import ToolChoice
from tests.fakes.openai_server import serving

TOOLS = operations(Face.MCP)
SPENDING = [name for name, operation in TOOLS.items() if operation.effect is Effect.SPENDS]
NEEDED = {
    "ask": {"question": "What is the pressure of the boiler?"},
    "summarize": {"nodeIds": ["boiler"]},
    "import": {"paths": ["."]},
    "docmem_place": {"text": "The boiler hums.", "name": "boiler.md"},
}


def said(answer) -> str:
    return answer.content[0].text


async def test_a_misspelt_argument_is_answered_with_the_right_one(connected):
    """By every tool that takes any; the others say that they take none."""
    async with connected() as client:
        for name, operation in TOOLS.items():
            known = sorted(arguments_schema(operation.request)["properties"], key=len)
            wrong = f"{known[-1][:-1]}q" if known else "anything"
            answer = await client.call_tool(name, {wrong: "x"})
            assert answer.is_error, name
            assert f"There is no argument '{wrong}'." in said(answer), name
            assert (f"Did you mean '{known[-1]}'?" if known else "none") in said(answer), name


async def test_what_costs_is_told_before_it_is_spent(folder, tmp_path, monkeypatch):
    """No tool asks the model before a token or a cap agreed to it; a token that is none is refused."""
    from mcp.client import Client

    (folder / "inbox.md").write_text("The boiler hums.\n")
    with serving() as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        changes = ["librarian.kind=model", "search.embedding=static"]
        with infold.open(folder, state=tmp_path / "priced", changes=changes) as vault:
            vault.sync_index()
            async with Client(server.build_server(vault, ToolChoice())) as client:
                context = {"contextType": "project", "contextName": "name", "contextValue": "boiler"}
                await client.call_tool("docmem_create", {"root": "boiler", "text": "Bleed it.", **context})
                for name in SPENDING:
                    answer = await client.call_tool(name, NEEDED.get(name, {}))  # type: ignore[arg-type]
                    if not answer.is_error and "quote" in answer.structured_content:
                        assert answer.structured_content["quote"]["token"], name
                    wrong = await client.call_tool(name, {**NEEDED.get(name, {}), "token": "f" * 16})  # type: ignore[dict-item]
                    assert wrong.is_error, name
        assert model.asked == []


async def test_long_work_says_how_far_it_is(connected):
    """To the client that asked, by the protocol's own progress."""
    heard = []

    async def hear(done, total, message) -> None:
        heard.append((done, total, message))

    async with connected() as client:
        await client.call_tool("index_rebuild", {}, progress_callback=hear)
    assert heard
    assert all(message for _, _, message in heard)


async def test_no_call_is_waited_for_without_end(connected, vault, monkeypatch):
    """After its time a tool answers what to do; the server goes on."""
    monkeypatch.setattr(server, "TIME_LIMIT_SECONDS", 0.1)
    monkeypatch.setattr(vault, "get", lambda _: time.sleep(1))
    async with connected() as client:
        late = await client.call_tool("memory_get", {"path": "index"})
        assert late.is_error
        assert "took longer than" in said(late)
        assert "Ask for less" in said(late)
        assert (await client.list_tools()).tools


@pytest.mark.parametrize("name", TOOLS)
def test_every_error_that_a_tool_names_is_of_the_tree(name):
    """Each is one of the tree, with a status and an exit code of its own."""
    operation = TOOLS[name]
    for error in operation.errors:
        assert issubclass(error, infold.errors.InfoldError)
        assert error.http_status >= 400
        assert error.exit_code > 0
