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
}


def configure(api_url: str | None = None) -> None:
    """Sets what is not set yet; `api_url` names the server to talk to. To be called before `import prefect`."""
    for name, value in {"PREFECT_HOME": str(home()), **QUIET}.items():
        os.environ.setdefault(name, value)
    if api_url:
        os.environ["PREFECT_API_URL"] = api_url


def home() -> Path:
    """Where Prefect keeps its database: PREFECT_HOME, else a folder beside the state of all vaults."""
    if named := os.environ.get("PREFECT_HOME"):
        return Path(named)
    if kept := os.environ.get("INFOLD_STATE_HOME"):
        return Path(kept).expanduser().absolute() / "prefect"
    import platformdirs

    return platformdirs.user_data_path("infold") / "prefect"
