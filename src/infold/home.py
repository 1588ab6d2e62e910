"""Where everything lies that infold keeps for a user of this machine: what belongs to no vault, and vaults' state."""

from __future__ import annotations

from pathlib import Path

from infold.place import home_of_states


def state_home() -> Path:
    """INFOLD_STATE_HOME, else a folder in the user's data folder. It need not exist yet."""
    return Path(home_of_states())
