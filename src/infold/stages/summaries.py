"""Stage `summaries`: a summary for every note of the snapshot. They persist: only changed notes are asked for.

The metrics say how the summaries are, not how many were made this time: that differs from run to run.
"""

from __future__ import annotations

import asyncio
import json

from infold.app import open_steps
from infold.catalogue.summaries import SummaryStore
from infold.inbox.summarising import Summaries
from infold.stages.repository import Repository, replace_file, run_stage
from infold.text import word_count
from infold.workspace import Workspace


def main(repository: Repository) -> str:
    """The stage."""
    summaries = asyncio.run(_summarise(repository.snapshot))
    settle(repository, summaries)
    return "\n".join([f"summaries: {summaries.made} made, {summaries.kept} kept", *summaries.warnings])


def settle(repository: Repository, summaries: Summaries) -> None:
    """Leaves the summaries of the snapshot alone in the dataset, and their measures where DVC and git find them."""
    SummaryStore(repository.snapshot.summaries).settle(summaries.keys)
    target = repository.snapshot.params.summary.summary_target_words
    metrics = json.dumps(measure(summaries, target), indent=2, sort_keys=True)
    replace_file(repository.metrics / "summaries.json", f"{metrics}\n".encode())


def measure(summaries: Summaries, target_words: tuple[int, int]) -> dict[str, int | float]:
    """How many summaries there are, and how many within the words asked for; the others are short notes themselves."""
    low, high = target_words
    counts = [word_count(summary) for summary in summaries.by_path.values()]
    return {
        "notes": len(counts),
        "in_length": sum(low <= count <= high for count in counts),
    }


async def _summarise(place: Workspace) -> Summaries:
    async with open_steps(place) as steps:
        return await steps.sync_summaries()


if __name__ == "__main__":
    run_stage(main)
