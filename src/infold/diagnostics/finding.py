"""What an examination finds: one thing a record, with what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"  # worth knowing; the job works all the same
    PROBLEM = "problem"  # the job does not work, or not as asked


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what it is about, what was found, what to do (empty where there is nothing to do)."""

    level: Level
    topic: str
    text: str
    todo: str = ""
