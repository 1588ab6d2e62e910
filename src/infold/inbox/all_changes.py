"""Every change of a vault in one list: integrations, writes, logs, new, renamed, deleted and restored notes.

Which one a name means, its difference, and taking it back. What an integration is belongs to `inbox.run`, what the
others are to `durable.change`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from infold.durable.change import Change, Undone
from infold.durable.change_store import SMALL, by_time
from infold.durable.changes import LAST_SMALL, Changes
from infold.errors import RunNotFound
from infold.inbox.run import Run
from infold.inbox.run_store import RunStore
from infold.inbox.runs import undo_run
from infold.inbox.settlement import UndoResult
from infold.workspace import Workspace


def all_changes(workspace: Workspace) -> list[Run | Change]:
    """All that can be read, newest first."""
    found: list[Run | Change] = [*RunStore(workspace.runs).list(), *Changes(workspace).newest_first()]
    return sorted(found, key=lambda change: by_time(change.id), reverse=True)


def find_change(workspace: Workspace, name: str, wanted: Sequence[str] = ()) -> Run | Change:
    """The change of that id or unique beginning; `w-last` is the newest write or log.

    `last` is the newest of all others, if possible of a `wanted` status. Raises RunNotFound.
    """
    if name == LAST_SMALL:
        return Changes(workspace).find(name)
    known = all_changes(workspace)
    if name == "last":
        large = [change for change in known if not change.id.startswith(SMALL)]
        if not large:
            raise RunNotFound(f"There are no runs of {workspace.vault} yet.", hint="`infold integrate` makes one.")
        return next((change for change in large if str(change.status) in wanted), large[0])
    found = [change for change in known if change.id == name] or [c for c in known if c.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    hint = "`infold runs` lists them; of writes and logs the newest 500 are kept."
    if found:
        ids = ", ".join(change.id for change in found[:5])
        raise RunNotFound(f"{len(found)} runs begin with {name!r}: {ids}.", hint=hint)
    raise RunNotFound(f"There is no run {name!r} of {workspace.vault}.", hint=hint)


def undo_change(workspace: Workspace, change: Run | Change) -> UndoResult | Undone:
    """Takes it back, what was written elsewhere in its notes since kept. Raises as its own undo does."""
    if isinstance(change, Run):
        return undo_run(replace(workspace, inbox=workspace.vault / change.inbox), change.id)
    return Changes(workspace).undo(change.id)


def diffs_of(workspace: Workspace, change: Run | Change) -> dict[str, str]:
    """The unified diff of each file that it changed, by path."""
    if isinstance(change, Run):
        return RunStore(workspace.runs).diffs(change)
    return Changes(workspace).diffs(change)
