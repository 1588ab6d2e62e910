"""Pages that are made by their own scripts: read as a browser shows them, with every request through our own client.

The engine itself reaches nothing: each request of a page, whatever makes it, is answered by `PageClient`, which refuses
addresses as for any page, and what a page could send past that meets a dead proxy and a resolver that knows no name.
Pictures, fonts and films are not fetched. One page at a time; each has an engine of its own, so that none sees another.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from infold.errors import ExtraMissing, FetchFailed, FetchFault, FetchRefused
from infold.knowledge.fetching.addresses import Addresses
from infold.knowledge.fetching.bodies import too_large
from infold.knowledge.fetching.client import FetchedPage, FetchLimits, PageClient
from infold.knowledge.fetching.crawler import Fetcher

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

MOST_REQUESTS: Final = 200  # of one page
MOST_DOCUMENTS: Final = 5  # one after another, by scripts that lead on
_QUIET_SECONDS: Final = 0.5
_FETCHED: Final = frozenset(("document", "script", "stylesheet", "xhr", "fetch", "eventsource", "manifest", "other"))
_HTML: Final = ("", "text/html", "application/xhtml+xml")
_PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
_ARGUMENTS: Final = (
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-gpu",
    "--disable-background-networking",
)


class BrowserFetcher:
    """A fetcher that shows some pages in a browser engine, and leaves all others to `crawler`.

    `shown` are patterns (`app.example`, `*.example`, `https://site.example/docs/*`) of hosts or whole addresses.
    Robots, politeness and the type of a page are the crawler's in any case. May be used from several threads.
    """

    def __init__(
        self, crawler: Fetcher, addresses: Addresses, limits: FetchLimits, shown: Sequence[str], program: str = ""
    ) -> None:
        """`program` is the browser to start; else one that the system knows, else playwright's own."""
        self._crawler, self._limits = crawler, limits
        self._shown = tuple(pattern.strip() for pattern in shown if pattern.strip())
        self._program = program or next(filter(None, map(shutil.which, _PROGRAMS)), "")
        self._client = PageClient(addresses, replace(limits, retries=0))
        self._one = threading.Lock()

    def get(self, url: str, *, etag: str = "", last_modified: str = "") -> FetchedPage:
        """The page at `url` as it is shown. Raises FetchRefused, FetchFailed, and ExtraMissing without the engine.

        A page that scripts make is asked for without conditions: that its frame is unchanged says nothing of the rest.
        """
        if not self._is_shown(url):
            return self._crawler.get(url, etag=etag, last_modified=last_modified)
        frame = self._crawler.get(url)
        if frame.status != 200 or frame.content_type not in _HTML:
            return frame
        with self._one:
            return _Showing(self._crawler, self._client, self._limits, self._program, frame).shown()

    def close(self) -> None:
        """Lets go of connections."""
        self._client.close()
        self._crawler.close()

    def _is_shown(self, url: str) -> bool:
        host = urlsplit(url).hostname or ""
        return any(fnmatchcase(host, pattern) or fnmatchcase(url, pattern) for pattern in self._shown)


@dataclass
class _Showing:
    """One page while it is shown: what its scripts asked for so far, and why that was refused."""

    crawler: Fetcher
    client: PageClient
    limits: FetchLimits
    program: str
    frame: FetchedPage
    requests: int = 0
    documents: int = 0
    received_bytes: int = 0
    led_to: str = "too many pages, one after another"

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.limits.timeout_seconds

    def shown(self) -> FetchedPage:
        """The page as its scripts leave it."""
        from playwright.sync_api import Error

        try:
            with _opened(self.program) as page:
                page.route("**/*", self._answer)
                page.route_web_socket("**/*", lambda socket: socket.close())
                page.goto(self.frame.url, wait_until="load", timeout=self._left_ms())
                self._wait_until_quiet(page)
                inner = page.locator(":root").inner_html(timeout=self._left_ms())
                address = page.url
        except Error as error:
            raise FetchFailed(f"{self.frame.url}: The page cannot be shown: {error.message.splitlines()[0]}") from error
        if not address.startswith(("http:", "https:")):
            raise FetchRefused(f"{self.frame.url}: Its script leads on to what was not brought: {self.led_to[:300]}")
        body = f"<!doctype html><html>{inner}</html>".encode("utf-8", "replace")
        if len(body) > self.limits.most_bytes:
            raise too_large(self.limits.most_bytes)
        return FetchedPage(address, 200, body, "text/html", "utf-8")

    def _wait_until_quiet(self, page: Page) -> None:
        """Waits until nothing was asked for some time; a page that never rests is taken as it is by then."""
        most = time.monotonic() + self.limits.timeout_seconds / 2
        seen = -1
        while seen != self.requests and time.monotonic() < min(most, self.deadline):
            seen = self.requests
            page.wait_for_timeout(_QUIET_SECONDS * 1000)

    def _answer(self, route: Route) -> None:
        """Answers one request of the page with what our own client brings, or not at all."""
        self.requests += 1
        request = route.request
        is_allowed = (
            request.method == "GET"
            and request.resource_type in _FETCHED
            and self.requests <= MOST_REQUESTS
            and time.monotonic() < self.deadline
        )
        try:
            found = self._brought(request.url, is_document=request.is_navigation_request()) if is_allowed else None
        except FetchFault as error:  # a part that is refused is missing, as where a browser cannot reach it
            self.led_to, found = str(error), None
        if found is None or found.status != 200:
            route.abort("blockedbyclient")
            return
        self.received_bytes += len(found.body)
        if self.received_bytes > self.limits.most_bytes:
            route.abort("blockedbyclient")
            return
        kind = f"{found.content_type or 'text/html'}; charset={found.charset or 'utf-8'}"
        headers = {"content-type": kind, "access-control-allow-origin": "*"}
        route.fulfill(status=200, headers=headers, body=found.body)

    def _brought(self, url: str, *, is_document: bool) -> FetchedPage | None:
        if not is_document:
            return self.client.get(url, any_type=True)
        self.documents += 1
        if self.documents == 1:
            return self.frame
        return self.crawler.get(url) if self.documents <= MOST_DOCUMENTS else None

    def _left_ms(self) -> float:
        return max(1.0, (self.deadline - time.monotonic()) * 1000)


@contextmanager
def _opened(program: str) -> Iterator[Page]:
    """A page of an engine of its own. Raises ExtraMissing where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise ExtraMissing(
            "Showing pages needs a browser engine's driver, which is not installed.",
            hint="pip install 'infold[browser]'",
        ) from error
    options: dict[str, Any] = {"executable_path": program} if program else {}
    with sync_playwright() as engine:
        browser = engine.chromium.launch(
            args=list(_ARGUMENTS), chromium_sandbox=os.name == "nt" or os.geteuid() != 0, **options
        )
        try:
            context = browser.new_context(service_workers="block", accept_downloads=False, permissions=[])
            yield context.new_page()
        finally:
            browser.close()
