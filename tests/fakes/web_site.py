"""A small web site on this machine: pages by path, with all that servers do to whoever reads them.

A page is a function of the request's headers that gives status, headers and body (bytes, or an iterable of pieces).
Counts what is asked for and how many bytes of bodies go out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from tests.fakes.http_server import FakeHandler, FakeServer, running

Answer = tuple[int, Mapping[str, str], bytes | Iterable[bytes]]
Page = Callable[[Mapping[str, str]], Answer]


class WebSite:
    """The pages, and what was asked of them."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.asked: Counter[str] = Counter()
        self.sent_bytes = 0
        self.address = ""

    def put(
        self,
        path: str,
        body: bytes | str,
        *,
        etag: str = "",
        changed: str = "",
        kind: str = "text/html; charset=utf-8",
        **headers: str,
    ) -> None:
        """A page with a body, answered 304 where its ETag, or the day it changed, is still the one asked about."""
        data = body.encode() if isinstance(body, str) else body

        def page(asked: Mapping[str, str]) -> Answer:
            if etag and asked.get("if-none-match") == etag:
                return 304, {"ETag": etag}, b""
            if changed and asked.get("if-modified-since") == changed:
                return 304, {"Last-Modified": changed}, b""
            told = {"ETag": etag} if etag else {"Last-Modified": changed} if changed else {}
            return 200, {"Content-Type": kind, **told, **headers}, data

        self.pages[path] = page

    def answer(self, path: str, status: int, body: bytes | Iterable[bytes] = b"", **headers: str) -> None:
        """A page that always answers the same."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = lambda _: (status, named, body)

    def url(self, path: str) -> str:
        """The address of a page."""
        return f"{self.address}{path}"


@contextmanager
def serving(site: WebSite) -> Iterator[WebSite]:
    """The site, answering on a port of its own."""

    class Handler(FakeHandler):
        wbufsize = 0  # each piece goes out by itself

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            site.asked[path] += 1
            page = site.pages.get(path)
            asked = {name.lower(): value for name, value in self.headers.items()}
            status, headers, body = page(asked) if page else (404, {}, b"")
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if isinstance(body, bytes):
                self.send_header("Content-Length", str(len(body)))
                body = (body,)
            else:
                self.send_header("Connection", "close")
                self.close_connection = True
            self.end_headers()
            try:
                for piece in body:
                    site.sent_bytes += len(piece)
                    self.wfile.write(piece)
            except OSError:
                self.close_connection = True

    with running(FakeServer(("127.0.0.1", 0), Handler)) as server:
        site.address = server.url
        yield site
