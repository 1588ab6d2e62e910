"""`infold serve`: the vault's API and pages, in the browser of this machine."""

from __future__ import annotations

import os
import secrets
import socket
from typing import TYPE_CHECKING, Annotated

import typer

from infold.cli.options import Call, command
from infold.cli.resident import serving
from infold.environment import Environment
from infold.errors import EnvironmentFault

if TYPE_CHECKING:
    from pathlib import Path

    from infold.cli.terminal import Terminal


@command
def serve(
    call: Call,
    *,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where it listens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=1, max=65535, help="The port.")] = 4321,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="What everyone must show, in the address or as a bearer; else INFOLD_SERVE_TOKEN, or one is made.",
        ),
    ] = None,
) -> int:
    """Serve the vault's pages and its API until Ctrl-C: notebook, inbox, search, navigator, memory, sources, settings.

    Only programs and pages of this machine are answered, unless --host names another address; then a token is needed.
    """
    try:
        from infold.http.doorkeeper import LOOPBACK
        from infold.http.server import serve as serve_http
        from infold.web.app import create_app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("infold"):
            raise
        raise EnvironmentFault(
            f"The server needs {error.name}, which is not installed.",
            hint="Install infold with its extra: infold[serve].",
        ) from error
    token = token or Environment().get("INFOLD_SERVE_TOKEN")
    if host not in LOOPBACK and not token:
        token = secrets.token_urlsafe(24)
    _check_free(host, port)
    with call.vault() as vault, serving(vault):
        app = create_app(vault, host=host, token=token)
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        _say(call.terminal, address, f"/?token={token}" if token else "/", vault.workspace.vault)
        serve_http(app, host=host, port=port)
    return 0


def _check_free(host: str, port: int) -> None:
    """Raises EnvironmentFault where something else listens there, or nothing can."""
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise EnvironmentFault(
            f"Nothing can listen on port {port} of {host}: {why}.",
            hint="Name another with --port, or end what runs there.",
        ) from error


def _say(terminal: Terminal, address: str, first: str, vault: Path) -> None:
    """What is served, and where."""
    if terminal.is_json:
        terminal.emit({"page": f"{address}{first}", "api": f"{address}/api/openapi.json", "vault": str(vault)})
    terminal.notice(f"pages  {address}{first}", style="bold")
    terminal.notice(f"API    {address}/api/openapi.json")
    terminal.notice(f"vault  {vault}")
    terminal.notice("Ctrl-C ends it.")
