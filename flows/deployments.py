"""Which flows are served: the one list, read by `flows.serving`, `infold flows up`, `infold doctor` and prefect.yaml.

Imports no Prefect. A flow is added by one row here and one field of `settings.SchedulesParams`; the deployment carries
the vault's name, so that the UI tells two vaults apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from infold.settings import Params
from infold.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Deployment:
    """One served flow. `setting` is its field of `schedules`; `tags` let the UI filter by what a run does."""

    flow: str
    setting: str
    entrypoint: str
    description: str
    tags: tuple[str, ...]
    takes_inbox: bool = False

    def cron(self, params: Params) -> str | None:
        """When it runs; None is never."""
        value: str | None = getattr(params.schedules, self.setting)
        return value

    def parameters(self, workspace: Workspace) -> dict[str, Any]:
        """What each of its runs is started with: paths and settings only, for the server keeps them."""
        place: dict[str, Any] = {"vault": str(workspace.vault), "state": str(workspace.state)}
        if self.takes_inbox:
            place["inbox"] = str(workspace.inbox)
        return place | {"params": json.loads(workspace.params.model_dump_json(exclude_defaults=True))}


DEPLOYMENTS: Final = (
    Deployment(
        "integrate",
        "integrate",
        "flows/integrate.py:integrate",
        "Folds the inbox into the notes it belongs in.",
        ("infold", "writes notes"),
        takes_inbox=True,
    ),
    Deployment(
        "preprocess",
        "preprocess",
        "flows/preprocess.py:preprocess",
        "Brings tables, summaries and index up to date.",
        ("infold", "derives"),
    ),
    Deployment(
        "sessions",
        "sessions",
        "flows/sessions.py:sessions",
        "Indexes the transcripts of conversations.",
        ("infold", "derives"),
    ),
    Deployment(
        "memory",
        "memory",
        "flows/memory.py:memory",
        "Indexes and summarises memory trees.",
        ("infold", "derives"),
    ),
    Deployment(
        "daily-summary",
        "daily_summary",
        "flows/daily_summary.py:daily_summary",
        "Adds the summary of the day to its log.",
        ("infold", "writes notes"),
    ),
    Deployment(
        "research",
        "research",
        "flows/research.py:research",
        "Looks at the watched sources from outside for what changed.",
        ("infold", "brings in"),
    ),
    Deployment(
        "evaluate",
        "evaluate",
        "flows/evaluate.py:evaluate",
        "Measures how well text is filed and found, on copies, and shows the trend.",
        ("infold", "measures"),
    ),
)
FLOW_NAMES: Final = tuple(each.flow for each in DEPLOYMENTS)


def schedules(params: Params) -> Iterator[tuple[str, str | None]]:
    """Every served flow with its cron fields; None is never."""
    return ((each.flow, each.cron(params)) for each in DEPLOYMENTS)
