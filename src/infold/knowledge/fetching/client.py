"""One page over HTTP: resolved, asked for under its conditions, followed, read within bounds, tried again.

Raises FetchRefused for what will not be fetched however often one asks, FetchFailed for what may do later. Robots and
politeness stand before this, see `crawler`; what the bytes say belongs to `infold.knowledge.reading`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from infold.errors import FetchFailed, FetchRefused
from infold.knowledge.fetching.addresses import Addresses
from infold.knowledge.fetching.bodies import ENCODINGS, read_body, too_large

if TYPE_CHECKING:
    import httpx2

USER_AGENT: Final = "infold (reads pages for one person's notes)"
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_GONE: Final = frozenset((404, 410))
_LATER: Final = frozenset((408, 425, 429, 500, 502, 503, 504))
_TYPES: Final = frozenset(
    [
        "text/html",
        "application/xhtml+xml",
        "text/plain",
        "text/markdown",
        "text/x-markdown",
        "application/pdf",
        "application/json",
        "application/xml",
        "text/xml",
        "application/yaml",
        "text/yaml",
        "application/x-yaml",
        "text/x-yaml",
        "application/vnd.oai.openapi",
        "application/vnd.oai.openapi+json",
        "application/rss+xml",
        "application/atom+xml",
        "application/gzip",
    ]
)
_LONGEST_WAIT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """How much, how long, how often."""

    most_bytes: int = 10_000_000
    timeout_seconds: float = 20.0
    redirects: int = 5
    retries: int = 2


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """What came. `status` 304: not changed since the ETag or date given; 404 and 410: gone; else 200 with a body."""

    url: str  # of the page in the end, after redirects
    status: int
    body: bytes = b""
    content_type: str = ""
    charset: str = ""
    etag: str = ""
    last_modified: str = ""

    @property
    def is_unchanged(self) -> bool:
        """Whether the page is as it was."""
        return self.status == 304

    @property
    def is_gone(self) -> bool:
        """Whether the server says that there is no such page."""
        return self.status in _GONE


class PageClient:
    """Fetches pages. May be used from several threads. Nothing of the environment's proxies is used: see Addresses."""

    def __init__(
        self,
        addresses: Addresses,
        limits: FetchLimits,
        *,
        before: Callable[[str], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`before` is called with each address before it is asked, redirects too, and may refuse or wait."""
        import httpx2

        self._addresses = addresses
        self._limits = limits
        self._before = before
        self._sleep = sleep
        # A connection is used once: those of two hosts at one address are not to be taken for each other.
        self._client = httpx2.Client(
            trust_env=False,
            timeout=httpx2.Timeout(limits.timeout_seconds, connect=min(10.0, limits.timeout_seconds)),
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    def close(self) -> None:
        """Lets go of connections."""
        self._client.close()

    def get(self, url: str, *, etag: str = "", last_modified: str = "", any_type: bool = False) -> FetchedPage:
        """The page at `url`, asked for on the condition that it changed where that is known of it.

        Tried again after 429, 5xx and broken connections, waiting as the server says. Raises FetchRefused and
        FetchFailed, each naming `url`.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        retrying = Retrying(
            stop=stop_after_attempt(self._limits.retries + 1),
            retry=retry_if_exception_type(FetchFailed),
            wait=lambda state: _wait(state.outcome.exception() if state.outcome else None, state.attempt_number),
            sleep=self._sleep,
            reraise=True,
        )
        conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        with _naming(url):
            return retrying(self._followed, url, {k: v for k, v in conditions.items() if v}, any_type)

    def _followed(self, url: str, conditions: Mapping[str, str], any_type: bool) -> FetchedPage:
        deadline = time.monotonic() + self._limits.timeout_seconds
        seen = [url]
        while True:
            page, onward = self._once(seen[-1], conditions, deadline, any_type)
            if page is not None:
                return page
            if onward in seen:
                raise FetchRefused("The page redirects in a circle.")
            if len(seen) > self._limits.redirects:
                raise FetchRefused(f"The page redirects more than {self._limits.redirects} times.")
            seen.append(onward)

    def _once(
        self, url: str, conditions: Mapping[str, str], deadline: float, any_type: bool
    ) -> tuple[FetchedPage | None, str]:
        """The page, or where it redirects to."""
        import httpx2

        address = checked_url(url)
        if self._before is not None:
            self._before(url)
        target = httpx2.URL(address)
        port = target.port or (443 if target.scheme == "https" else 80)
        ip = self._addresses.of(target.host, port)
        request = self._client.build_request(
            "GET",
            target.copy_with(host=ip),
            headers={
                "Host": target.netloc.decode("ascii"),
                "User-Agent": USER_AGENT,
                "Accept": "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,*/*;q=0.5",
                "Accept-Encoding": ENCODINGS,
                **conditions,
            },
            extensions={"sni_hostname": target.host},
        )
        try:
            response = self._client.send(request, stream=True)
            try:
                return self._answer(address, response, deadline, any_type)
            finally:
                response.close()
        except httpx2.HTTPError as error:
            raise FetchFailed(f"The page did not come: {str(error) or type(error).__name__}.") from error

    def _answer(
        self, url: str, response: httpx2.Response, deadline: float, any_type: bool
    ) -> tuple[FetchedPage | None, str]:
        import httpx2

        status, headers = response.status_code, response.headers
        if status in _REDIRECTS and "location" in headers:
            onward = str(httpx2.URL(url).join(headers["location"]).copy_with(fragment=None))
            if url.startswith("https:") and onward.startswith("http:"):
                raise FetchRefused(f"The page redirects from https to {onward[:200]}.")
            return None, onward
        if status == 304 or status in _GONE:
            return FetchedPage(url, status), ""
        if status in _LATER:
            raise FetchFailed(f"The server answers {status}.", wait_seconds=_seconds(headers.get("retry-after", "")))
        if status != 200:
            raise FetchRefused(f"The server answers {status}.")
        kind, _, rest = headers.get("content-type", "").partition(";")
        kind = kind.strip().lower()
        if kind and kind not in _TYPES and not any_type:
            raise FetchRefused(f"The page is of type {kind[:80]}, which holds no text to keep.")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._limits.most_bytes:
            raise too_large(self._limits.most_bytes)
        body = read_body(
            response.iter_raw(),
            headers.get("content-encoding", ""),
            self._limits.most_bytes,
            lambda: time.monotonic() > deadline,
        )
        charset = rest.partition("charset=")[2].partition(";")[0].strip("\"' ")
        return FetchedPage(url, 200, body, kind, charset, headers.get("etag", ""), headers.get("last-modified", "")), ""


def checked_url(url: str) -> str:
    """`url` without its fragment. Raises FetchRefused where it is no http or https address, or carries a password."""
    import httpx2

    try:
        found = httpx2.URL(url.strip())
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise FetchRefused(f"This is no web address: {error}.") from error
    if found.scheme not in ("http", "https") or not found.host:
        raise FetchRefused("Only http and https addresses are fetched.")
    if found.userinfo:
        raise FetchRefused("An address with a user name or password is not fetched.")
    return str(found.copy_with(fragment=None))


def _seconds(retry_after: str) -> float:
    return float(retry_after) if retry_after.isdecimal() else 0.0


def _wait(error: BaseException | None, attempt: int) -> float:
    asked = error.wait_seconds if isinstance(error, FetchFailed) else 0.0
    return min(_LONGEST_WAIT_SECONDS, max(asked, float(1 << (attempt - 1))))


@contextmanager
def _naming(url: str) -> Iterator[None]:
    """Puts the address before what is said of it."""
    try:
        yield
    except (FetchRefused, FetchFailed) as error:
        error.args = (f"{url[:300]}: {error}",)
        raise
