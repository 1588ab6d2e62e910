"""What is kept of old changes, and forgetting it."""

from __future__ import annotations

from pydantic import Field

from infold.app import OpenVault
from infold.errors import StateUnwritable, VaultBusy
from infold.inbox.pruning import old_changes, prune, room
from infold.operations.contract import Effect, Group, Message
from infold.operations.inbox import RunSummary, run_summary
from infold.operations.table import operation


class RunPruneRequest(Message):
    """What is old."""

    days: int = Field(default=90, ge=0)
    """Changes made more than so many days ago."""
    keep: int = Field(default=20, ge=1)
    """The newest so many stay, however old they are."""
    dry_run: bool = True
    """Only say what would go."""


class RunPruneAnswer(Message):
    """What went, or would go."""

    runs: tuple[RunSummary, ...]
    bytes_freed: int
    dry_run: bool


@operation(Group.INBOX, Effect.DESTROYS, errors=(VaultBusy, StateUnwritable))
def run_prune(vault: OpenVault, request: RunPruneRequest) -> RunPruneAnswer:
    """Forget old changes, with their reports and all that is kept to take them back. No note changes.

    Unless `dryRun` is false it only says what would go. Changes that stay can all be undone as before.
    """
    do = old_changes if request.dry_run else prune
    old = do(vault.workspace, request.days, request.keep)
    return RunPruneAnswer(
        runs=tuple(run_summary(each.change) for each in old), bytes_freed=room(old), dry_run=request.dry_run
    )
