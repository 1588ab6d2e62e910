"""Whether there is anything that a stopped process left. A glance, because every command takes it at its start."""

from __future__ import annotations

import os
from typing import Final

from infold.workspace import Workspace

PENDING: Final = ".pending"  # beside the folders of changes: one empty file a change that is not finished
EARLIER_WRITES: Final = "writes"  # what an earlier infold kept of the notebook's writes
EARLIER_UNDER_WAY: Final = "under-way.json"


def is_unfinished(workspace: Workspace) -> bool:
    """Whether a change is to be finished, or kept records of an earlier infold to be taken up."""
    try:
        if os.listdir(workspace.runs / PENDING):  # noqa: PTH208 - only whether there is one
            return True
    except OSError:
        pass
    return has_earlier_records(workspace)


def has_earlier_records(workspace: Workspace) -> bool:
    """Whether there is anything to take up."""
    return (workspace.notebook / EARLIER_WRITES).is_dir() or (workspace.notebook / EARLIER_UNDER_WAY).exists()
