"""Clients that take their time, or send more than they should, at both servers over real sockets."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import infold
from infold.http.server import PunctualProtocol, make_server
from infold.mcp.serving import http_app
from infold.operations import spending_rate
from infold.operations.spending_rate import MOST_A_MINUTE
from infold.operations.tool_choice import ToolChoice
from infold.web.app import create_app

PATIENCE_SECONDS = 0.4
MOST_SECONDS = 60


class Impatient(PunctualProtocol):
    """Has little patience, where a test asks for that."""


@pytest.fixture
def impatient(monkeypatch):
    """From the moment this is called the server waits so long, for heads and for its answers to be taken."""

    def become(seconds: float) -> None:
        for name in ("head_seconds", "answer_seconds"):
            monkeypatch.setattr(Impatient, name, seconds)

    return become


@pytest.fixture
def vault(tmp_path: Path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "index.md").write_text("# Home\n\nThe boiler.\n")
    with infold.open(tmp_path / "vault", state=tmp_path / "state", changes=["search.embedding=none"]) as opened:
        yield opened


@asynccontextmanager
async def served(app) -> AsyncIterator[int]:
    """The port of a server that carries `app`."""
    server = make_server(app, host="127.0.0.1", port=0, protocol=Impatient)
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn offers no event
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task


FACES = {
    "pages": (create_app, "/api/memory_search", b'{"query": "boiler"}'),
    "mcp": (lambda vault: http_app(vault, ToolChoice()), "/mcp", b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'),
}


@pytest.fixture(params=FACES)
def face(request, vault):
    """An application, and a request to it that is well-formed."""
    make, path, body = FACES[request.param]
    return make(vault), path, body


def head(path: str, length: int | None, *more: str) -> bytes:
    """The head of a POST; chunked where no length is given."""
    size = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    kinds = ("content-type: application/json", "accept: application/json, text/event-stream")
    return "\r\n".join([f"POST {path} HTTP/1.1", "host: 127.0.0.1", size, *kinds, *more, "", ""]).encode()


async def heard(reader: asyncio.StreamReader) -> bytes:
    """What the server says until it ends the connection; fails where it holds on."""
    try:
        return await asyncio.wait_for(reader.read(), MOST_SECONDS)
    except ConnectionResetError:
        return b""


async def status_of(port: int, data: bytes) -> int:
    """The status of an answer, 0 where there was none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    line = await asyncio.wait_for(reader.readline(), MOST_SECONDS)
    writer.close()
    return int(line.split()[1]) if line else 0


@pytest.mark.parametrize(
    "said", [b"", b"POST /api/memory_search HTTP/1.1\r\nhost: 127.0.0.1\r\n"], ids=["none", "half"]
)
async def test_whoever_never_ends_a_head_is_let_go(face, said, impatient):
    """Neither an open line without a word, nor a head that comes a byte at a time, holds a connection."""
    app, path, body = face
    impatient(PATIENCE_SECONDS)
    async with served(app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)

        async def drip() -> None:
            while said:
                writer.write(b"x")
                await asyncio.sleep(PATIENCE_SECONDS / 8)

        dripping = asyncio.create_task(drip())
        assert await heard(reader) == b""
        dripping.cancel()
        writer.close()
        impatient(MOST_SECONDS)
        assert await status_of(port, head(path, len(body)) + body) > 0, "others are served"


async def test_a_second_head_on_the_same_connection_has_its_time_too(vault, impatient):
    """After an answer, the beginning of another request does not hold the connection either."""
    _, path, body = FACES["pages"]
    async with served(create_app(vault)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head(path, len(body)) + body)
        assert b"200" in await reader.readline()
        impatient(PATIENCE_SECONDS)
        writer.write(b"GET / HTTP/1.1\r\nhost")
        await heard(reader)
        writer.close()


async def test_an_answer_that_takes_longer_than_a_head_may_is_waited_for(vault, impatient):
    """The time is that of heads: work goes on past it."""

    async def slow(scope, receive, send):
        if scope["type"] == "http":
            await asyncio.sleep(3 * PATIENCE_SECONDS)
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
            await send({"type": "http.response.body", "body": b"ok"})

    impatient(PATIENCE_SECONDS)
    async with served(slow) as port:
        assert await status_of(port, head("/", 0)) == 200


