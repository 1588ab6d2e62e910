"""Who may ask: names, origins, tokens, sizes, headers."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from infold.errors import UsageError
from infold.http.doorkeeper import MAX_BODY_BYTES
from infold.operations import spending_rate
from infold.operations.spending_rate import MOST_A_MINUTE
from infold.web.app import create_app

WAYS_OUT = ["../secret.md", "..%2fsecret.md", "%2e%2e/secret.md", "..%252fsecret.md", "..%5csecret.md", "x%00.md"]
WAYS_OUT += ["%2fetc%2fpasswd", "house/../../secret.md", "out.md", "beyond/secret.md", "out.png"]


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


@pytest.mark.parametrize("address", ["/edit/index.md", "/delete/index.md", "/inbox/add", "/inbox/plan", "/run/x/undo"])
async def test_another_sites_form_changes_nothing(client, folder, address):
    """A form needs no script and may send no Origin; what the browser says of where it comes from is enough."""
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    async with client() as http:
        form = {"content": "stolen", "text": "stolen"}
        answer = await http.post(address, data=form, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("page", ["note", "edit", "file", "folder", "static"])
async def test_no_address_leads_out_of_the_vault(client, folder, tmp_path, page):
    """However the way out is written, and whatever link lies in the vault, nothing beyond it is shown."""
    (tmp_path / "secret.md").write_text("the secret beyond")
    (tmp_path / "secret.png").write_text("the secret beyond")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "beyond").symlink_to(tmp_path)
    async with client() as http:
        answers = {path: await http.get(f"/{page}/{path}") for path in WAYS_OUT}
    for path, answer in answers.items():
        assert answer.status_code < 500, path
        assert "the secret beyond" not in answer.text, path
        assert "root:" not in answer.text, path


async def ask_raw(app, body, **headers: str) -> int:
    """The status of a POST whose body comes in parts, each after its pause; 0 where no answer came."""
    parts = iter(body)
    statuses = []

    async def receive():
        seconds, part = next(parts, (3600.0, b""))
        await asyncio.sleep(seconds)
        return {"type": "http.request", "body": part, "more_body": True}

    async def send(message):
        statuses.append(message.get("status", 0))

    named = {"host": "127.0.0.1", "content-type": "application/json", **headers}
    scope = {"type": "http", "method": "POST", "path": "/api/memory_search", "raw_path": b"/api/memory_search"}
    scope |= {"query_string": b"", "root_path": "", "scheme": "http", "http_version": "1.1", "server": ("127.0.0.1", 1)}
    scope |= {"headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()]}
    await asyncio.wait_for(app(scope, receive, send), 60)
    return statuses[0] if statuses else 0


async def test_whoever_sends_slowly_is_let_go(vault):
    """A body that never ends holds a connection only for so long."""
    app = dataclasses.replace(create_app(vault), body_seconds=0.3)  # type: ignore[type-var]
    assert await ask_raw(app, [(0.1, b"{")] * 100) == 400


async def test_a_body_that_grows_past_the_bound_is_not_kept(vault):
    """Without a length in its header it is let go when it has grown too far."""
    assert await ask_raw(create_app(vault), [(0.0, b" " * 1024 * 1024)] * 40) == 400


@pytest.mark.parametrize("length", ["-1", "ten", "1e3", "²", "9" * 30])
async def test_a_length_that_is_none_is_refused(vault, length):
    """Before anything is read."""
    app = create_app(vault)
    assert await ask_raw(app, [], **{"content-length": length.encode("utf-8").decode("latin-1")}) in (400, 413)


async def test_what_may_cost_is_not_asked_for_without_end(client, folder, monkeypatch):
    """After so many within a minute more are refused with what to do; what only reads goes on."""
    monkeypatch.setattr(spending_rate, "_MINUTE_SECONDS", 3600.0)
    (folder / "inbox.md").write_text("")
    async with client() as http:
        for _ in range(MOST_A_MINUTE):
            assert (await http.post("/api/inbox_integrate", json={"dryRun": True})).status_code != 429
        refused = await http.post("/api/inbox_integrate", json={"dryRun": True})
        assert refused.status_code == 429
        assert refused.json()["error"]["hint"] == "Wait a minute."
        assert (await http.post("/inbox/plan")).status_code == 429
        assert (await http.post("/api/memory_search", json={"query": "boiler"})).status_code == 200
