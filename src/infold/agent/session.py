"""The session of an agent on disk: one transcript of JSON lines, read and indexed like any other (spec 3, Appendix C).

Beside what was said it holds what belongs to no conversation: the reminder before a compaction, marked as injected, and
where each compaction was. What lies before the last of these is no longer before the agent.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from infold.durable.files import Disk
from infold.durable.locks import vault_lock
from infold.errors import UsageError
from infold.notebook.flush import flush_reminder
from infold.notebook.transcripts import SUFFIX
from infold.text import token_count
from infold.vault.writing import WAIT_SECONDS
from infold.workspace import Workspace

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_COMPACTED: Final = "compaction"
_SAVE: Final = re.compile(
    r"(?:please\s+)?(?:remember|note(?: down)?|write down|log|don['’]t forget)\b(?:\s+that\b)?[\s:,]*(?P<said>\S.*)",
    re.IGNORECASE | re.DOTALL,
)


def to_remember(message: str) -> str | None:
    """What a person's message asks to be written down; None where it asks for nothing of the kind."""
    found = _SAVE.fullmatch(message.strip())
    return found["said"].strip() if found else None


@dataclass(frozen=True, slots=True)
class AgentSession:
    """The session of that name in the vault's folder of sessions."""

    workspace: Workspace
    name: str

    def __post_init__(self) -> None:
        """Raises UsageError for a name that could be a path."""
        if not _NAME.fullmatch(self.name):
            raise UsageError(f"{self.name!r} is no name of a session.", hint="Use a-z, 0-9 and -.")

    @property
    def file(self) -> Path:
        """Its transcript; agents' own are told from those that were added."""
        return self.workspace.sessions / f"agent-{self.name}{SUFFIX}"

    @property
    def path(self) -> str:
        """Its transcript as search shows it."""
        return f"sessions/{self.file.name}"

    def said(self, role: str, text: str) -> None:
        """Adds a turn."""
        self._add({"role": role, "content": text})

    def cycle(self) -> int:
        """How often it was compacted."""
        return sum(record.get("type") == _COMPACTED for record in self._records())

    def tokens(self) -> int:
        """What of it is before the agent: the turns since the last compaction."""
        records = self._records()
        last = max((n for n, record in enumerate(records) if record.get("type") == _COMPACTED), default=-1)
        return sum(token_count(str(record.get("content", ""))) for record in records[last + 1 :])

    def compact(self) -> str | None:
        """Gives the reminder, once a cycle, as a silent turn, then marks the compaction; the reminder, if it was due.

        Whoever has nothing to save writes nothing: the compaction goes on.
        """
        cycle = self.cycle()
        reminder = flush_reminder(self.workspace, self.file.name, cycle)
        if reminder is not None:
            self._add({"role": "system", "content": f"[System] {reminder}", "is_injected": True})
        self._add({"type": _COMPACTED, "cycle": cycle})
        return reminder

    def _records(self) -> list[dict[str, Any]]:
        """What its lines say; one that is damaged is passed over, as `notebook.transcripts` does, and named there."""
        try:
            lines = self.file.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        return [record for line in lines if isinstance(record := _record(line), dict)]

    def _add(self, record: dict[str, Any]) -> None:
        disk = Disk()
        at = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({**record, "timestamp": at}, ensure_ascii=False).encode() + b"\n"
        with vault_lock(self.workspace, WAIT_SECONDS):
            before = self.file.read_bytes() if self.file.exists() else b""
            disk.make_folder(self.file.parent)
            disk.write_whole(self.file, before + line)


def _record(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
