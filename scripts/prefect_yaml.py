"""Writes prefect.yaml from the table of served flows: `python -m scripts.prefect_yaml`. A test holds the two equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from flows.deployments import DEPLOYMENTS
from infold.settings import Params

FILE: Final = Path(__file__).resolve().parents[1] / "prefect.yaml"
_HEAD: Final = """\
# For a server of your own, with workers: prefect work-pool create infold --type process; prefect deploy --all;
# INFOLD_SERVED=data/vault:data/state prefect worker start --pool infold, where INFOLD_SERVED names, as absolute paths,
# the only places that a run may work in. Paths are the worker's. For one machine `infold flows up` does all of it.
# Made from flows/deployments.py by `python -m scripts.prefect_yaml`: change it there.
"""


def prefect_yaml() -> str:
    """The whole file: a deployment for each served flow, on its default schedule, in UTC."""
    pull = {"prefect.deployments.steps.set_working_directory": {"directory": "{{ $INFOLD_REPOSITORY }}"}}
    content = {"name": "infold", "pull": [pull], "deployments": [_deployment(n) for n in range(len(DEPLOYMENTS))]}
    return _HEAD + yaml.safe_dump(content, sort_keys=False, width=110)


def _deployment(number: int) -> dict[str, Any]:
    each = DEPLOYMENTS[number]
    cron = each.cron(Params())
    return {
        "name": "vault",
        "description": each.description,
        "entrypoint": each.entrypoint,
        "work_pool": {"name": "infold"},
        "tags": list(each.tags),
        "parameters": {"vault": "data/vault", "state": "data/state"},
        "concurrency_limit": 1,
        **({"schedules": [{"cron": cron, "timezone": "UTC"}]} if cron else {}),
    }


if __name__ == "__main__":
    FILE.write_text(prefect_yaml(), encoding="utf-8")
