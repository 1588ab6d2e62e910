"""The summary of the day, at the end of it."""

from __future__ import annotations

from pathlib import Path

from prefect import flow, runtime

from flows.place import Settings, place_of, turn
from tasks.notebook import summarise_day
from tasks.policy import unseen


@flow(name="daily-summary", flow_run_name="daily summary of {vault.name}", persist_result=False)
async def daily_summary(vault: Path, state: Path, params: Settings = None) -> str:
    """Adds the summary of the day to its log; gives what was done. A run that starts late is of the day it was due."""
    workspace = place_of(vault, state, params)
    due = runtime.flow_run.scheduled_start_time
    async with turn(workspace):
        done = await summarise_day(unseen(workspace), due.astimezone())
    return done.message
