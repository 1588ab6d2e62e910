"""Whether what is scheduled comes: read from what the serving process writes down, by `flows up` and `infold doctor`.

A scheduler that fails says so in a log alone, and nothing ever runs. Imports no Prefect.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flows.processes import is_alive
from flows.server_folder import ServerFolder

PLANNED_WITHIN_SECONDS: Final = 90.0  # Prefect's scheduler looks once a minute; at new deployments every five seconds
LATE_SECONDS: Final = 180.0
SILENT_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A served flow: its cron fields (None is never), its next planned run (seconds since the epoch), or None.

    `waiting_since` is when a run was due that has not started, None where there is none.
    """

    flow: str
    cron: str | None
    next_run: float | None
    waiting_since: float | None


def scheduled_flows(serving: Mapping[str, Any] | None) -> Iterator[Scheduled]:
    """What the serving process last wrote of each flow; nothing where nothing is served."""
    for flow in (serving or {}).get("flows", ()):
        yield Scheduled(flow["flow"], flow["cron"], flow["next_run"], flow["waiting_since"])


def problems(folder: ServerFolder, now: float | None = None) -> Iterator[str]:
    """A sentence for each schedule that does not do what it says; none where nothing is served or all is well."""
    serving = folder.serving()
    if serving is None:
        return
    now = time.time() if now is None else now
    if now - serving["at"] > SILENT_SECONDS:
        yield f"Nothing was heard of the served flows for {now - serving['at']:.0f} s. See {folder.log}."
        return
    for each in scheduled_flows(serving):
        if each.cron and each.next_run is None and now - serving["since"] > PLANNED_WITHIN_SECONDS:
            yield (
                f"No run of {each.flow} is planned though its schedule is '{each.cron}': the server's scheduler does "
                f"not work, or the schedule never comes. See {folder.log}."
            )
        if each.waiting_since is not None and now - each.waiting_since > LATE_SECONDS:
            yield f"A run of {each.flow} was due and has not started. See {folder.log}."


def is_served(folder: ServerFolder) -> bool:
    """Whether `infold flows up` is there for this vault."""
    record = folder.record()
    return record is not None and is_alive(record.get("pid"))
