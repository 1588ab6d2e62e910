"""How the server is reached: over stdin and stdout of a client's own process, or over HTTP on this machine."""

from __future__ import annotations

import hmac
import logging
import secrets
import sys
from typing import TYPE_CHECKING, Any, Final

import anyio

from infold.app import OpenVault
from infold.errors import UsageError
from infold.mcp.server import build_server
from infold.mcp.warm_up import WarmUp
from infold.operations.tool_choice import ToolChoice

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK: Final = frozenset(("127.0.0.1", "localhost", "::1"))
_MAX_BODY_BYTES: Final = 4 * 1024 * 1024


def serve_stdio(vault: OpenVault, choice: ToolChoice) -> None:
    """Serves one client until it closes its end. Only the protocol is written to stdout; everything else to stderr."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    warm_up = WarmUp(vault)
    server = build_server(vault, choice, warm_up)

    async def serve() -> None:
        from mcp.server.stdio import stdio_server

        async with stdio_server() as (incoming, outgoing):
            warm_up.start()
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)


def http_app(vault: OpenVault, choice: ToolChoice, *, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """The streamable HTTP server at /mcp. Host and Origin must be names of this machine, unless a token is asked for.

    Raises UsageError where another address than loopback is to be served without a token.
    """
    from mcp.server.transport_security import TransportSecuritySettings

    if host not in LOOPBACK and not token:
        raise UsageError(
            f"{host} can be reached by others, so a token is needed.", hint="Add --token, or serve on 127.0.0.1."
        )
    names = [*LOOPBACK - {"::1"}, "[::1]"] + ([host] if host not in LOOPBACK and host != "0.0.0.0" else [])  # noqa: S104
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=host in LOOPBACK,
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"http://{name}:*" for name in names],
    )
    warm_up = WarmUp(vault)
    server = build_server(vault, choice, warm_up)
    app: Any = server.streamable_http_app(host=host, transport_security=security, max_request_body_size=_MAX_BODY_BYTES)
    warm_up.start()
    return _with_token(app, token) if token else app


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(32)


def _with_token(app: ASGIApp, token: str) -> ASGIApp:
    """`app` for those who show the token as a bearer."""
    from starlette.responses import PlainTextResponse

    wanted = f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, wanted):
                refused = PlainTextResponse("A token is needed.", 401, {"WWW-Authenticate": "Bearer"})
                await refused(scope, receive, send)
                return
        await app(scope, receive, send)

    return guarded
