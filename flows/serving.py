"""The process that serves the flows of one vault: `python -m flows.serving`, started and ended by `flows.serve`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flows.serve import ready_file
from tasks.environment import configure

if TYPE_CHECKING:
    from prefect.schedules import Schedule

SERVED = ("integrate", "preprocess", "sessions", "daily-summary", "memory")
_MOST_AT_ONCE = 2
_SECONDS_BETWEEN_LOOKS = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until it is ended."""
    configure()
    parser = argparse.ArgumentParser(prog="python -m flows.serving", description=__doc__)
    for name in ("vault", "state", "inbox"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--params", required=True, help="parameters as JSON")
    parser.add_argument("--cron")
    asyncio.run(_serve(parser.parse_args(arguments)))


async def _serve(chosen: argparse.Namespace) -> None:
    from prefect.runner import Runner
    from prefect.types.entrypoint import EntrypointType

    from flows.daily_summary import daily_summary
    from flows.integrate import integrate
    from flows.memory import memory
    from flows.preprocess import preprocess
    from flows.sessions import sessions
    from infold.settings import Params

    params = Params.model_validate_json(chosen.params)
    place = {"vault": str(chosen.vault), "state": str(chosen.state), "params": json.loads(chosen.params)}
    await mark_crashed_runs()
    runner = Runner(name="infold", limit=_MOST_AT_ONCE, query_seconds=_SECONDS_BETWEEN_LOOKS, pause_on_shutdown=False)
    # As deployments, not as flows of this process: the latter would be pickled for each run.
    inbox = await integrate.ato_deployment(
        name="inbox",
        schedules=scheduled(chosen.cron),
        parameters={**place, "inbox": str(chosen.inbox)},
        description="Folds the inbox into the notes it belongs in.",
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    vault = await preprocess.ato_deployment(
        name="vault",
        parameters=place,
        description="Brings tables, summaries and index up to date.",
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    transcripts = await sessions.ato_deployment(
        name="sessions",
        schedules=scheduled(params.notebook.sessions_cron),
        parameters=place,
        description="Indexes the transcripts of conversations.",
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    summary = await daily_summary.ato_deployment(
        name="daily-summary",
        schedules=scheduled(params.notebook.summary_cron),
        parameters=place,
        description="Adds the summary of the day to its log.",
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    trees = await memory.ato_deployment(
        name="memory",
        schedules=scheduled(params.docmem.cron),
        parameters=place,
        description="Indexes and summarises memory trees.",
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    for deployment in (inbox, vault, transcripts, summary, trees):
        await runner.aadd_deployment(deployment)
    ready_file().write_text(str(os.getpid()), encoding="utf-8")
    await runner.start()


def scheduled(cron: str | None) -> list[Schedule]:
    """The schedule of five fields, in this machine's time zone: Prefect's own is UTC. None and '' are no schedule."""
    from prefect.schedules import Cron
    from tzlocal import get_localzone_name

    return [Cron(cron, timezone=get_localzone_name())] if cron else []


async def mark_crashed_runs() -> int:
    """Runs that still count as running belong to processes that ended with the former server; says how many."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import (
        FlowFilter,
        FlowFilterName,
        FlowRunFilter,
        FlowRunFilterState,
        FlowRunFilterStateType,
    )
    from prefect.client.schemas.objects import StateType
    from prefect.states import Crashed

    unfinished = [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]
    async with get_client() as client:
        runs = await client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=list(SERVED))),
            flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=unfinished))),
        )
        for run in runs:
            message = "The process that carried this run out has ended. Run it again: what was paid for is kept."
            await client.set_flow_run_state(run.id, Crashed(message=message), force=True)
    return len(runs)


if __name__ == "__main__":
    main()
