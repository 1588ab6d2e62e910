"""Prefect's settings, put in place before Prefect is first imported. Imports nothing heavy itself.

Nobody's own settings are overridden. Quiet and private: no analytics, no promotion, no page that contacts anyone. No
hidden server either: without a server Prefect would start one for each process, for 14 to 21 seconds, and leave it
behind when the process is killed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

QUIET: Final = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_UI_V2_ENABLED": "false",  # that page contacts a tracker whatever else is set
    "PREFECT_CLI_PROMPT": "false",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "ERROR",  # the rest is in the server, not on the terminal
}
# One record of a task run costs the server 30 ms of CPU when written by itself, 8 ms in batches.
SERVER: Final = {
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    # What runs each minute or each day alike is planned ten runs ahead, and looked at twice a minute.
    "PREFECT_SERVER_SERVICES_SCHEDULER_MAX_RUNS": "10",
    "PREFECT_SERVER_SERVICES_SCHEDULER_MIN_SCHEDULED_TIME": "PT5M",
    "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "30",
    # The slots that running flows hold outlive a restart of the server, or a killed run would hold its own for ever.
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
}


def configure(home: Path | None = None, api_url: str | None = None, auth_string: str | None = None) -> None:
    """Sets what is not set yet, before `import prefect`; a named server and its password win over what was set.

    `home` is where Prefect keeps its own files.
    """
    for name, value in {**({"PREFECT_HOME": str(home)} if home else {}), **QUIET}.items():
        os.environ.setdefault(name, value)
    if api_url:
        os.environ["PREFECT_API_URL"] = api_url
    if auth_string:
        os.environ["PREFECT_API_AUTH_STRING"] = auth_string


def guarding(origin: str, auth_string: str) -> dict[str, str]:
    """The settings of a server that answers its own person and pages alone."""
    return {
        "PREFECT_SERVER_API_AUTH_STRING": auth_string,
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": origin,
    }
