"""`infold serve`: the vault's API and pages, in the browser of this machine."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from infold.cli.options import Call, command
from infold.cli.resident import serving
from infold.environment import Environment
from infold.errors import EnvironmentFault


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
    """Serve the vault's API and pages until Ctrl-C.

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
    with call.vault() as vault, serving(vault):
        app = create_app(vault, host=host, token=token)
        shown = f"[{host}]" if ":" in host else host
        call.terminal.notice(f"http://{shown}:{port}/{f'?token={token}' if token else ''} · Ctrl-C ends it.")
        serve_http(app, host=host, port=port)
    return 0
