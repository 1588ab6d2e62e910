"""Transcripts of conversations (JSON lines) as turns: who said what, when, on which line.

Reads the shapes that are common: messages with `role` and `content`, records that hold such a message, `author` and
`parts`. What is not conversation stays out: system and tool messages, and context that was injected, infold's own above
all, or a search would find what it was itself given. A line that cannot be read is counted and named; a last line that
is still being written waits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from infold.errors import NoteUnreadable
from infold.notebook.injected_text import without_injected

SUFFIX: Final = ".jsonl"
MAX_LINE_BYTES: Final = 64 * 1024 * 1024
TITLE_CHARACTERS: Final = 80
_SPEAKER_CHARACTERS: Final = 80

_USER: Final = frozenset(("user", "human", "me"))
_ASSISTANT: Final = frozenset(("assistant", "model", "ai", "gpt", "bot", "agent"))
_TEXT_BLOCKS: Final = frozenset(("text", "input_text", "output_text"))
_NESTED: Final = ("message", "payload", "data")
_ROLES: Final = ("role", "author", "speaker", "from", "sender", "type")
_CONTENTS: Final = ("content", "text", "value", "message", "parts")
_TIMES: Final = ("timestamp", "created_at", "create_time", "createdAt", "time", "ts", "date")
_DAY: Final = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


class SessionTurn(NamedTuple):
    """What one side said. `line` is the line of the transcript, from 1; `number` counts turns, from 1."""

    number: int
    line: int
    role: str  # user or assistant
    text: str
    at: datetime | None = None  # local time
    speaker: str = ""  # by name, where the transcript names one

    @property
    def named_text(self) -> str:
        """The text, after the speaker's name where there is one: what is asked of a person is found by it."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


class Transcript(NamedTuple):
    """A transcript as it was read. `malformed` are the numbers of lines that are no JSON objects."""

    turns: tuple[SessionTurn, ...]
    sha256: str
    malformed: tuple[int, ...] = ()
    is_being_written: bool = False  # the last line is not whole yet

    @property
    def title(self) -> str:
        """The first line that the user said, else that anybody said; '' where nobody said anything."""
        first = next((turn for turn in self.turns if turn.role == "user"), next(iter(self.turns), None))
        line = first.text.strip().split("\n", 1)[0].strip("# \t") if first else ""
        return line if len(line) <= TITLE_CHARACTERS else f"{line[:TITLE_CHARACTERS].rpartition(' ')[0] or line[:79]}…"

    def day(self, name: str = "") -> str | None:
        """The ISO day it began, local: by its first time, else by the date in its file's `name`."""
        at = next((turn.at for turn in self.turns if turn.at is not None), None)
        if at is not None:
            return at.date().isoformat()
        found = _DAY.search(name)
        try:
            return date.fromisoformat(found[1]).isoformat() if found else None
        except ValueError:
            return None


def read_transcript(file: Path) -> Transcript:
    """The turns of a transcript. Raises NoteUnreadable where the file cannot be read at all."""
    try:
        with file.open("rb") as stream:
            return parse_transcript(stream)
    except OSError as error:
        raise NoteUnreadable(f"{file.name} cannot be read: {error.strerror or error}.") from error


def parse_transcript(stream: BinaryIO) -> Transcript:
    """The same of lines at hand."""
    digest = sha256()
    turns: list[SessionTurn] = []
    malformed: list[int] = []
    is_being_written = False
    for line, data in enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES), b""), start=1):
        digest.update(data)
        if not data.strip():
            continue
        record = _record(data)
        if record is None:
            if data.endswith(b"\n"):
                malformed.append(line)
            else:
                is_being_written = True
            continue
        turns += [SessionTurn(len(turns) + 1, line, *said) for said in _said(record)]
    return Transcript(tuple(turns), digest.hexdigest(), tuple(malformed), is_being_written)


def _record(data: bytes) -> Mapping[str, Any] | None:
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _said(record: Mapping[str, Any]) -> Iterator[tuple[str, str, datetime | None, str]]:
    """Role, text, time and speaker of what a record says; nothing where it is no turn."""
    if record.get("isMeta") or record.get("isSidechain") or record.get("is_injected"):
        return
    at = _time(record)
    message: Mapping[str, Any] = record
    for _ in range(3):  # records hold messages, which some hold in a payload
        inner = next((message[name] for name in _NESTED if isinstance(message.get(name), dict)), None)
        if inner is None or _role(message) == "other" or not (set(inner) & {*_ROLES, *_CONTENTS}):
            break
        message = {**{name: message[name] for name in ("type",) if name in message}, **inner}
        at = at or _time(inner)
    role = _role(message)
    if role not in ("user", "assistant"):
        return
    text = _spoken(next((message[name] for name in _CONTENTS if message.get(name)), None))
    if said := without_injected(text):
        yield role, _whole(said), at, _speaker(message)


def _whole(text: str) -> str:
    """`text`, whose halves of characters (JSON lets them through) are joined, or signs of replacement."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _role(message: Mapping[str, Any]) -> str:
    """user, assistant, other (system, tools), or '' where none is named."""
    for name in _ROLES:
        value = message.get(name)
        if isinstance(value, dict):
            value = value.get("role")
        if isinstance(value, str):
            role = value.casefold()
            if role in _USER or role in _ASSISTANT:
                return "user" if role in _USER else "assistant"
            if name != "type":
                return "other"
    return ""


def _speaker(message: Mapping[str, Any]) -> str:
    """Who speaks by name, on one line: `name`, of the message or of its author; '' where none is given."""
    author = message.get("author")
    found = message.get("name") or (author.get("name") if isinstance(author, dict) else None)
    return _whole(" ".join(found.split())[:_SPEAKER_CHARACTERS]) if isinstance(found, str) else ""


def _spoken(content: Any, depth: int = 0) -> str:
    """The text of a content: a string, blocks of which those of text count, or a mapping that holds either."""
    if isinstance(content, str):
        return content
    if depth > 3:
        return ""
    if isinstance(content, list):
        parts = (_spoken(part, depth + 1) for part in content)
        return "\n\n".join(part for part in parts if part.strip())
    if isinstance(content, dict):
        kind = content.get("type", content.get("content_type", "text"))
        if kind in _TEXT_BLOCKS:
            inner = next((content[name] for name in ("text", "parts", "content") if name in content), "")
            return _spoken(inner, depth + 1)
    return ""


def _time(record: Mapping[str, Any]) -> datetime | None:
    """The time of a record, local: ISO 8601 (UTC where it names no zone), or seconds or milliseconds since 1970."""
    for name in _TIMES:
        value = record.get(name)
        try:
            if isinstance(value, str) and value.replace(".", "", 1).isdigit():
                value = float(value)
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                seconds = value / 1e6 if value > 1e14 else value / 1e3 if value > 1e11 else value
                return datetime.fromtimestamp(seconds, UTC).astimezone()
            if isinstance(value, str) and len(value) >= len("2026-01-01"):
                moment = datetime.fromisoformat(value)
                return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone()
        except (ValueError, OverflowError, OSError):
            continue
    return None
