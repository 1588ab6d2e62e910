"""Who may ask: names, origins, tokens, sizes, headers."""

from __future__ import annotations

import pytest

from infold.errors import UsageError
from infold.web.app import create_app
from infold.web.security import MAX_BODY_BYTES


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:4321", "", "localhost.evil:1"]
)
async def test_a_name_that_is_not_this_servers_is_refused(client, host):
    """DNS rebinding: a page may point its own name at this machine; the browser then sends that name."""
    async with client() as http:
        answer = await http.get("/api/debug/memory/status", headers={"host": host})
        assert answer.status_code == 421
        assert "boiler" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_another_sites_page_changes_nothing(client, vault, headers):
    """A request that a browser sends for another origin is refused before it reaches an operation."""
    async with client() as http:
        answer = await http.post("/api/notebook_write", json={"page": "x", "content": "y"}, headers=headers)
    assert answer.status_code == 403
    assert not (vault.workspace.vault / "x.md").exists()


async def test_the_servers_own_page_may(client, vault):
    """What a page of this server sends is taken."""
    headers = {"origin": "http://127.0.0.1:4321", "sec-fetch-site": "same-origin"}
    async with client() as http:
        answer = await http.post("/api/notebook_write", json={"page": "x", "content": "y"}, headers=headers)
    assert answer.status_code == 200
    assert (vault.workspace.vault / "x.md").exists()


async def test_nothing_without_the_token(client):
    """With a token every path asks for it: as a bearer, as the cookie, or once in the address, which sets the cookie."""
    async with client(token="secret-token") as http:
        assert (await http.get("/api/openapi.json")).status_code == 401
        assert (await http.get("/api/openapi.json", headers={"authorization": "Bearer wrong"})).status_code == 401
        assert (
            await http.get("/api/openapi.json", headers={"authorization": "Bearer secret-token"})
        ).status_code == 200
        first = await http.get("/api/openapi.json?token=secret-token")
        assert first.status_code == 200
        assert "HttpOnly; SameSite=Strict" in first.headers["set-cookie"]
        assert (await http.get("/api/openapi.json")).status_code == 200  # the cookie is kept


def test_others_are_served_only_with_a_token(vault):
    """An address beyond this machine without a token is refused before anything listens."""
    with pytest.raises(UsageError, match="a token is needed"):
        create_app(vault, host="0.0.0.0")


async def test_a_body_beyond_the_bound_is_refused(client):
    """Neither a header that says so nor a body that grows past it is read."""
    async with client() as http:
        big = b" " * (MAX_BODY_BYTES + 1)
        answer = await http.post("/api/memory_search", content=big, headers={"content-type": "application/json"})
        assert answer.status_code == 413


async def test_every_answer_says_what_a_page_may_load(client):
    """No script but this server's files, nothing from elsewhere, no frame; refusals too."""
    async with client() as http:
        for path, host in (("/api/openapi.json", "127.0.0.1"), ("/none", "127.0.0.1"), ("/", "evil.example")):
            headers = (await http.get(path, headers={"host": host})).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
