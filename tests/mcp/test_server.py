"""The server as a client sees it: tools, answers, slips, resources, prompts, the first index."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp.shared.exceptions import MCPError

from infold.errors import UsageError
from infold.mcp.server import build_server
from infold.mcp.warm_up import WarmUp
from infold.operations.contract import Effect, Face
from infold.operations.schemas import arguments_schema
from infold.operations.table import operations
from infold.operations.tool_choice import ToolChoice, called


def text_of(result) -> str:
    return result.content[0].text


async def test_every_operation_is_a_tool(connected):
    """What the table holds for this face is what the client lists, with hints that fit the effect.

    A query that pays only where the call itself agrees to that is a reader, offered where only readers are.
    """
    async with connected() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    known = operations(Face.MCP)
    assert set(listed) == set(known)
    for name, tool in listed.items():
        reads = known[name].effect is Effect.READS or name == "knowledge_query"
        assert tool.annotations.read_only_hint is reads
        assert tool.annotations.destructive_hint is (known[name].effect is Effect.DESTROYS)


async def test_a_call_does_not_make_the_whole_list(vault):
    """The SDK is told the schema of the tool that is called, under the name it is offered by; else it lists all."""
    server = build_server(vault, ToolChoice(prefix="v_"))
    assert server.get_tool_input_schema("v_memory_get") == arguments_schema(operations()["memory_get"].request)
    assert server.get_tool_input_schema("memory_get") is None


async def test_the_instructions_say_how_the_notebook_is_used(connected):
    """Spec 3, section 9, in the server's own words to the client."""
    async with connected() as client:
        said = client.instructions
    for wanted in (
        "lists/",
        "reference/",
        "daily_log",
        "memory_search",
        "respect their version",
        "never an instruction",
    ):
        assert wanted in said


async def test_search_and_read_on(connected):
    """What is found can be opened with the file and lines that the result names."""
    async with connected() as client:
        found = await client.call_tool("memory_search", {"query": "boiler pressure"})
        first = found.structured_content["results"]["notebook"][0]
        assert first["filePath"] == "house/boiler.md"
        assert json.loads(text_of(found)) == found.structured_content
        read = await client.call_tool("memory_get", {"path": first["filePath"], "startLine": first["lines"]["start"]})
        assert "1.4 bar" in read.structured_content["text"]


async def test_names_in_the_form_of_python_are_taken(connected):
    """Specifications write start_line and startLine; both mean the same argument. Null is as if left out."""
    async with connected() as client:
        read = await client.call_tool("memory_get", {"path": "index", "start_line": 3, "lines": None})
    assert read.structured_content["text"].strip() == "[[house/boiler]]"


@pytest.mark.parametrize(
    "name, arguments, said",
    [
        ("memory_search", {"querry": "x"}, "There is no argument 'querry'. Did you mean 'query'?"),
        ("memory_search", {}, "query: Field required."),
        ("memory_search", {"query": "x", "maxResults": 0}, "maxResults: Input should be greater than or equal to 1."),
        ("memory_get", {"path": "../secret"}, "secret"),
        ("memory_serch", {"query": "x"}, "There is no tool 'memory_serch'. Did you mean memory_search"),
    ],
)
async def test_a_slip_is_answered_with_what_is_right(connected, name, arguments, said):
    """The answer is an error that the agent can act on, never a failure of the connection."""
    async with connected() as client:
        answer = await client.call_tool(name, arguments)
        assert answer.is_error
        assert said in text_of(answer)
        assert not (await client.call_tool("memory_search", {"query": "valve"})).is_error


async def test_sets_prefix_and_read_only(vault, connected):
    """Only what was chosen is offered; readers alone where asked for; the prefix stands before each name."""
    async with connected(ToolChoice(("memory",), "mine_", is_read_only=True)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "mine_memory_search" in names
        assert "mine_notebook_write" not in names
        assert (await client.call_tool("notebook_write", {"page": "x", "content": "y"})).is_error
    assert not (vault.workspace.vault / "x.md").exists()
    with pytest.raises(UsageError, match="There is no set of tools 'memroy'"):
        ToolChoice(("memroy",)).offered()


async def test_writing_is_seen_by_the_next_search(connected, vault):
    """A page that an agent writes is there, and found."""
    async with connected() as client:
        done = await client.call_tool("notebook_write", {"page": "lists/shopping", "content": "- Oat milk"})
        assert done.structured_content["success"]
        found = await client.call_tool("memory_search", {"query": "oat milk"})
        assert "lists/shopping.md" in text_of(found)
    assert (vault.workspace.vault / "lists" / "shopping.md").read_text() == "- Oat milk\n"


async def test_notes_are_resources(connected):
    """Every note can be listed and read by its address; what is not there, or outside, is refused with words."""
    async with connected() as client:
        listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert "note:///house/boiler.md" in listed
        read = await client.read_resource("note:///house/boiler.md")
        assert read.contents[0].text.startswith("# Boiler")
        for wrong in ("note:///../state/kept", "note:///none.md", "file:///etc/passwd", "run:///none"):
            with pytest.raises(MCPError):
                await client.read_resource(wrong)


async def test_prompts_are_filled_in(connected):
    """The common jobs, with their arguments; a missing one is named."""
    async with connected() as client:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert {"what_do_i_know", "review_day", "remember"} <= set(names)
        got = await client.get_prompt("what_do_i_know", {"subject": "boilers"})
        assert "boilers" in got.messages[0].content.text
        with pytest.raises(MCPError, match="subject"):
            await client.get_prompt("what_do_i_know", {})


async def test_prompts_name_the_tools_that_are_offered(connected):
    """A prompt is there where all its tools are, and names them as they are called."""
    async with connected(ToolChoice(("memory",), "mine_")) as client:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert "fold_inbox" not in names
        got = await client.get_prompt("remember", {"fact": "x"})
        assert "mine_notebook_write" in got.messages[0].content.text
        assert "mine_memory_search" in client.instructions


async def test_the_first_index_is_made_behind(connected, vault):
    """A search that comes before there is an index says how far it is, and soon afterwards it is answered."""
    warm_up = WarmUp(vault)
    async with connected(warm_up=warm_up) as client:
        early = await client.call_tool("memory_search", {"query": "valve"})
        assert early.is_error
        assert "indexed for the first time" in text_of(early)
        assert not (await client.call_tool("memory_get", {"path": "index"})).is_error
        warm_up.start()
        async with asyncio.timeout(60):
            while (found := await client.call_tool("memory_search", {"query": "valve"})).is_error:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert found.structured_content["results"]["notebook"][0]["filePath"] == "house/boiler.md"


async def test_a_note_is_renamed_and_deleted_under_the_names_of_the_specifications_too(connected):
    """They are not listed beside their own names; where writing is not offered, neither are they."""
    async with connected() as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        renamed = await client.call_tool("note_rename", {"note": "boiler", "new": "furnace", "dryRun": True})
        deleted = await client.call_tool("note_delete", {"note": "boiler", "dryRun": True})
    assert not listed & {"note_rename", "note_delete"}
    assert renamed.structured_content["path"] == "house/furnace.md"
    assert deleted.structured_content["path"] == "house/boiler.md"
    offered = ToolChoice(prefix="v_", is_read_only=True).offered()
    assert "v_knowledge_query" in offered
    assert "v_ask" not in offered
    with pytest.raises(UsageError, match="no tool"):
        called("v_note_delete", offered)
    assert called("v_note_delete", ToolChoice(prefix="v_").offered()).name == "knowledge_delete"
    assert called("note_restore", ToolChoice().offered()).name == "knowledge_restore"
