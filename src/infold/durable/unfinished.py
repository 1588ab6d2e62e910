"""Whether there is anything that a stopped process left. A glance, because every command takes it at its start."""

from __future__ import annotations

import os
from typing import Final

from infold.workspace import Workspace

PENDING: Final = ".pending"  # beside the folders of changes: one empty file a change that is not finished


def is_unfinished(workspace: Workspace) -> bool:
    """Whether a change is to be finished."""
    try:
        return bool(os.listdir(workspace.runs / PENDING))  # noqa: PTH208 - only whether there is one
    except OSError:
        return False
