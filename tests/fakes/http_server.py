"""What every fake server is made of: many callers at once, nothing printed, each answer sent whole."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

Server = TypeVar("Server", bound="FakeServer")


class FakeServer(ThreadingHTTPServer):
    """A server on this machine; `url` is its address."""

    daemon_threads = True
    request_queue_size = 128  # a longer queue of callers than the five of the library: a sixth would wait for a second

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class FakeHandler(BaseHTTPRequestHandler):
    """Answers over connections that stay open."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body leave together, else Nagle's algorithm adds 40 ms

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def reply(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """One answer."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Silent."""


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Serves from a thread until the end."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
