"""The reminder before an agent's context is compacted: its words, once a cycle, and when it was last given.

Spec 3, section 7. An agent asks for it when compaction is near; what it then writes goes through `notebook.pages` and
`notebook.daily`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from infold.notebook.injected_text import REMINDER
from infold.vault.writing import note_writer
from infold.workspace import Workspace

_FILE: Final = "flushes.json"
_MOST_SESSIONS: Final = 200


@dataclass(frozen=True, slots=True)
class Flush:
    """A reminder that was given: to which session, in which of its compaction cycles, when (ISO 8601, UTC)."""

    session: str
    cycle: int
    at: str


def flush_reminder(workspace: Workspace, session: str, cycle: int, now: datetime | None = None) -> str | None:
    """The reminder, to be injected as a silent turn; None where this session has had it in this cycle.

    A cycle is what lies between two compactions, counted by the agent. Raises VaultBusy, StateUnwritable.
    """
    file = workspace.notebook / _FILE
    with note_writer(workspace) as writer:
        known = _load(file)
        if any(flush.session == session and flush.cycle >= cycle for flush in known):
            return None
        at = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
        kept = [flush for flush in known if flush.session != session][-_MOST_SESSIONS + 1 :]
        writer.disk.make_folder(file.parent)
        data = json.dumps([asdict(flush) for flush in (*kept, Flush(session, cycle, at))], ensure_ascii=False)
        writer.disk.write_whole(file, data.encode())
    return REMINDER


def last_flush(workspace: Workspace) -> Flush | None:
    """The reminder that was given last, for status."""
    return max(_load(workspace.notebook / _FILE), key=lambda flush: flush.at, default=None)


def _load(file: Path) -> list[Flush]:
    try:
        known = json.loads(file.read_bytes())
    except (OSError, ValueError):  # lost or damaged, it costs a reminder too many
        return []
    return [found for item in known if (found := _flush(item))] if isinstance(known, list) else []


def _flush(item: Any) -> Flush | None:
    if not isinstance(item, dict):
        return None
    session, cycle, at = item.get("session"), item.get("cycle"), item.get("at")
    if isinstance(session, str) and isinstance(cycle, int) and isinstance(at, str):
        return Flush(session, cycle, at)
    return None
