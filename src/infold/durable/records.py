"""What a journal keeps: file changes, what was intended, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict


def moment() -> str:
    """This moment as records keep it: ISO 8601, UTC, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file to change: the bytes it must have now (None: it must not exist) and those it gets (None: it goes).

    `path` is relative to the journal's root, or absolute. With `needs_all` it is written only when every change before
    it stands: so text leaves the inbox only when it is in the notes. `moved_from` is the path that this content had.
    """

    path: str
    before: bytes | None
    after: bytes | None
    needs_all: bool = False
    moved_from: str | None = None


class JournalRecord(BaseModel):
    """A part of what a journal keeps, as JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Planned(JournalRecord):
    """A file change as the journal keeps it: contents by hash."""

    path: str
    before: str | None
    after: str | None
    needs_all: bool = False
    moved_from: str | None = None


class Intent(JournalRecord):
    """What is about to be done, the folders that are made for it, and whatever its owner wants to know when it is."""

    format: int = 1
    label: str
    files: tuple[Planned, ...]
    folders: tuple[str, ...] = ()
    data: dict[str, Any] = {}


class Kept(JournalRecord):
    """What somebody saved while a file was changed, and that could not stay there: by hash."""

    path: str
    content: str


class Done(JournalRecord):
    """How it ended: the files that have their new bytes, those a person changed, those withheld because of that."""

    written: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()


@dataclass(frozen=True, slots=True)
class Transaction:
    """One entry of the journal; `done` is None while it is open."""

    number: int
    intent: Intent
    done: Done | None
