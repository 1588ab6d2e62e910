"""The Prefect server as its own process, `python -m flows.server`: Prefect's application behind a guard.

A server on this machine answers every page that a browser here has open, unless it looks at who asks. The password,
CORS and CSRF are Prefect's, set by `flows.serve`; what Prefect does not check, Host and Origin, is checked in front.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
HOST: Final = "127.0.0.1"


def origin_of(port: int) -> str:
    """The origin of the server's own pages, which is the page a person opens too."""
    return f"http://{HOST}:{port}"


class OwnPagesOnly:
    """Refuses what names another host (DNS rebinding) or comes from another site's page, sockets included."""

    def __init__(self, application: Application, port: int) -> None:
        self._application = application
        self._host = f"{HOST}:{port}"
        self._origin = origin_of(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands the request on, or answers 403; a socket is closed before it opens."""
        if scope["type"] not in {"http", "websocket"} or self._is_own(scope):
            await self._application(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
            said = f"Only this server's own pages may ask. They begin at {self._origin}/\n"
            await send({"type": "http.response.body", "body": said.encode()})

    def _is_own(self, scope: Scope) -> bool:
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        hosts = [value for name, value in headers if name == b"host"]
        origins = [value for name, value in headers if name == b"origin"]
        sites = [value for name, value in headers if name == b"sec-fetch-site"]
        is_page = scope["type"] == "http" and scope["method"] == "GET" and not scope["path"].startswith("/api")
        return (
            hosts == [self._host]
            and all(origin == self._origin for origin in origins)
            # A link from elsewhere may open a page of the UI; it may not ask the API anything.
            and (is_page or all(site in {"same-origin", "none"} for site in sites))
        )


def main() -> None:
    """Serves until it is ended; host and port are Prefect's settings, from the environment."""
    import uvicorn
    from prefect.server.api.server import create_app

    port = int(os.environ["PREFECT_SERVER_API_PORT"])
    uvicorn.run(
        OwnPagesOnly(create_app(final=True), port),
        host=os.environ["PREFECT_SERVER_API_HOST"],
        port=port,
        log_level="error",
        lifespan="on",
    )


if __name__ == "__main__":
    main()
