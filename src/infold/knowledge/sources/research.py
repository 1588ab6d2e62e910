"""Brings sources up to date: asks only for what changed, keeps it whole, and says of each address what came of it.

Each address is a step of its own that may be run anywhere and again: what one that was stopped had kept stays kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from infold.durable.records import moment
from infold.errors import FetchFailed, FetchFault, FetchRefused
from infold.knowledge.fetching.addresses import Addresses
from infold.knowledge.fetching.browser import BrowserFetcher
from infold.knowledge.fetching.client import FetchLimits
from infold.knowledge.fetching.crawler import Crawler, Fetcher
from infold.knowledge.reading.local_folder import SCHEME, checked_folder, folder_url, read_local
from infold.knowledge.reading.page import read_page
from infold.knowledge.reading.records import SourceText
from infold.knowledge.reading.repository import is_repository, read_repository
from infold.knowledge.sources.records import SourceRecord
from infold.knowledge.sources.store import SourceStore
from infold.librarian.offline.summaries import extract
from infold.settings import ResearchParams
from infold.text import word_count

Status = Literal["new", "changed", "unchanged", "gone", "refused", "failed"]

_COMPRESSED_SHARE = 0.25  # of the words
_CLONE_SECONDS = 6  # times the time of a page


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What came of one address. `record` is what is kept of it now, None where nothing is; `reason` says why not more.

    `pages` are the addresses that a sitemap at `url` names, as far as they may be taken.
    """

    url: str
    status: Status
    record: SourceRecord | None = None
    reason: str = ""
    pages: tuple[str, ...] = ()


class Researcher:
    """Fetches into a store. May be used from several threads."""

    def __init__(
        self,
        store: SourceStore,
        fetcher: Fetcher,
        addresses: Addresses,
        params: ResearchParams,
        own: Sequence[Path] = (),
    ) -> None:
        self._store, self._fetcher, self._addresses, self._params = store, fetcher, addresses, params
        self._own = own

    @classmethod
    def opened(
        cls,
        store: SourceStore,
        params: ResearchParams,
        allowed_hosts: Sequence[str] = (),
        own: Sequence[Path] = (),
        browser: str = "",
    ) -> Researcher:
        """One that fetches over HTTP, within the limits of `params`; `own` are folders that are never a source.

        `browser` is the program that shows the pages of `research.browser_for`; else the system's.
        """
        addresses = Addresses(allowed_hosts)
        limits = FetchLimits(params.max_page_bytes, params.timeout_seconds, params.max_redirects, params.max_retries)
        crawler = Crawler(addresses, limits, delay_seconds=params.delay_seconds, respects_robots=params.robots)
        shown = params.browser_for.split(",")
        fetcher = BrowserFetcher(crawler, addresses, limits, shown, browser) if params.browser_for.strip() else crawler
        return cls(store, fetcher, addresses, params, own)

    def close(self) -> None:
        """Lets go of connections."""
        self._fetcher.close()

    def fetch_all(self, urls: Iterable[str], done: Callable[[FetchReport], None] | None = None) -> list[FetchReport]:
        """Every address, side by side; a sitemap's pages follow it, up to `research.max_pages` of its own host.

        One that fails stops no other. `done` is told of each as it ends.
        """
        reports: dict[str, FetchReport] = {}
        waiting = list(dict.fromkeys(url.strip() for url in urls if url.strip()))
        with ThreadPoolExecutor(self._params.concurrency) as pool:
            while waiting:
                onward: list[str] = []
                for report in pool.map(self.fetch, waiting):
                    reports[report.url] = report
                    onward += report.pages
                    if done is not None:
                        done(report)
                waiting = [url for url in dict.fromkeys(onward) if url not in reports]
        return list(reports.values())

    def fetch(self, url: str) -> FetchReport:
        """Brings one address up to date. Never raises for what one address can be."""
        known = self._store.find(url)
        try:
            return self._fetched(url, known)
        except FetchRefused as error:
            return FetchReport(url, "refused", known, _told(error))
        except FetchFault as error:
            return FetchReport(url, "failed", known, _told(error))

    def keep_folder(self, folder: Path) -> FetchReport:
        """Packs a folder of this machine as one source. Raises FetchRefused and FetchFailed."""
        checked = checked_folder(folder, self._own)
        text = read_local(
            checked,
            timeout_seconds=_CLONE_SECONDS * self._params.timeout_seconds,
            most_bytes=self._params.max_page_bytes,
        )
        url = folder_url(checked)
        kept = self._store.keep(url, self._as_set(text), moment(), final_url=str(checked))
        return FetchReport(url, kept.outcome, kept.record)

    def _fetched(self, url: str, known: SourceRecord | None) -> FetchReport:
        if known is not None and url.startswith(SCHEME):
            return self.keep_folder(Path(known.final_url))
        if is_repository(url):
            text = read_repository(
                url,
                self._addresses,
                timeout_seconds=_CLONE_SECONDS * self._params.timeout_seconds,
                most_bytes=self._params.max_page_bytes,
            )
            kept = self._store.keep(url, self._as_set(text), moment())
            return FetchReport(url, kept.outcome, kept.record)
        etag, modified = (known.etag, known.last_modified) if known is not None else ("", "")
        page = self._fetcher.get(url, etag=etag, last_modified=modified)
        if page.is_unchanged and known is not None:
            return FetchReport(url, "unchanged", self._store.unchanged(known, moment()).record)
        if page.is_gone:
            if known is None:
                raise FetchRefused(f"{url}: The server answers {page.status}: there is no such page.")
            return FetchReport(url, "gone", self._store.gone(known, moment()).record, "the server has it no more")
        if page.status != 200:
            raise FetchFailed(f"{url}: The server answers {page.status} to a question without conditions.")
        text = read_page(page)
        if text.kind == "sitemap":
            return self._sitemap(url, text, page.url)
        kept = self._store.keep(
            url, self._as_set(text), moment(), final_url=page.url, etag=page.etag, last_modified=page.last_modified
        )
        return FetchReport(url, kept.outcome, kept.record)

    def _sitemap(self, url: str, text: SourceText, final_url: str) -> FetchReport:
        host = urlsplit(final_url).netloc
        pages = [page for page in text.links if urlsplit(page).netloc == host and page != url]
        taken = pages[: self._params.max_pages]
        left = len(text.links) - len(taken)
        reason = f"a sitemap: {len(taken)} pages taken" + (f", {left} left out" if left else "")
        return FetchReport(url, "unchanged", None, reason, tuple(taken))

    def _as_set(self, text: SourceText) -> SourceText:
        if self._params.keep == "whole":
            return text
        words = max(75, int(word_count(text.text) * _COMPRESSED_SHARE))
        return text._replace(text=extract(text.text, words, words + 40) + "\n")


def stale(store: SourceStore, watch_days: float, now: datetime | None = None) -> list[SourceRecord]:
    """The watched sources that were not looked at for `watch_days`, longest first."""
    limit = ((now or datetime.now(UTC)) - timedelta(days=watch_days)).isoformat(timespec="seconds")
    return sorted(
        (record for record in store if record.is_watched and record.checked < limit),
        key=lambda record: (record.checked, record.url),
    )


def _told(error: FetchFault) -> str:
    return f"{error} {error.hint}".strip()
