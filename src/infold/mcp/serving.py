"""How the server is reached: over stdin and stdout of a client's own process, or over HTTP on this machine."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, Final

import anyio

from infold.app import OpenVault
from infold.http.doorkeeper import guarded
from infold.mcp.server import build_server
from infold.mcp.warm_up import WarmUp
from infold.operations.tool_choice import ToolChoice

if TYPE_CHECKING:
    from starlette.types import ASGIApp

MOST_BODY_BYTES: Final = 4 * 1024 * 1024
MOST_SESSIONS: Final = 200


def serve_stdio(vault: OpenVault, choice: ToolChoice) -> None:
    """Serves one client until it closes its end. Only the protocol is written to stdout; everything else to stderr."""
    to_stderr = logging.StreamHandler(sys.stderr)
    to_stderr.setLevel(logging.WARNING)
    logging.basicConfig(handlers=[to_stderr], level=logging.WARNING)
    warm_up = WarmUp(vault)
    server = build_server(vault, choice, warm_up)

    async def serve() -> None:
        from mcp.server.stdio import stdio_server

        async with stdio_server() as (incoming, outgoing):
            warm_up.start()
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)


def http_app(vault: OpenVault, choice: ToolChoice, *, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """The streamable HTTP server at /mcp, behind the same doorkeeper as the pages.

    Raises UsageError where another address than loopback is to be served without a token.
    """
    from mcp.server.transport_security import TransportSecuritySettings

    warm_up = WarmUp(vault)
    server = build_server(vault, choice, warm_up)
    checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the doorkeeper has looked
    app: Any = server.streamable_http_app(
        host=host, transport_security=checked, max_request_body_size=MOST_BODY_BYTES, max_sessions=MOST_SESSIONS
    )
    door = guarded(app, host=host, token=token, body_bytes=MOST_BODY_BYTES)
    warm_up.start()
    return door
