"""The session of an agent on disk: one transcript of JSON lines, read and indexed like any other (spec 3, Appendix C).

Beside what was said it holds the calls of tools and what they gave, what belongs to no conversation (the reminder
before a compaction and what came of it, marked as injected), and where each compaction was. What lies before the last
of these is no longer before the agent. A line is on disk before the next thing happens: what was killed goes on there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infold.agent.accounting import message_tokens
from infold.durable.files import PRIVATE, Disk, unwritable
from infold.durable.locks import vault_lock
from infold.durable.records import moment
from infold.errors import UsageError
from infold.notebook.flush import flush_reminder
from infold.notebook.transcripts import SUFFIX
from infold.vault.writing import WAIT_SECONDS
from infold.workspace import Workspace

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_PREFIX: Final = "agent-"
_COMPACTED: Final = "compaction"
_SAID: Final = ("role", "content", "tool_calls", "tool_call_id")
_NO_RESULT: Final = "The conversation was stopped before this call ended. Whether it was made is not known."

Record = Mapping[str, Any]


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
        return self.workspace.sessions / f"{_PREFIX}{self.name}{SUFFIX}"

    @property
    def path(self) -> str:
        """Its transcript as search shows it."""
        return f"sessions/{self.file.name}"

    def add(self, record: Record, *, is_injected: bool = False) -> None:
        """Adds what was said, or a call's result; on disk when this returns. Raises VaultBusy, StateUnwritable."""
        marked = {**record, "is_injected": True} if is_injected else dict(record)
        line = json.dumps({**marked, "timestamp": moment()}, ensure_ascii=False).encode() + b"\n"
        with vault_lock(self.workspace, WAIT_SECONDS):
            Disk().make_folder(self.file.parent)
            _append(self.file, line)

    def said(self, role: str, text: str) -> None:
        """Adds a turn."""
        self.add({"role": role, "content": text})

    def cycle(self) -> int:
        """How often it was compacted."""
        return sum(record.get("type") == _COMPACTED for record in self._records())

    def turns(self) -> int:
        """How often the person said something, from the beginning."""
        return sum(record.get("role") == "user" for record in self._records())

    def messages(self) -> list[dict[str, Any]]:
        """What of it is before the agent, as messages to an endpoint: each call has a result."""
        records = self._records()
        last = next((record for record in reversed(records) if record.get("type") == _COMPACTED), {})
        start = int(last.get("from", records.index(last) if last else 0))
        kept = [record for record in records[start:] if record.get("role") and not record.get("is_injected")]
        return list(_answered([{name: record[name] for name in _SAID if name in record} for record in kept]))

    def tokens(self) -> int:
        """What its messages take."""
        return sum(map(message_tokens, self.messages()))

    def reminder(self) -> str | None:
        """The reminder to save what should last, where it is due: once before each compaction."""
        return flush_reminder(self.workspace, self.file.name, self.cycle())

    def compact(self, keeps: int = 0) -> None:
        """Marks a compaction: of what was said before, only the last `keeps` messages stay before the agent."""
        records = self._records()
        spoken = [n for n, each in enumerate(records) if each.get("role") and not each.get("is_injected")]
        start = spoken[-keeps] if 0 < keeps <= len(spoken) else len(records)
        self.add({"type": _COMPACTED, "cycle": self.cycle(), "from": start})

    def _records(self) -> list[Record]:
        """What its lines say; one that is damaged is passed over, as `notebook.transcripts` does, and named there."""
        try:
            lines = self.file.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        return [record for line in lines if isinstance(record := _record(line), dict)]


def last_session(workspace: Workspace) -> str | None:
    """The name of the session that was used last; None where there is none."""
    files = workspace.sessions.glob(f"{_PREFIX}*{SUFFIX}") if workspace.sessions.is_dir() else ()
    latest = max(files, key=lambda file: file.stat().st_mtime_ns, default=None)
    return latest.name.removeprefix(_PREFIX).removesuffix(SUFFIX) if latest else None


def _append(file: Path, line: bytes) -> None:
    """Adds a line; one that a killed process left half written is ended first."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    with unwritable(file), os.fdopen(os.open(file, flags, PRIVATE), "rb+") as stream:
        if stream.seek(0, os.SEEK_END):
            stream.seek(-1, os.SEEK_END)
            line = line if stream.read(1) == b"\n" else b"\n" + line
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())


def _answered(messages: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The messages, with a result for each call that has none: an endpoint refuses a conversation without."""
    waiting: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") in waiting:
                waiting.remove(message["tool_call_id"])
                yield message
            continue
        yield from map(_without_result, waiting)
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        yield message
    yield from map(_without_result, waiting)


def _without_result(call: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": _NO_RESULT}


def _record(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
