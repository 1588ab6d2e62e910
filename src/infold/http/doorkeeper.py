"""Who may ask: this machine's own pages and programs, or whoever shows the token. In front of everything else.

A page of another site that the person visits can make a browser send requests here. So a request must name this server
as its Host (DNS rebinding), what changes something must not come from another origin, and pages may load nothing from
elsewhere and run no script of their own text.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from infold.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK: Final = frozenset(("127.0.0.1", "localhost", "::1"))
COOKIE: Final = "infold_token"
MAX_BODY_BYTES: Final = 16 * 1024 * 1024
ANY_HOST: Final = frozenset(("0.0.0.0", "::"))  # noqa: S104 - listens everywhere, so it has many names
BODY_SECONDS: Final = 60.0  # for the whole body; then whoever sends it so slowly is let go
_SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer a browser sends the forms of these pages with Origin: null
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """ASGI middleware: refuses what may not come in, and says so in one sentence; adds headers to what goes out.

    `hosts` are the names by which this server may be called, None for any; with `token` every request must show it: as
    a bearer, as the cookie, or once as `?token=` in the address, which sets the cookie.
    """

    app: ASGIApp
    hosts: frozenset[str] | None = LOOPBACK
    token: str | None = None
    body_seconds: float = BODY_SECONDS
    body_bytes: int = MAX_BODY_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or answers it here."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        cookie = self._first_visit(scope)
        await self.app(scope, _bounded(receive, self.body_seconds, self.body_bytes), _with_headers(send, cookie))

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        if self.hosts is not None and _name(headers.get("host", "")) not in self.hosts:
            return 421, "This server is not called by that name."
        if scope["method"] not in _SAFE and not self._is_own_origin(headers):
            return 403, "A page of another site may not change anything here."
        length = headers.get("content-length") or "0"
        if not (length.isascii() and length.isdigit()):
            return 400, "The content-length is no number."
        if int(length) > self.body_bytes:
            return 413, f"A request may have at most {self.body_bytes} bytes."
        if self.token is not None and not self._shows_token(scope, headers):
            return 401, "A token is needed: show it as a bearer, or open the address that was printed."
        return None

    def _is_own_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether a browser says that a page of this server sent this. Programs say nothing about it, and may."""
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return False
        origin = headers.get("origin")
        return origin is None or urlsplit(origin).netloc == headers.get("host")

    def _shows_token(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        shown = [headers.get("authorization", "").removeprefix("Bearer "), _cookie(headers), _in_address(scope)]
        return any(hmac.compare_digest(each.encode(), (self.token or "").encode()) for each in shown if each)

    def _first_visit(self, scope: Scope) -> str | None:
        """The cookie to set for whoever came with the token in the address."""
        if self.token is None or not _in_address(scope):
            return None
        return f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"


def guarded(app: ASGIApp, *, host: str, token: str | None, body_bytes: int = MAX_BODY_BYTES) -> Doorkeeper:
    """`app` behind a doorkeeper, to be served on `host`.

    Raises UsageError where an address that others can reach is to be served without a token.
    """
    if host not in LOOPBACK and not token:
        raise UsageError(
            f"{host} can be reached by others, so a token is needed.", hint="Add --token, or serve on 127.0.0.1."
        )
    names = None if host in ANY_HOST else LOOPBACK | {host}
    return Doorkeeper(app, names, token, body_bytes=body_bytes)


def _name(host: str) -> str:
    """The host without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] or host


def _cookie(headers: Mapping[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _in_address(scope: Scope) -> str:
    return next(iter(parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])), "")


def _bounded(receive: Receive, seconds: float, most_bytes: int) -> Receive:
    """`receive` that ends a body which grows past the bound, or takes longer than `seconds`."""
    seen, is_whole = 0, False
    until = asyncio.get_running_loop().time() + seconds

    async def next_part() -> Message:
        nonlocal seen, is_whole
        if is_whole:  # what is still to come is that the client goes
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        seen += len(message.get("body", b""))
        if seen > most_bytes:
            return {"type": "http.disconnect"}
        is_whole = not message.get("more_body", False)
        return message

    return next_part


def _with_headers(send: Send, cookie: str | None) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.decode("latin-1").lower() for name, _ in message["headers"]}
            more = [(name, value) for name, value in _HEADERS.items() if name not in given]
            more += [("set-cookie", cookie)] if cookie else []
            message = {**message, "headers": [*message["headers"], *_encoded(more)]}
        await send(message)

    return guarded


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def _refuse(send: Send, status: int, message: str) -> None:
    error = {"error": {"type": "Refused", "message": message, "hint": ""}}
    asked = [("www-authenticate", "Bearer")] if status == 401 else []
    headers = _encoded([("content-type", "application/json"), ("connection", "close"), *asked, *_HEADERS.items()])
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(error).encode()})
