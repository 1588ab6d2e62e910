"""`infold doctor`: what a newcomer needs to know about their vault, each line with what to do."""

from __future__ import annotations

from infold.cli.options import Call, command


@command
def doctor(call: Call) -> int:
    """Examine vault, settings and state, and say what to do about what is found. Changes nothing in the vault."""
    return 0