@pytest.mark.parametrize("parts", [1, 64], ids=["at once", "in parts"])
async def test_whoever_never_reads_an_answer_is_let_go(parts, impatient):
    """The answer ends for the server too; a client that only rests now and then gets all of it."""
    whole, ended = b"x" * (1 << 25), asyncio.Event()

    async def large(scope, receive, send):
        if scope["type"] != "http":
            return
        length = str(len(whole)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        size = len(whole) // parts
        for at in range(0, len(whole), size):
            await send({"type": "http.response.body", "body": whole[at : at + size], "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        await receive()
        ended.set()

    impatient(PATIENCE_SECONDS)
    async with served(large) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 12)
        writer.write(head("/", 0))
        await asyncio.wait_for(ended.wait(), MOST_SECONDS)
        await asyncio.sleep(2 * PATIENCE_SECONDS)
        assert len(await heard(reader)) < len(whole)
        writer.close()
        impatient(5 * PATIENCE_SECONDS)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        writer.write(head("/", 0, "connection: close"))
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(PATIENCE_SECONDS)
        assert len(await heard(reader)) == len(whole)
        writer.close()


async def test_a_body_that_never_ends_is_let_go(face):
    """After the time for bodies the request is over."""
    app, path, _ = face
    async with served(dataclasses.replace(app, body_seconds=PATIENCE_SECONDS)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head(path, 1000) + b"{")
        line = await asyncio.wait_for(reader.readline(), MOST_SECONDS)
        writer.close()
        assert not line or line.split()[1][:1] in (b"4", b"5")


async def test_more_than_a_body_may_hold_is_refused(face):
    """Told beforehand, or sent in chunks without a length."""
    app, path, _ = face
    async with served(app) as port:
        assert await status_of(port, head(path, 10**9)) == 413
        chunk = b"%x\r\n" % 2**20 + b" " * 2**20 + b"\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head(path, None))
        assert await taken(reader, writer, chunk) < MOST_CHUNKS
        writer.close()


MOST_CHUNKS = 64


async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, chunk: bytes) -> int:
    """How many chunks a server takes before it answers, or ends the connection."""
    answer = asyncio.create_task(reader.read(1))
    for sent in range(MOST_CHUNKS):
        try:
            writer.write(chunk)
            await asyncio.wait_for(writer.drain(), 10)
            await asyncio.wait_for(asyncio.shield(answer), 0.05)
        except TimeoutError:
            continue
        except ConnectionError:
            pass
        answer.cancel()
        return sent
    return MOST_CHUNKS


BOMBS = {
    "nested": b"[" * 200_000 + b"]" * 200_000,
    "objects": b'{"query":' * 50_000 + b"1" + b"}" * 50_000,
    "digits": b'{"query": "x", "maxResults": ' + b"9" * 200_000 + b"}",
    "zipped": gzip.compress(b"[" * 2_000_000),
    "no json": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_bomb_is_a_wrong_request(face, bomb):
    """Deep, long or packed: it is answered as wrong, and the next request is served."""
    app, path, body = face
    data = BOMBS[bomb]
    more = ["content-encoding: gzip"] if bomb == "zipped" else []
    async with served(app) as port:
        assert await status_of(port, head(path, len(data), *more) + data) in (400, 413, 415, 422)
        assert await status_of(port, head(path, len(body)) + body) in (200, 400, 422)


async def test_a_head_that_grows_without_end_is_refused(face):
    """By its size, before it is kept."""
    app, path, _ = face
    async with served(app) as port:
        assert await status_of(port, head(path, 0, "x-much: " + "x" * 200_000)) in (0, 400, 431)


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-length": "1e3"}, 400),
    ],
)
async def test_the_same_doorkeeper_stands_before_the_tools(vault, headers, status):
    """DNS rebinding and other sites' pages reach neither server."""
    import httpx2

    app = http_app(vault, ToolChoice())
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8765") as http:
        assert (await http.post("/mcp", content=b"{}", headers=headers)).status_code == status


async def test_others_are_served_only_with_a_token_under_any_of_our_names(vault):
    """Listening everywhere there are many names; the token is asked for under each, as a bearer."""
    import httpx2

    with pytest.raises(infold.errors.UsageError, match="a token is needed"):
        http_app(vault, ToolChoice(), host="0.0.0.0")
    app = http_app(vault, ToolChoice(), host="0.0.0.0", token="t0ken")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://192.168.1.7:8765") as http:
        refused = await http.post("/mcp", json={})
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        wrong = await http.post("/mcp", json={}, headers={"authorization": "Bearer no"})
        assert wrong.status_code == 401


async def test_what_may_cost_is_not_called_without_end(vault, monkeypatch):
    """An agent in a loop is stopped, with what to do; what only reads goes on."""
    from mcp.client import Client

    from infold.mcp.server import build_server

    monkeypatch.setattr(spending_rate, "_MINUTE_SECONDS", 3600.0)
    (vault.workspace.vault / "inbox.md").write_text("")
    async with Client(build_server(vault, ToolChoice())) as client:
        for _ in range(MOST_A_MINUTE):
            assert not (await client.call_tool("inbox_integrate", {"dryRun": True})).is_error
        refused = await client.call_tool("inbox_integrate", {"dryRun": True})
        assert refused.is_error
        assert "Wait a minute." in json.dumps(refused.model_dump(mode="json"))
        assert not (await client.call_tool("memory_get", {"path": "index"})).is_error
