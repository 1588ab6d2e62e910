"""The guard in front of the Prefect server: its own pages and clients, and nobody else's."""

from __future__ import annotations

from typing import Any

import pytest

from flows.server import OwnPagesOnly

OWN = b"127.0.0.1:4200"


async def answered(kind: str, path: str = "/api/flows/filter", method: str = "POST", **headers: bytes) -> Any:
    """200 where the application was asked, else the status or the code that the guard gave."""
    sent: list[dict[str, Any]] = []

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        sent.append(message)

    scope = {
        "type": kind,
        "path": path,
        "method": method,
        "headers": [(name.replace("_", "-").encode(), value) for name, value in headers.items()],
    }
    await OwnPagesOnly(application, 4200)(scope, None, send)
    return sent[0].get("status") or sent[0].get("code")


@pytest.mark.parametrize("host", [b"evil.example", b"evil.example:4200", b"127.0.0.1", b"127.0.0.1:4201", b""])
async def test_another_host_is_refused(host):
    """A name that somebody points at this machine (DNS rebinding) is no way in, for requests and for sockets."""
    assert await answered("http", host=host) == 403
    assert await answered("websocket", host=host) == 1008


@pytest.mark.parametrize(
    "origin", [b"http://evil.example", b"null", b"http://127.0.0.1:8000", b"https://127.0.0.1:4200"]
)
async def test_a_page_from_elsewhere_is_refused(origin):
    """Another origin, a file and a program on another port included, may not ask; sockets neither, which CORS leaves out."""
    assert await answered("http", host=OWN, origin=origin) == 403
    assert await answered("websocket", host=OWN, origin=origin) == 1008


async def test_requests_that_carry_no_origin_are_told_apart_by_where_they_come_from():
    """An image or a script of another page has no Origin: it may not ask the API; a link to the UI still opens it."""
    assert await answered("http", method="GET", host=OWN, sec_fetch_site=b"cross-site") == 403
    assert await answered("http", method="GET", host=OWN, sec_fetch_site=b"same-site") == 403
    assert await answered("http", "/dashboard", "GET", host=OWN, sec_fetch_site=b"cross-site") == 200


async def test_its_own_pages_and_clients_are_let_through():
    """The UI, a client without a browser, and the sockets of both."""
    assert await answered("http", host=OWN) == 200
    assert await answered("http", host=OWN, origin=b"http://127.0.0.1:4200", sec_fetch_site=b"same-origin") == 200
    assert await answered("websocket", host=OWN, origin=b"http://127.0.0.1:4200") == 200
