"""Where everything lies that infold keeps for a user of this machine: what belongs to no vault, and vaults' state."""

from __future__ import annotations

from pathlib import Path

from infold.environment import Environment


def state_home() -> Path:
    """INFOLD_STATE_HOME, else a folder in the user's data folder. It need not exist yet."""
    named = Environment().state_home
    if named:
        return named.absolute()
    import platformdirs

    return platformdirs.user_data_path("infold")
