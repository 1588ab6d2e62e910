"""Whether this process ends without closing the vectors it has open: a module of its own, which takes no time to load.

The engine takes its files out of the system's memory as it closes them, and whoever opens them next reads them again,
which takes longer than a small change. What was written is durable without that.
"""

from __future__ import annotations

_leaving: list[bool] = []


def leave_open() -> None:
    """From now on the last user's closing flushes and leaves the vectors open, for the process ends at once."""
    _leaving.append(True)


def is_leaving() -> bool:
    """Whether `leave_open` was called."""
    return bool(_leaving)
