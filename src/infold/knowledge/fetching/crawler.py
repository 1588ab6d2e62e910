"""A polite crawler: asks robots.txt first, and leaves each host time between two requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

from infold.errors import FetchFailed, FetchRefused
from infold.knowledge.fetching.addresses import Addresses
from infold.knowledge.fetching.client import USER_AGENT, FetchedPage, FetchLimits, PageClient

if TYPE_CHECKING:
    from protego import Protego

_NAME: Final = USER_AGENT.partition(" ")[0]
_ROBOTS_BYTES: Final = 512 * 1024
_LONGEST_DELAY_SECONDS: Final = 30.0


class Fetcher(Protocol):
    """What brings pages: this crawler, or one with a browser engine behind it."""

    def get(self, url: str, *, etag: str = "", last_modified: str = "") -> FetchedPage:
        """The page at `url`; `is_unchanged` where it is as it was. Raises FetchRefused and FetchFailed."""

    def close(self) -> None:
        """Lets go of what it holds."""


class Crawler:
    """The fetcher of `infold research`. May be used from several threads: those of one host wait for each other."""

    def __init__(
        self,
        addresses: Addresses,
        limits: FetchLimits,
        *,
        delay_seconds: float = 1.0,
        respects_robots: bool = True,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        few = FetchLimits(_ROBOTS_BYTES, limits.timeout_seconds, limits.redirects, retries=0)
        self._robots_client = PageClient(addresses, few, sleep=sleep)
        self._client = PageClient(addresses, limits, before=self._before, sleep=sleep)
        self._delay_seconds = delay_seconds
        self._respects_robots = respects_robots
        self._sleep = sleep
        self._rules: dict[str, Protego | None] = {}
        self._turns: dict[str, float] = {}  # for each origin, when the next request may begin
        self._lock = threading.Lock()
        self._origins: dict[str, threading.Lock] = {}

    def get(self, url: str, *, etag: str = "", last_modified: str = "") -> FetchedPage:
        """The page at `url`. Raises FetchRefused, also where robots.txt says no, and FetchFailed."""
        return self._client.get(url, etag=etag, last_modified=last_modified)

    def close(self) -> None:
        """Lets go of connections."""
        self._client.close()
        self._robots_client.close()

    def _before(self, url: str) -> None:
        """Raises FetchRefused where robots.txt forbids `url`; waits for the host's turn."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            own = self._origins.setdefault(origin, threading.Lock())
        with own:
            rules = self._rules_of(origin) if self._respects_robots else None
        if rules is not None and not rules.can_fetch(url, _NAME):
            raise FetchRefused("The site's robots.txt asks not to fetch the page.")
        asked = float(rules.crawl_delay(_NAME) or 0.0) if rules is not None else 0.0
        self._wait_for_turn(origin, min(max(self._delay_seconds, asked), _LONGEST_DELAY_SECONDS))

    def _rules_of(self, origin: str) -> Protego | None:
        """The site's rules, asked for once; None where it has none. Raises FetchFailed where they cannot be had now."""
        if origin not in self._rules:
            from protego import Protego

            try:
                page = self._robots_client.get(f"{origin}/robots.txt", any_type=True)
            except FetchRefused:
                self._rules[origin] = None
            except FetchFailed as error:
                raise FetchFailed(f"Its robots.txt cannot be had: {error}") from error
            else:
                text = page.body.decode("utf-8", "replace")
                self._rules[origin] = None if page.is_gone else Protego.parse(text)
        return self._rules[origin]

    def _wait_for_turn(self, origin: str, delay_seconds: float) -> None:
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._turns.get(origin, 0.0))
            self._turns[origin] = turn + delay_seconds
        if turn > now:
            self._sleep(turn - now)
