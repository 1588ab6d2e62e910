"""Spec 4, External Knowledge: sources that are watched are looked at by schedule; only what changed is transferred."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import closing
from pathlib import Path

from prefect import flow, get_run_logger

from flows.place import Settings, place_of, turn
from infold.environment import Environment
from infold.errors import FetchFailed
from infold.knowledge.sources.research import FetchReport, Researcher, stale
from infold.knowledge.sources.store import SourceStore
from tasks.policy import carried_out, unseen
from tasks.research import fetch_source


@flow(name="research", flow_run_name="research of {vault.name}", persist_result=False)
async def research(vault: Path, state: Path, params: Settings = None, urls: tuple[str, ...] = ()) -> dict[str, int]:
    """Brings in `urls`, else the watched sources that were not looked at for long; how many ended in which way."""
    workspace = place_of(vault, state, params)
    settings = workspace.params.research
    async with turn(workspace):
        store = SourceStore(workspace.sources)
        wanted = list(urls) or [record.url for record in stale(store, settings.watch_days)]
        environment = Environment()
        hosts, own = environment.fetch_hosts.split(","), (workspace.vault, workspace.state)
        with closing(Researcher.opened(store, settings, hosts, own, environment.browser)) as researcher:
            ended = await _all(researcher, store, wanted, settings.concurrency)
    return dict(Counter(report.status for report in ended))


async def _all(researcher: Researcher, store: SourceStore, urls: list[str], concurrency: int) -> list[FetchReport]:
    """A task an address, so many side by side; then the pages that sitemaps among them name."""
    room = asyncio.Semaphore(concurrency)

    async def fetched(url: str) -> FetchReport:
        async with room:
            try:
                report: FetchReport = (await carried_out(fetch_source, unseen(researcher), url))[0]
            except FetchFailed as error:
                report = FetchReport(url, "failed", store.find(url), str(error))
        if report.reason:
            get_run_logger().warning(report.reason)
        return report

    known = dict.fromkeys(urls)
    ended: list[FetchReport] = await asyncio.gather(*map(fetched, known))
    pages = dict.fromkeys(page for report in ended for page in report.pages if page not in known)
    return [*ended, *await asyncio.gather(*map(fetched, pages))]
