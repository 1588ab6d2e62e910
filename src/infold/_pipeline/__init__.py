"""Where an installed infold keeps the packages `flows` and `tasks`: in here, not among everybody's top-level modules.

In a checkout they stand at its top, and this folder holds nothing else. Who runs infold calls `mount` first.
"""

from __future__ import annotations

import sys
from pathlib import Path


def mount() -> None:
    """Makes `flows` and `tasks` importable in this process, where infold is installed from a wheel."""
    folder = Path(__file__).parent
    if (folder / "flows").is_dir() and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
