"""What a flow run shows in the UI beside its graph: how far it is, how each paragraph ended, what changed."""

from __future__ import annotations

import asyncio
import time
from typing import Final
from uuid import UUID

from prefect.artifacts import (
    acreate_markdown_artifact,
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
)

from infold.catalogue.sync import CatalogueResult
from infold.inbox.run import Run
from infold.inbox.run_store import RunStore
from infold.inbox.summarising import Summaries
from infold.librarian.spend import Usage

_SECONDS_BETWEEN: Final = 1.0
_MOST_CHARACTERS: Final = 400_000


class ProgressArtifacts:
    """One bar a stage. Updates go out in the background, at most one a second a stage, and never hold the work up."""

    def __init__(self) -> None:
        self._bars: dict[str, asyncio.Task[UUID]] = {}
        self._shown_at: dict[str, float] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    def show(self, stage: str, done: int, total: int) -> None:
        """`done` of `total` of a stage. To be called from the event loop; from elsewhere it is passed over."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        share = 100.0 * done / total if total else 100.0
        now = time.monotonic()
        if stage not in self._bars:
            create = acreate_progress_artifact(progress=share, key=f"infold-{stage}", description=stage.capitalize())
            self._bars[stage] = loop.create_task(create)
        elif done < total and now - self._shown_at[stage] < _SECONDS_BETWEEN:
            return
        else:
            update = loop.create_task(self._update(stage, share))
            self._under_way.add(update)
            update.add_done_callback(self._under_way.discard)
        self._shown_at[stage] = now

    async def close(self) -> None:
        """Waits for what is under way. A bar that could not be shown is no reason for a run to fail."""
        await asyncio.gather(*self._bars.values(), *self._under_way, return_exceptions=True)

    async def _update(self, stage: str, share: float) -> None:
        await aupdate_progress_artifact(await self._bars[stage], progress=share)


async def show_run(run: Run, store: RunStore) -> None:
    """How each paragraph ended, and the report: the same that the command line leads to."""
    rows = [
        {
            "paragraph": record.n,
            "outcome": record.outcome,
            "chunk": record.chunk,
            "note": record.file or "",
            "reason": record.reason or "",
        }
        for record in run.paragraphs
    ]
    told = f"Run {run.id}: {run.status.value}. {run.usage}."
    await acreate_table_artifact(table=rows, key="infold-paragraphs", description=told)
    await acreate_markdown_artifact(markdown=report_page(run, store), key="infold-report", description=told)


def report_page(run: Run, store: RunStore) -> str:
    """The run's report.md, with where its coloured page lies; cut where the server would not take it whole."""
    folder = store.path(run.id)
    report = (folder / "report.md").read_text(encoding="utf-8")
    if len(report) > _MOST_CHARACTERS:
        report = f"{report[:_MOST_CHARACTERS]}\n\n~~~~~~\n\n… cut here: the whole of it is in {folder / 'report.md'}\n"
    return f"In colours: `{folder / 'report.html'}`, or `infold show {run.id}`.\n\n{report}"


async def show_preprocessed(tables: CatalogueResult, summaries: Summaries, usage: Usage) -> None:
    """What was brought up to date, and which files were passed over."""
    rows = [{"file": skipped.path, "reason": skipped.reason} for skipped in tables.skipped]
    rows += [{"file": "", "reason": warning} for warning in summaries.warnings]
    told = (
        f"{tables.scanned} notes: {tables.added} added, {tables.changed} changed, {tables.removed} removed. "
        f"{summaries.made} summaries made, {summaries.kept} kept. {usage}."
    )
    await acreate_table_artifact(table=rows, key="infold-passed-over", description=told)
