"""Where everything lies that infold keeps for a user of this machine: what belongs to no vault, and vaults' state."""

from __future__ import annotations

import os
from pathlib import Path


def state_home() -> Path:
    """INFOLD_STATE_HOME, else a folder in the user's data folder. It need not exist yet."""
    named = os.environ.get("INFOLD_STATE_HOME")
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return platformdirs.user_data_path("infold")
