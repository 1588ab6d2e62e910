"""What spec 3, section 10, has for tests of an agent: pages, a compaction, an injected turn."""

from __future__ import annotations

import json
from pathlib import Path

from infold.agent.session import AgentSession
from infold.notebook.injected_text import REMINDER

PAGES = "/api/debug/notebook"


# Each row of the specification, and the test that shows it.
ROWS = {
    ("GET", "/api/debug/memory/status"): "test_api::test_the_debug_api_has_the_keys_of_the_specification",
    ("GET", "/api/debug/memory/search"): "test_api::test_the_debug_api_has_the_keys_of_the_specification",
    ("GET", "/api/debug/memory/files"): "test_api::test_the_debug_api_has_the_keys_of_the_specification",
    ("POST", "/api/debug/memory/rebuild"): "test_api::test_the_debug_api_has_the_keys_of_the_specification",
    ("GET", "/api/debug/notebook/pages"): "test_debug_api::test_pages_are_listed_read_written_and_deleted",
    ("GET", "/api/debug/notebook/{path}"): "test_debug_api::test_pages_are_listed_read_written_and_deleted",
    ("POST", "/api/debug/notebook/{path}"): "test_debug_api::test_pages_are_listed_read_written_and_deleted",
    ("DELETE", "/api/debug/notebook/{path}"): "test_debug_api::test_pages_are_listed_read_written_and_deleted",
    ("POST", "/api/debug/memory/simulate-compaction"): "test_debug_api::test_a_simulated_compaction_gives_the_reminder",
    ("POST", "/api/debug/brain/inject-turn"): "test_debug_api::test_an_injected_turn_makes_the_agent_remember",
}


async def test_each_endpoint_of_the_specification_is_there_and_has_its_test(client):
    """The debug API has these rows and no others, and each names a test that exists."""
    async with client() as http:
        paths = (await http.get("/api/openapi.json")).json()["paths"]
    served = {
        (method.upper(), path)
        for path, methods in paths.items()
        for method in methods
        if path.startswith("/api/debug/")
    }
    assert served == set(ROWS)
    for row, shown in ROWS.items():
        module, _, name = shown.partition("::")
        text = (Path(__file__).parent / f"{module}.py").read_text()
        body = text.partition(f"async def {name}(")[2].partition("\nasync def ")[0]
        assert body.replace("{PAGES}", PAGES).find(row[1].partition("{")[0]) >= 0, row


async def test_pages_are_listed_read_written_and_deleted(client, folder):
    """All of the notebook, at any depth; a page is written whole, and what is gone is a 404."""
    async with client() as http:
        listed = (await http.get(f"{PAGES}/pages")).json()["pages"]
        assert {page["path"] for page in listed} == {"index.md", "house/boiler.md"}
        text = "# Shopping\n\n- Milk\n"
        for content in (text, text + "- Eggs\n"):
            done = await http.post(f"{PAGES}/lists/shopping.md", json={"content": content})
            assert done.json()["success"] is True, done.text
            assert (folder / "lists" / "shopping.md").read_text() == content
            assert (await http.get(f"{PAGES}/lists/shopping.md")).json() == {
                "path": "lists/shopping.md",
                "content": content,
            }
        assert (await http.delete(f"{PAGES}/lists/shopping.md")).json()["success"] is True
        assert not (folder / "lists" / "shopping.md").exists()
        for method in ("GET", "DELETE"):
            assert (await http.request(method, f"{PAGES}/lists/shopping.md")).status_code == 404


async def test_nothing_outside_the_vault_is_read_or_written(client, folder):
    """Whatever way the path is written."""
    (folder.parent / "secret.md").write_text("secret")
    async with client() as http:
        for path in ("..%2fsecret.md", "%2e%2e/secret.md", "a/..%2f..%2fsecret.md", ".hidden/x.md"):
            assert (await http.get(f"{PAGES}/{path}")).status_code in (400, 404)
            assert (await http.post(f"{PAGES}/{path}", json={"content": "x"})).status_code in (400, 404, 405)
            assert (await http.delete(f"{PAGES}/{path}")).status_code in (400, 404, 405)
    assert (folder.parent / "secret.md").read_text() == "secret"


async def test_an_injected_turn_makes_the_agent_remember(client, folder):
    """The specification's own example ends in today's log; other roles are only kept."""
    turn = {"role": "user", "content": "Remember that Sarah's new number is 555-4321"}
    async with client() as http:
        answer = (await http.post("/api/debug/brain/inject-turn", json=turn)).json()
        assert answer["injected"] is True
        assert "555-4321" in (folder / answer["wrote"][0]).read_text()
        kept = await http.post("/api/debug/brain/inject-turn", json={"role": "system", "content": "quiet"})
        assert kept.json()["transcript"] == answer["transcript"]
        assert (
            await http.post("/api/debug/brain/inject-turn", json={"role": "king", "content": "x"})
        ).status_code == 422


async def test_a_simulated_compaction_gives_the_reminder(client, vault):
    """Each is a cycle of its own; the reminder is a silent turn of the agent's session."""
    async with client() as http:
        for _ in range(2):
            answer = (await http.post("/api/debug/memory/simulate-compaction")).json()
            assert (answer["triggered"], answer["reminder"]) == (True, REMINDER)
        status = (await http.post("/api/vault_status", json={})).json()
    assert status["lastFlush"]
    records = [json.loads(line) for line in AgentSession(vault.workspace, "main").file.read_text().splitlines()]
    assert [record.get("is_injected", False) for record in records] == [True, False] * 2
